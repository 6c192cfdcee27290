//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// soakRuns is how many runs the part "soak" does in a row.
const soakRuns = 10_000

// traces are what a sidecar could leave behind.
type traces struct {
	processes, descriptors, mounts int
	resident                       int64
	litter                         string
}

// soak does thousands of runs, each of which writes, leaves a process behind and reads what is private to it, and compares
// what there is of the sidecar afterwards with what there was after the first hundred.
func soak(binary, dir string, _ int) ([]row, error) {
	ws := filepath.Join(dir, "soak")
	if err := project(ws, 2, 10); err != nil {
		return nil, err
	}
	c, err := dialWarm(binary, ws)
	if err != nil {
		return nil, err
	}
	defer c.close()
	one := func(i int) error {
		if i%10 == 0 {
			return c.run("python", "import os; print(os.listdir('/tmp')); open('out', 'w').write('x')")
		}
		return c.run("bash", "echo x >out; ls /tmp; sleep 100 & disown")
	}
	starts := map[string]int{}
	var before traces
	began := time.Now()
	for i := range soakRuns {
		if i == 100 {
			if before, err = tracesOf(binary, ws); err != nil {
				return nil, err
			}
			began = time.Now()
		}
		if err := one(i); err != nil {
			return nil, fmt.Errorf("run %d: %w", i, err)
		}
		starts[c.start]++
	}
	took := time.Since(began)
	after, err := tracesOf(binary, ws)
	if err != nil {
		return nil, err
	}
	grew := after.resident - before.resident
	return []row{
		{what: fmt.Sprintf("%d runs in a row, %v", soakRuns, starts), got: fmt.Sprintf("%.0f", float64(soakRuns-100)/took.Seconds()), unit: " a second"},
		{what: "processes that they leave", got: fmt.Sprint(after.processes - before.processes), want: "none", met: after.processes <= before.processes},
		{what: "descriptors that they leave", got: fmt.Sprint(after.descriptors - before.descriptors), want: "none", met: after.descriptors <= before.descriptors+2},
		{what: "mounts that they leave", got: fmt.Sprint(after.mounts - before.mounts), want: "none", met: after.mounts <= before.mounts},
		{what: "memory that they leave", got: mib(grew), unit: " MiB", want: "at most 8 MiB", met: grew <= 8<<20},
		{what: "what they leave in the workspace, by git status and placeholders", got: after.litter, want: before.litter, met: after.litter == before.litter},
	}, nil
}

// tracesOf looks once nothing waits for a run any more: what is made ahead is given back when idle.
func tracesOf(binary, ws string) (traces, error) {
	pid, err := serverOf(binary, ws)
	if err != nil {
		return traces{}, err
	}
	var t traces
	for until := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		out, _ := exec.Command("pgrep", "-P", fmt.Sprint(pid)).Output()
		if t.processes = len(strings.Fields(string(out))); t.processes == 0 || time.Now().After(until) {
			break
		}
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return t, err
	}
	t.descriptors = len(fds)
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return t, err
	}
	t.mounts = strings.Count(string(mounts), "\n")
	if t.resident, err = resident(pid); err != nil {
		return t, err
	}
	status := exec.Command("git", "status", "--porcelain", "--untracked-files=all", "--", "out", ".git", ".")
	status.Dir = ws
	out, _ := status.Output()
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "?? "); ok {
			t.litter += " " + name
		}
	}
	if _, err := os.Lstat(filepath.Join(ws, ".git/commondir")); err == nil {
		t.litter += " .git/commondir"
	}
	return t, nil
}
