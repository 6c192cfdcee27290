//go:build darwin || linux

package processes

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFollow: children, their children in sessions of their own, and those whose parents have gone.
func TestFollow(t *testing.T) {
	us := start(t, `sleep 60 & echo $!
		perl -e 'use POSIX; if (!fork) { POSIX::setsid(); if (!fork) { exec "sleep", "60" } sleep 60 } sleep 60' & echo $!
		wait`)
	f := Follow(us.pid)
	other := start(t, "sleep 60 & echo $!; wait")
	await(t, func() bool {
		if err := f.Look(); err != nil {
			t.Fatal(err)
		}
		return len(f.Members()) >= 5
	})
	var pids []int
	for _, p := range f.Members() {
		pids = append(pids, p.PID)
	}
	for _, pid := range append(us.printed, us.pid) {
		if !slices.Contains(pids, pid) {
			t.Errorf("%d is not among %v", pid, pids)
		}
	}
	if slices.Contains(pids, other.pid) || slices.Contains(pids, os.Getpid()) {
		t.Errorf("%v holds a process that is none of it", pids)
	}
	strangers := f.Strangers()
	if !slices.ContainsFunc(strangers, func(p Process) bool { return p.PID == other.printed[0] }) || slices.ContainsFunc(strangers, func(p Process) bool { return slices.Contains(pids, p.PID) }) {
		t.Errorf("the strangers are %v", strangers)
	}
	_ = syscall.Kill(us.pid, syscall.SIGKILL) // what it leaves behind is known
	_ = us.cmd.Wait()
	await(t, func() bool { _ = f.Look(); return len(f.Members()) == 4 })
	for _, p := range f.Members() {
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
	await(t, func() bool { _ = f.Look(); return len(f.Members()) == 0 })
}

// TestUse: memory that is written counts, and so do states.
func TestUse(t *testing.T) {
	p := start(t, `exec perl -e '$x = "a" x (64 << 20); print "$$\n"; close STDOUT; sleep 60'`)
	u, ok := UseOf(p.pid)
	if !ok || u.Memory < 64<<20 || u.Threads < 1 {
		t.Errorf("%+v, %v", u, ok)
	}
	if _, ok := UseOf(1 << 30); ok {
		t.Error("a process that does not exist has a use")
	}
	_ = syscall.Kill(p.pid, syscall.SIGSTOP)
	f := Follow(p.pid)
	await(t, func() bool { _ = f.Look(); return len(f.Members()) == 1 && f.Members()[0].Stopped })
}

type started struct {
	cmd     *exec.Cmd
	pid     int
	printed []int
}

// start runs a script in a group of its own, and reads the numbers that it prints: all that it prints at first.
func start(t *testing.T, script string) started {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	s := started{cmd: cmd, pid: cmd.Process.Pid}
	lines := bufio.NewScanner(out)
	for range max(1, strings.Count(script, "echo")) {
		if !lines.Scan() {
			t.Fatal("it printed nothing")
		}
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		s.printed = append(s.printed, n)
	}
	return s
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute")
		}
	}
}
