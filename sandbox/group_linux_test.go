package sandbox_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seatbelt"
	"code.sidecar.dev/sandbox/shim"
)

// These tests are of the executor and the shim of macOS, on Linux: all of them but sandbox-exec, whose place the shim has.

var plainShim = sync.OnceValues(func() (string, error) {
	file := filepath.Join(filepath.Dir(shimBinary), "plainshim")
	build := exec.Command("go", "build", "-tags", "plain", "-o", file, "./testdata/plainshim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	return file, errors.Join(err, errorOf(out))
})

func errorOf(out []byte) error {
	if len(out) == 0 {
		return nil
	}
	return errors.New(string(out))
}

// grouped is a run as on macOS.
type grouped struct {
	t       *testing.T
	dir     string
	policy  sandbox.Policy
	stdin   io.Reader
	control *sandbox.Control
	out     bytes.Buffer
	errs    bytes.Buffer
}

func newGrouped(t *testing.T, script string) *grouped {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &grouped{t: t, dir: dir, control: new(sandbox.Control), policy: sandbox.Policy{
		Dir: dir, Argv: []string{"/bin/bash", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "HOME=/home/me", "TMPDIR=/tmp"},
		Mounts:  []sandbox.Mount{{Source: dir, Target: dir, Access: sandbox.ReadWrite}},
		Scratch: []sandbox.Scratch{{Target: "/tmp"}, {Target: "/home/me"}},
		Files:   []sandbox.File{{Target: "/run/sidecar/code/x", Data: []byte("code\n"), Mode: 0o444}},
		Limits:  sandbox.Limits{Time: 2 * time.Minute, Output: 1 << 20, Processes: 200, OpenFiles: 64, FileSize: 1 << 20},
	}}
}

func (g *grouped) plan() sandbox.Plan {
	g.t.Helper()
	shim, err := plainShim()
	if err != nil {
		g.t.Fatal(err)
	}
	plan, err := seatbelt.New(g.policy, sandbox.Host{Backend: sandbox.Seatbelt, Shim: shim, Seat: sandbox.Seat{Private: filepath.Join(g.dir, "private"), Tag: "t"}})
	if err != nil {
		g.t.Fatal(err)
	}
	plan.Argv = plan.Argv[len(plan.Argv)-2:]
	return plan
}

func (g *grouped) run(ctx context.Context) (sandbox.End, error) {
	g.t.Helper()
	end, err := sandbox.RunGroup(ctx, g.plan(), sandbox.IO{Stdin: g.stdin, Stdout: &g.out, Stderr: &g.errs, Control: g.control})
	if _, gone := os.Lstat(filepath.Join(g.dir, "private")); !os.IsNotExist(gone) {
		g.t.Errorf("the private folder is left: %v", gone)
	}
	return end, err
}

func (g *grouped) ends() sandbox.End {
	g.t.Helper()
	end, err := g.run(context.Background())
	if err != nil {
		g.t.Fatal(err)
	}
	return end
}

func TestGroupRuns(t *testing.T) {
	g := newGrouped(t, `cat; pwd; cat "$HOME/../own/code/x"; echo x >"$TMPDIR/y"; mkdir -m 0 "$TMPDIR/shut"; ulimit -c; echo err >&2; for f in $(seq 0 300); do readlink /proc/self/fd/$f; done | cut -d: -f1; exit 7`)
	g.stdin = strings.NewReader("in\n")
	end := g.ends()
	if end.ExitCode != 7 || end.Signal != 0 || end.Limit != "" || end.MaxRSS < 1<<20 || end.User+end.System <= 0 {
		t.Errorf("%+v", end)
	}
	if want := "in\n" + g.dir + "\ncode\n0\npipe\npipe\npipe\n"; g.out.String() != want || g.errs.String() != "err\n" {
		t.Errorf("%q, %q; want %q", g.out.String(), g.errs.String(), want)
	}
}

func TestGroupEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		change func(*sandbox.Policy)
		want   sandbox.End
	}{
		"a signal":       {`kill -TERM $$`, nil, sandbox.End{ExitCode: 143, Signal: 15}},
		"time":           {`trap "" TERM INT HUP; sleep 1000`, func(p *sandbox.Policy) { p.Limits.Time = 4 * time.Second }, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitTime}},
		"output":         {`yes`, nil, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitOutput}},
		"processes":      {`for i in $(seq 60); do sleep 1000 & done; wait`, func(p *sandbox.Policy) { p.Limits.Processes = 20 }, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitProcesses}},
		"memory":         {`perl -e '$x = "a" x (300 << 20); sleep 1000'`, func(p *sandbox.Policy) { p.Limits.Memory = 200 << 20 }, sandbox.End{}},
		"a file's size":  {`head -c 3000000 /dev/zero >big`, nil, sandbox.End{ExitCode: 153}},
		"its guardian":   {`kill -9 $PPID; sleep 1000`, nil, sandbox.End{ExitCode: 137, Signal: 9}},
		"one that stops": {`kill -STOP $PPID; exit 3`, nil, sandbox.End{ExitCode: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrouped(t, c.script)
			if c.change != nil {
				c.change(&g.policy)
			}
			end := g.ends()
			if name == "memory" { // RLIMIT_DATA holds on Linux, and the watch on macOS
				if end.ExitCode == 0 {
					t.Errorf("%+v", end)
				}
				return
			}
			got := sandbox.End{ExitCode: end.ExitCode, Signal: end.Signal, Limit: end.Limit}
			if !cmp.Equal(got, c.want) {
				t.Errorf("%+v, want %+v; %s", got, c.want, g.errs.String())
			}
		})
	}
}

// TestGroupIsGone: nothing of a run is left, whatever session it is in, and whoever was its parent.
func TestGroupIsGone(t *testing.T) {
	tail := fmt.Sprintf("%d", 10_000_000+os.Getpid()) // no other test's
	g := newGrouped(t, strings.ReplaceAll(`setsid sleep N1 & (setsid sleep N2 & sleep 2); perl -e 'use POSIX; $SIG{TERM}=$SIG{HUP}="IGNORE"; if (!fork) { POSIX::setsid(); if (!fork) { exec "sleep", "N3" } sleep 2; exit } wait'`, "N", tail))
	if end := g.ends(); end.ExitCode != 0 {
		t.Errorf("%+v", end)
	}
	out, _ := exec.Command("ps", "-eo", "args").Output()
	for _, n := range []string{"1", "2", "3"} {
		if strings.Contains(string(out), "sleep "+tail+n) {
			t.Errorf("sleep %s is left", tail+n)
		}
	}
}

func TestGroupIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	g := newGrouped(t, `echo started; sleep 1000`)
	r, w := io.Pipe()
	done := make(chan sandbox.End, 1)
	go func() {
		end, err := sandbox.RunGroup(ctx, g.plan(), sandbox.IO{Stdout: w, Control: g.control})
		if err != nil {
			t.Error(err)
		}
		done <- end
	}()
	if _, err := io.ReadFull(r, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	cancel()
	if end := <-done; !end.Cancelled || end.ExitCode != 137 {
		t.Errorf("%+v", end)
	}
}

func TestGroupDoesNotStart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sandbox.Policy)
		step   string
	}{
		"no program": {func(p *sandbox.Policy) { p.Argv = []string{"/nowhere"} }, sandbox.StepProgram},
		"no folder":  {func(p *sandbox.Policy) { p.Dir += "/nowhere" }, sandbox.StepDir},
	} {
		g := newGrouped(t, "true")
		c.change(&g.policy)
		_, err := g.run(context.Background())
		var start *sandbox.StartError
		if !errors.As(err, &start) || start.Step != c.step || !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g := newGrouped(t, "true")
	plan := g.plan()
	plan.Argv = []string{"/bin/sh", "-c", "echo refused >&2; exit 71"} // what sandbox-exec does with a profile that it does not understand
	_, err := sandbox.RunGroup(context.Background(), plan, sandbox.IO{})
	var start *sandbox.StartError
	if !errors.As(err, &start) || start.Step != sandbox.StepBackend || start.Text != "refused" {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(filepath.Join(g.dir, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.RunGroup(context.Background(), g.plan(), sandbox.IO{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("a folder that was there is used: %v", err)
	}
}

func TestGroupHasATerminal(t *testing.T) {
	g := newGrouped(t, `stty size; read -r line; echo "got $line"; kill -TSTP $$; echo again; [ -t 1 ] && exit 5`)
	g.policy.Terminal = &sandbox.Terminal{Rows: 12, Columns: 34}
	r, w := io.Pipe()
	stopped := make(chan int, 1)
	done := make(chan sandbox.End, 1)
	go func() {
		end, err := sandbox.RunGroup(context.Background(), g.plan(), sandbox.IO{Stdin: r, Stdout: &g.out, Control: g.control, Stopped: func(sig int) { stopped <- sig }})
		if err != nil {
			t.Error(err)
		}
		done <- end
	}()
	if _, err := w.Write([]byte("typed\n")); err != nil {
		t.Fatal(err)
	}
	if sig := <-stopped; sig != int(syscall.SIGTSTP) {
		t.Errorf("stopped by %d", sig)
	}
	g.control.Continue()
	end := <-done
	if text := g.out.String(); end.ExitCode != 5 || !strings.Contains(text, "12 34") || !strings.Contains(text, "got typed") || !strings.Contains(text, "again") {
		t.Errorf("%+v %q", end, text)
	}
}

// TestGuardianTells: the guardian ends those that it may signal, and nobody where it may signal the one that asks. Another
// user has the place of the sandbox here.
func TestGuardianTells(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	for name, c := range map[string]struct {
		uid  string
		want uint32
	}{"confined": {"65534", 1}, "not confined": {"0", shim.CannotTell}} {
		t.Run(name, func(t *testing.T) {
			theirs, others := sleeper(t, "65534"), sleeper(t, "0")
			ask := guardianOf(t, c.uid)
			question := []byte{2, 0, 0, 0}
			for _, cmd := range []*exec.Cmd{theirs, others} {
				pid := cmd.Process.Pid
				question = append(question, byte(pid), byte(pid>>8), byte(pid>>16), byte(pid>>24))
			}
			answer := make([]byte, 4)
			if _, err := ask.Write(question); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(ask, answer); err != nil {
				t.Fatal(err)
			}
			if got := binary.LittleEndian.Uint32(answer); got != c.want {
				t.Errorf("the answer is %d, want %d", got, c.want)
			}
			if err := others.Process.Signal(syscall.Signal(0)); err != nil {
				t.Errorf("another's process was ended: %v", err)
			}
			if c.want == 1 {
				if err := theirs.Wait(); err == nil || theirs.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// sleeper is a process of a user, which sleeps already.
func sleeper(t *testing.T, uid string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("setpriv", "--reuid", uid, "--clear-groups", "sh", "-c", "echo; exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// guardianOf is a guardian as a user, whose program has begun; what is returned is the way to ask it.
func guardianOf(t *testing.T, uid string) *os.File {
	t.Helper()
	program, err := plainShim()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(filepath.Dir(program), 0o755), os.Chmod(program, 0o755)); err != nil { //nolint:gosec // for another user
		t.Fatal(err)
	}
	cmd := exec.Command("setpriv", "--reuid", uid, "--clear-groups", program)
	pair := func() (theirs, ours *os.File) {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fds[0]), "theirs"), os.NewFile(uintptr(fds[1]), "ours")
	}
	var all [5][2]*os.File
	for i := range all {
		all[i][0], all[i][1] = pair()
		cmd.ExtraFiles = append(cmd.ExtraFiles, all[i][0])
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	work := shim.Plan{Dir: "/", Argv: []string{"/bin/sh", "-c", "echo; exec sleep 600"}, Env: []string{"PATH=/usr/bin:/bin"}}
	for _, f := range all {
		_ = f[0].Close()
	}
	if _, err := all[0][1].Write(work.Encode()); err != nil {
		t.Fatal(err)
	}
	_ = all[0][1].Close()
	if _, err := all[2][1].Write(shim.Order{}.Message()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // the program has begun
		t.Fatal(err)
	}
	return all[4][1]
}
