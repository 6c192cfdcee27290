package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
)

const (
	codeFile = "/run/sidecar/code/main.sh"
	waitFifo = "/run/sidecar/code/start"
)

// ahead is a sandbox that was made ahead of its run, and the run.
type ahead struct {
	t      testing.TB
	limits sandbox.Limits
	hand   sandbox.Handover
	*sandbox.Standing
}

// newAhead is a box whose folder is late.
func newAhead(t testing.TB) *box {
	b := newBox(t, sandbox.ByShim)
	b.policy.Mounts[1].Late = true
	return b
}

// stand makes a sandbox for a script of bash, which waits in it for the code or is started by the hand-over.
func (b *box) stand(waits bool, script string) *ahead {
	b.t.Helper()
	p, wait := b.policy, sandbox.Wait{}
	if p.Argv == nil {
		p.Argv = []string{"/bin/bash", codeFile}
	}
	p.Files = append(slices.Clip(p.Files), sandbox.File{Target: codeFile, Data: []byte(script), Mode: 0o444, Late: true})
	if waits {
		wait = sandbox.Wait{Fifo: waitFifo, Release: []byte("cd " + b.dir + "\nunset BASH_ENV\n"), Env: []string{"BASH_ENV=" + waitFifo}}
	}
	plan, hand, err := bubblewrap.Stand(p, b.host, wait)
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := sandbox.Stand(plan)
	if err != nil {
		b.t.Fatal(err)
	}
	return &ahead{b.t, p.Limits, hand, s}
}

// run does the run, and gives all it printed.
func (a *ahead) run(ctx context.Context, streams sandbox.IO) (sandbox.End, string, error) {
	var out lockedBuffer
	streams.Stdout, streams.Stderr = &out, &out
	end, err := a.Run(ctx, a.limits, a.hand, streams)
	return end, out.String(), err
}

func (a *ahead) gone() {
	a.t.Helper()
	select {
	case <-a.Gone():
	case <-time.After(time.Minute):
		a.t.Fatal("the sandbox does not end")
	}
}

// descendants are this process's, sandboxes and what runs in them.
func descendants(t testing.TB) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parent := map[int]int{}
	for _, file := range all {
		text, _ := os.ReadFile(file)
		var state string
		var above int
		_, _ = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &above)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent[pid] = above
	}
	for pid := range parent {
		for p := parent[pid]; p > 0; p = parent[p] {
			if p == os.Getpid() {
				pids = append(pids, pid)
				break
			}
		}
	}
	slices.Sort(pids)
	return pids
}

// waiting waits until a program in the sandbox does at its fifo, and gives its number: a fifo is opened by who waits there.
func waiting(t *testing.T) (pid int) {
	t.Helper()
	await(t, func() bool {
		for _, p := range descendants(t) {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p))
			where, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", p))
			stack, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p))
			if string(comm) == "bash\n" && (strings.Contains(string(where), "fifo") || strings.HasPrefix(string(stack), strconv.Itoa(syscall.SYS_OPENAT)+" ")) {
				pid = p
			}
		}
		return pid > 0
	})
	return pid
}

func bothWays(t *testing.T, test func(*testing.T, *box, bool)) {
	for name, waits := range map[string]bool{"warm": true, "ready": false} {
		t.Run(name, func(t *testing.T) { test(t, newAhead(t), waits) })
	}
}

// A run in a sandbox that was made ahead has what one of its own has, its pins above all.
func TestARunThatWasMadeAhead(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		frozen := b.write("a/frozen", "kept")
		b.policy.Pins = sandbox.BuildPins([]string{b.dir}, []sandbox.Pin{{Path: frozen, Kind: sandbox.Frozen}})
		// One stream: the order of two is not kept.
		const script = `exec 2>&1; echo "$0 $PWD ${BASH_ENV-unset}"; cat; echo evil >a/frozen; mv a b; cat a/frozen; echo new >c; ls /run/sidecar/code /proc/self/fd; exit 3`
		a := b.stand(waits, script)
		var events []string
		end, out, err := a.run(t.Context(), sandbox.IO{Stdin: strings.NewReader("input\n")})
		a.gone()
		events = append(events, fmt.Sprintf("%d %d %q %v %v %v", end.ExitCode, end.Signal, end.Limit, end.Cancelled, err, a.Err()), out)
		want := []string{`3 0 "" false <nil> <nil>`, fmt.Sprintf(`%s %s unset
input
%[1]s: line 1: a/frozen: Read-only file system
mv: cannot move 'a' to 'b': Device or resource busy
kept/proc/self/fd:
0
1
2
3

/run/sidecar/code:
main.sh
`, codeFile, b.dir)}
		if !slices.Equal(events, want) {
			t.Errorf("got %q, want %q", events, want)
		}
		if text, _ := os.ReadFile(filepath.Join(b.dir, "c")); string(text) != "new\n" {
			t.Errorf("it wrote %q", text)
		}
	})
}

// A hand-over may come at any moment of a sandbox's start.
func TestAHandoverThatComesEarly(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		for i := range 20 {
			a := b.stand(waits, "cat; pwd")
			time.Sleep(time.Duration(i) * time.Millisecond) // no condition: any moment will do
			if end, out, err := a.run(t.Context(), sandbox.IO{Stdin: strings.NewReader("in\n")}); err != nil || end.ExitCode != 0 || out != "in\n"+b.dir+"\n" {
				t.Errorf("after %d ms: %v %+v %q", i, err, end, out)
			}
		}
	})
}

// Nothing of the workspace is in a sandbox that waits, and nothing of its name that leads there.
func TestWhatWaitsHasNotSeenTheWorkspace(t *testing.T) {
	b := newAhead(t)
	b.write("secret", "s")
	a := b.stand(true, "cat secret")
	pid := waiting(t)
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil || strings.Contains(string(mounts), b.dir) || !strings.Contains(string(mounts), " /usr ") {
		t.Errorf("%v, mounts:\n%s", err, mounts)
	}
	if list, err := os.ReadDir(fmt.Sprintf("/proc/%d/root%s", pid, b.dir)); len(list) > 0 || err != nil && !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v, it sees %v", err, list)
	}
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && dir != "/" {
		t.Errorf("it is in %q", dir)
	}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); !strings.HasPrefix(to, "pipe:") {
			t.Errorf("descriptor %s leads to %s", filepath.Base(fd), to)
		}
	}
	b.write("secret", "changed meanwhile")
	if _, out, err := a.run(t.Context(), sandbox.IO{}); err != nil || out != "changed meanwhile" {
		t.Errorf("%v %q", err, out)
	}
}

func TestASandboxThatHasNoRun(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		for i := range 10 {
			a := b.stand(waits, "true")
			if i%2 == 0 && waits {
				waiting(t)
			}
			a.Close()
			a.Close()
			a.gone()
			if left := descendants(t); a.Err() != nil || len(left) > 0 {
				t.Errorf("%v, %d processes", a.Err(), len(left))
			}
			refused(t, a)
		}
	})
}

// refused holds that a sandbox that is gone does no run, and reads nothing for it.
func refused(t *testing.T, a *ahead) {
	t.Helper()
	input := strings.NewReader("input")
	_, out, err := a.run(t.Context(), sandbox.IO{Stdin: input})
	if start := new(sandbox.StartError); !errors.As(err, &start) || out != "" || input.Len() != 5 {
		t.Errorf("%v, %q, %d bytes of input left", err, out, input.Len())
	}
}

func TestASandboxThatIsKilledBeforeItsRun(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		for known := range 2 {
			a := b.stand(waits, "cat")
			await(t, func() bool { return len(descendants(t)) >= 2 })
			for _, pid := range slices.Backward(descendants(t)) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if known == 1 {
				a.gone()
			}
			refused(t, a)
		}
	})
}

// Bubblewrap can be killed, for want of memory say, when its first process has a session of its own already and would not yet
// die with it: a moment too short to be met each time, so that a script stands in for that state.
func TestBubblewrapIsKilledBeforeItsFirstProcessDiesWithIt(t *testing.T) {
	b := newAhead(t)
	b.host.Bubblewrap = b.write("bwrap", `#!/bin/bash
setsid bash -c 'echo "{\"child-pid\": $$}" >&8; kill -9 $PPID; exec sleep 300' & wait
`)
	if err := os.Chmod(b.host.Bubblewrap, 0o755); err != nil {
		t.Fatal(err)
	}
	a := b.stand(true, "")
	a.gone()
	refused(t, a)
	if end, _, err := b.run(t.Context(), "true"); err == nil && !end.Lost {
		t.Errorf("a run whose bubblewrap was killed: %+v", end)
	}
}

// Bubblewrap that is killed at any moment takes its sandbox with it.
func TestBubblewrapIsKilledAtAnyMoment(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		for i := range 60 {
			a := b.stand(waits, "cat")
			var bwrap int
			await(t, func() bool {
				list := descendants(t)
				if len(list) > 0 {
					bwrap = list[0]
				}
				return len(list) > 0
			})
			time.Sleep(time.Duration(i) * 250 * time.Microsecond)
			_ = syscall.Kill(bwrap, syscall.SIGKILL)
			a.gone()
			if left := descendants(t); len(left) > 0 {
				t.Fatalf("killed after %d µs, it leaves the processes %v", i*250, left)
			}
		}
	})
}

// A program can send any signal to the shim. Its run ends as it does all the same, and is never taken for one that did not start.
func TestSignalsToTheShim(t *testing.T) {
	const script = "for n in $(seq 1 64); do case $n in 9|19|32|33) ;; *) kill -$n 2;; esac; done; kill -CONT 2; echo done; exit 7"
	check := func(t *testing.T, end sandbox.End, out string, err error) {
		t.Helper()
		if err != nil || end.ExitCode != 7 || out != "done\n" {
			t.Errorf("%v, %+v, %q", err, end, out)
		}
	}
	bothModes(t, func(t *testing.T, b *box) {
		end, out, err := b.run(t.Context(), script)
		check(t, end, out, err)
		end, out, err = b.run(t.Context(), "echo done; kill -9 2; sleep 10")
		if err != nil || !end.Lost || out != "done\n" {
			t.Errorf("the shim is killed: %v, %+v, %q", err, end, out)
		}
	})
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		end, out, err := b.stand(waits, script).run(t.Context(), sandbox.IO{})
		check(t, end, out, err)
	})
}

// A sandbox whose executor and bubblewrap are gone ends itself: what waits, and what runs.
func TestASandboxWithoutItsExecutor(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	done := make(chan sandbox.End, 1)
	go func() {
		end, _, _ := b.run(t.Context(), "touch begun; sleep 300")
		done <- end
	}()
	await(t, func() bool { return exists(filepath.Join(b.dir, "begun")) })
	b.control.HangUp()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}

// A program that ended while it should have waited has not run its code.
func TestAProgramThatDoesNotWait(t *testing.T) {
	for _, argv := range [][]string{{"/nowhere"}, {"/bin/true"}, {"/bin/bash", "-c", "kill -9 $$"}} {
		b := newAhead(t)
		b.policy.Argv = argv
		if a := b.stand(true, ""); argv[0] != "/bin/bash" {
			await(t, func() bool { return len(descendants(t)) >= 2 })
			refused(t, a)
		} else {
			pid := waiting(t)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			await(t, func() bool { // until it has ended it counts as one that waits
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				return !bytes.Contains(text, []byte(")")) || bytes.Contains(text, []byte(") Z "))
			})
			refused(t, a)
		}
	}
}

func TestWhyARunThatWasMadeAheadDoesNotStart(t *testing.T) {
	for name, tt := range map[string]struct {
		step string
		// left is of the input: as with any run, a program that cannot be executed is known of when that flows already.
		left   int
		change func(*sandbox.Handover)
	}{
		"a pin that is not there":    {sandbox.StepPin, 5, func(h *sandbox.Handover) { h.Pins = []sandbox.Pin{{Path: "/nowhere", Kind: sandbox.Frozen}} }},
		"no such program":            {sandbox.StepProgram, -1, func(h *sandbox.Handover) { h.Argv = []string{"/nowhere"} }},
		"no such folder":             {sandbox.StepDir, -1, func(h *sandbox.Handover) { h.Dir = "/nowhere" }},
		"a folder that is not there": {sandbox.StepShim, 5, func(h *sandbox.Handover) { h.Files[0].Target = "/nowhere/main.sh" }},
	} {
		b := newAhead(t)
		a := b.stand(false, "cat")
		tt.change(&a.hand)
		input := strings.NewReader("input")
		_, out, err := a.run(t.Context(), sandbox.IO{Stdin: input})
		if start := new(sandbox.StartError); !errors.As(err, &start) || start.Step != tt.step || out != "" || tt.left >= 0 && input.Len() != tt.left {
			t.Errorf("%s: %v, %q, %d bytes of input left", name, err, out, input.Len())
		}
	}
}

func TestWhatCannotStand(t *testing.T) {
	b := newAhead(t)
	b.policy.Argv = []string{"/bin/true"}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Stand(plan); err == nil {
		t.Error("a plan of a run stands")
	}
	b.policy.Mounts = append(b.policy.Mounts, sandbox.Mount{Source: "/nowhere", Target: "/nowhere"})
	a := b.stand(true, "")
	a.gone()
	if start := new(sandbox.StartError); !errors.As(a.Err(), &start) || start.Step != sandbox.StepStand || !strings.Contains(start.Text, "/nowhere") {
		t.Errorf("a mount that is not there: %v", a.Err())
	}
	refused(t, a)
}

// TestHowARunThatWasMadeAheadEnds: the limits count from the hand-over on.
func TestHowARunThatWasMadeAheadEnds(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		for _, tt := range []struct {
			script string
			limits sandbox.Limits
			want   sandbox.End
		}{
			{"exit 7", sandbox.Limits{}, sandbox.End{ExitCode: 7}},
			{"kill -SEGV $$", sandbox.Limits{}, sandbox.End{ExitCode: 139, Signal: int(syscall.SIGSEGV)}},
			{"sleep 300 & sleep 300", sandbox.Limits{Time: 300 * time.Millisecond}, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitTime}},
			{"yes", sandbox.Limits{Output: 1 << 16}, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitOutput}},
			{"x=$(head -c 60M /dev/zero | tr '\\0' x); sleep 300", sandbox.Limits{Memory: 40 << 20}, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitMemory}},
		} {
			a := b.stand(waits, tt.script)
			a.limits = tt.limits
			end, out, err := a.run(t.Context(), sandbox.IO{})
			if got := (sandbox.End{ExitCode: end.ExitCode, Signal: end.Signal, Limit: end.Limit}); err != nil || !cmp.Equal(got, tt.want) {
				t.Errorf("%s: %v, got %+v, want %+v\n%.200s", tt.script, err, got, tt.want, out)
			}
			if a.gone(); len(descendants(t)) > 0 {
				t.Errorf("%s: %d processes", tt.script, len(descendants(t)))
			}
		}
	})
}

// What has waited for long has its whole time, and what waits uses none.
func TestWaitingCostsNoTime(t *testing.T) {
	b := newAhead(t)
	a := b.stand(true, "echo ran")
	waiting(t)
	time.Sleep(50 * time.Millisecond)
	a.limits.Time = 2 * time.Minute
	end, out, err := a.run(t.Context(), sandbox.IO{})
	if err != nil || end.Limit != "" || out != "ran\n" {
		t.Errorf("%v %+v %q", err, end, out)
	}
}

func TestCancelOfARunThatWasMadeAhead(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		ctx, cancel := context.WithCancel(t.Context())
		a := b.stand(waits, "trap '' TERM INT; touch started; sleep 300")
		go func() {
			await(t, func() bool { return exists(filepath.Join(b.dir, "started")) })
			cancel()
		}()
		if end, _, err := a.run(ctx, sandbox.IO{}); err != nil || !end.Cancelled {
			t.Errorf("%+v, %v", end, err)
		}
		for i := range 20 { // at whatever moment
			ctx, stop := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
			a := b.stand(waits, "sleep 300")
			end, _, err := a.run(ctx, sandbox.IO{})
			if stop(); err != nil || !end.Cancelled {
				t.Errorf("%+v, %v", end, err)
			}
			a.gone()
		}
		if left := descendants(t); len(left) > 0 {
			t.Errorf("%d processes", len(left))
		}
	})
}

func TestASignalToARunThatWasMadeAhead(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		a := b.stand(waits, "trap 'echo caught; exit 5' USR1; : >started; while :; do :; done")
		go func() {
			await(t, func() bool { return exists(filepath.Join(b.dir, "started")) })
			b.control.Signal(int(syscall.SIGUSR1))
		}()
		if end, out, err := a.run(t.Context(), sandbox.IO{Control: b.control}); err != nil || end.ExitCode != 5 || out != "caught\n" {
			t.Errorf("%v %+v %q", err, end, out)
		}
	})
}

// Code is of any size, as a file and as what a program reads that waits.
func TestMuchIsHandedOver(t *testing.T) {
	bothWays(t, func(t *testing.T, b *box, waits bool) {
		filler := strings.Repeat("# filler filler filler filler filler filler filler filler filler\n", 1<<14)
		a := b.stand(waits, filler+"echo the end of $(wc -c <$0); wc -c")
		if waits {
			a.hand.Release = append([]byte(filler), a.hand.Release...)
		}
		_, out, err := a.run(t.Context(), sandbox.IO{Stdin: strings.NewReader(strings.Repeat("x", 300_000))})
		if want := fmt.Sprintf("the end of %d\n300000\n", len(filler)+35); err != nil || out != want {
			t.Errorf("%v %q, want %q", err, out, want)
		}
	})
}

// Of sandboxes that were made, used, closed, killed and cancelled nothing stays: no process, no descriptor, no goroutine.
func TestNothingOfSandboxesMadeAheadStays(t *testing.T) {
	b := newAhead(t)
	fds, routines := descriptors(t), runtime.NumGoroutine()
	var users sync.WaitGroup
	for user := range 4 {
		users.Go(func() {
			for i := range 40 {
				b.useOrNot(i, user)
			}
		})
	}
	users.Wait()
	await(t, func() bool {
		return descriptors(t) <= fds && runtime.NumGoroutine() <= routines && len(descendants(t)) == 0
	})
	if f, r, p := descriptors(t), runtime.NumGoroutine(), len(descendants(t)); f > fds || r > routines || p > 0 {
		t.Errorf("%d descriptors, %d before; %d goroutines, %d before; %d processes", f, fds, r, routines, p)
	}
}

// useOrNot makes a sandbox, and has one of the things happen to it that can.
func (b *box) useOrNot(i, user int) {
	a := b.stand((i+user)%3 > 0, "cat")
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	switch i % 4 {
	case 0:
		a.Close()
	case 1:
		stop()
		_, _, _ = a.run(ctx, sandbox.IO{Stdin: strings.NewReader("x")})
	default:
		if _, out, err := a.run(ctx, sandbox.IO{Stdin: strings.NewReader("x")}); err != nil || out != "x" {
			b.t.Errorf("%v %q", err, out)
		}
	}
	a.gone()
}
