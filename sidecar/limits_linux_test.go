package sidecar

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// TestEachLimitIsNamed: whoever runs into a limit is told which it is, how high, and what raises it, however the run was
// started.
func TestEachLimitIsNamed(t *testing.T) {
	w := newWarmed(t).with(func(s *config.Settings) {
		s.Limits.Timeout, s.Limits.TimeoutMax, s.Limits.Memory, s.Limits.Output = time.Minute, time.Minute, 200<<20, 64<<10
		s.Limits.FileSize, s.Limits.OpenFiles, s.Limits.Scratch, s.Limits.Processes = 1<<20, 64, 512<<10, 100
	})
	for _, c := range []struct {
		name, language, code string
		timeout              time.Duration
		limit                string // "-" is one or another
		note                 string
	}{
		{"time", "python", "while True: pass", 2 * time.Second, "time", "ended after its time limit of 2s (ask for more with timeout; settings limits.timeout and limits.timeout_max)"},
		{"memory of one", "python", "x = bytearray(300 << 20)", 0, "", "a process may have 200MiB of memory (setting limits.memory)"},
		{"memory of all", "python", `
import os, time
for i in range(4):
    if os.fork() == 0:
        x = bytearray(b"x" * (60 << 20))
        time.sleep(60)
time.sleep(60)`, 0, "memory", "ended because its processes used more than 200MiB of memory together (setting limits.memory)"},
		{"output", "python", "while True: print('x' * 1000)", 0, "output", "ended because it printed more than 64KiB (setting limits.output); write to a file of the workspace instead"},
		{"file size", "bash", "head -c 2M /dev/zero >big", 0, "", "ended because it wrote a file of more than 1MiB (setting limits.file_size)"},
		{"file size, seen by the program", "python", "open('big', 'w').write('x' * (2 << 20))", 0, "", "a file may have 1MiB (setting limits.file_size)"},
		{"open files", "python", "all = [open('/dev/null') for i in range(100)]", 0, "", "a process may have 64 files open (setting limits.open_files)"},
		{"a full folder", "python", "open('/tmp/x', 'w').write('x' * 600_000)", 0, "", "/tmp was full when the program ended: it is in memory, and holds 512KiB (setting limits.scratch)"},
		{"a full folder of small files", "bash", "cd; for i in $(seq 2000); do : >f$i || exit; done", 0, "", " was full when the program ended: it is in memory, and holds 512KiB (setting limits.scratch)"},
		{"what did not fit is removed", "bash", "head -c 600K /dev/zero >/dev/shm/x || { rm /dev/shm/x; exit 1; }", 0, "", "and each holds 512KiB, and a file for each 4 KiB of that (setting limits.scratch)"},
		{"processes", "bash", "for i in $(seq 400); do sleep 60 & done; wait", 0, "-", "100 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.in(t)
			p := protocol.RunParams{Language: c.language, Code: c.code, Timeout: protocol.Duration(c.timeout)}
			cold, warm := w.twice(p)
			for _, r := range []protocol.RunResult{cold, warm} {
				said := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, c.note) })
				if !said || r.Limit != c.limit && c.limit != "-" {
					t.Errorf("%s: limit %q, exit status %d, notes %q\n%.500s", r.Start, r.Limit, r.ExitCode, r.Notes, r.Stderr.Text)
				}
				if r.Bounds != protocol.BoundsWatch || len(r.Notes) != 1 {
					t.Errorf("%s: bounds %q, notes %q", r.Start, r.Bounds, r.Notes)
				}
			}
		})
	}
}

// What fails for another reason, and what a program that succeeds talks about, is no limit's.
func TestNoLimitIsNamedWithoutNeed(t *testing.T) {
	w := newWarmed(t)
	for _, code := range []string{"exit 3", "echo 'MemoryError: Too many open files, No space left on device'", "echo no such thing >&2; false"} {
		if r := w.run(protocol.RunParams{Language: "bash", Code: code}); len(r.Notes) > 0 {
			t.Errorf("%s: %q", code, r.Notes)
		}
	}
}

// TestWhatAGroupSays: what only a control group knows (test/cgroups/run has real ones).
func TestWhatAGroupSays(t *testing.T) {
	p := newLimited(t)
	for name, c := range map[string]struct {
		end  sandbox.End
		note string
	}{
		"ended": {sandbox.End{ExitCode: 137, Limit: sandbox.LimitMemory, Grouped: true},
			"ended because its processes, and its files in /tmp, /dev/shm and the home, took more than 4GiB of memory together (setting limits.memory)"},
		"refused, and went on": {sandbox.End{Grouped: true, Refused: 3},
			"3 times it could not start a further process or thread: it may have 1024 at once (setting limits.processes)"},
	} {
		if got := p.limitNotes(c.end, "fork: Resource temporarily unavailable"); !slices.Equal(got, []string{c.note}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	var r protocol.RunResult
	p.bounds(sandbox.End{Grouped: true, MaxMemory: 4096}, &r)
	if r.Bounds != protocol.BoundsGroup || r.MaxMemory != 4096 || len(r.Gaps) > 0 {
		t.Errorf("%+v", r)
	}
	p.bounds(sandbox.End{Ungrouped: fmt.Errorf("no room")}, &r)
	if r.Bounds != protocol.BoundsWatch || len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0], "watched, not limited: no room") {
		t.Errorf("%+v", r)
	}
}

// newLimited is a run with the limits of the defaults.
func newLimited(t *testing.T) *prepared {
	t.Helper()
	w := newWarmed(t)
	r := Request{ID: NewID(), Dir: w.dir, Params: protocol.RunParams{Language: "bash", Code: "true"}}
	var err error
	if r.environment, err = w.environment(t.Context(), w.dir, r.Params, nil); err != nil {
		t.Fatal(err)
	}
	p, err := w.prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	if err := p.planCold(); err != nil {
		t.Fatal(err)
	}
	return p
}

// A group that cannot be had is no reason not to run, and is said.
func TestAGroupThatCannotBeHad(t *testing.T) {
	w := newWarmed(t)
	w.Engine.host.Groups = t.TempDir() // which is no control group
	for range 2 {
		r := w.run(protocol.RunParams{Language: "bash", Code: "echo ran"})
		if r.Stdout.Text != "ran\n" || r.Bounds != protocol.BoundsWatch || len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0], "watched, not limited") {
			t.Errorf("%q %q %q", r.Stdout.Text, r.Bounds, r.Gaps)
		}
		w.ready(true)
	}
}
