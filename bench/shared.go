//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// channel compares runs through the project's sidecar with runs in the MCP process itself, and times what a client
// waits for at its start.
func channel(binary, dir string, rounds int) ([]row, error) {
	ws := filepath.Join(dir, "small")
	through, err := dial(binary, ws)
	if err != nil {
		return nil, err
	}
	defer through.close()
	alone, err := dial(binary, ws, "--in-process")
	if err != nil {
		return nil, err
	}
	defer alone.close()
	times, err := inTurns(4*rounds, through.nothing, alone.nothing)
	if err != nil {
		return nil, err
	}
	more := times[0] - times[1]
	starts, err := beginnings(binary, dir, rounds)
	if err != nil {
		return nil, err
	}
	return append([]row{{what: "the sidecar adds to a run over MCP", got: ms(more), unit: " ms", want: "at most 1 ms", met: more <= time.Millisecond}}, starts...), nil
}

// beginnings times clients whose workspace has no sidecar yet.
func beginnings(binary, dir string, rounds int) ([]row, error) {
	var inits, firsts, laters []time.Duration
	for i := range min(rounds, 20) {
		ws := filepath.Join(dir, "fresh"+strconv.Itoa(i))
		if err := project(ws, 0, 10); err != nil {
			return nil, err
		}
		began := time.Now()
		c, err := dial(binary, ws)
		if err != nil {
			return nil, err
		}
		inits = append(inits, time.Since(began))
		for _, times := range []*[]time.Duration{&firsts, &laters} {
			began = time.Now()
			if err := c.nothing(); err != nil {
				return nil, err
			}
			*times = append(*times, time.Since(began))
		}
		c.close()
	}
	initialize, first := median(inits), median(firsts)-median(laters)
	return []row{
		{what: "sidecar mcp, from its start to its answer to initialize", got: ms(initialize), unit: " ms", want: "within 30 ms", met: initialize <= 30*time.Millisecond},
		{what: "a first run, which starts the sidecar, over a later one", got: ms(first), unit: " ms", want: "at most 60 ms", met: first <= 60*time.Millisecond},
	}, nil
}

// crowd is how many sidecars are idle at once.
const crowd = 200

// memory is what processes that wait for something to do take up.
func memory(binary, dir string, _ int) ([]row, error) {
	ws := filepath.Join(dir, "small")
	c, err := dial(binary, ws)
	if err != nil {
		return nil, err
	}
	defer c.close()
	for range 10 {
		if err := c.pass(); err != nil {
			return nil, err
		}
	}
	time.Sleep(time.Second)
	edge, err := resident(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	pid, err := serverOf(binary, ws)
	if err != nil {
		return nil, err
	}
	server, err := resident(pid)
	if err != nil {
		return nil, err
	}
	all, once, err := crowded(binary, dir)
	if err != nil {
		return nil, err
	}
	return []row{
		{what: "memory of a sidecar that is idle after runs", got: mib(server), unit: " MiB", want: "under 25 MiB", met: server < 25<<20},
		{what: "memory of sidecar mcp after runs", got: mib(edge), unit: " MiB", want: "under 20 MiB", met: edge < 20<<20},
		{what: strconv.Itoa(crowd) + " idle sidecars, what they take of the machine (what they share once: Pss)", got: mib(once), unit: " MiB", want: "under 3072 MiB", met: once < 3<<30},
		{what: strconv.Itoa(crowd) + " idle sidecars, resident, the program's file in each of them", got: mib(all), unit: " MiB"},
	}, nil
}

// crowded starts many sidecars and sums up what they take: what is resident of each, and that with what they share divided.
func crowded(binary, dir string) (all, once int64, err error) {
	var crowded []*exec.Cmd
	defer func() {
		for _, cmd := range crowded {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		}
	}()
	for i := range crowd {
		ws := filepath.Join(dir, "crowd"+strconv.Itoa(i))
		if err := os.MkdirAll(ws, 0o755); err != nil {
			return 0, 0, err
		}
		cmd := exec.Command(binary, "serve", "--workspace", ws)
		if err := cmd.Start(); err != nil {
			return 0, 0, err
		}
		crowded = append(crowded, cmd)
	}
	time.Sleep(3 * time.Second)
	for _, cmd := range crowded {
		n, err := resident(cmd.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		share, err := kibibytes(fmt.Sprintf("/proc/%d/smaps_rollup", cmd.Process.Pid), "\nPss:")
		if err != nil {
			return 0, 0, err
		}
		all, once = all+n, once+share
	}
	return all, once, nil
}

// serverOf is the process that serves a workspace.
func serverOf(binary, ws string) (int, error) {
	out, err := exec.Command(binary, "status", "--json").Output()
	if err != nil {
		return 0, err
	}
	var all []struct {
		Workspace string
		PID       int
	}
	if err := json.Unmarshal(out, &all); err != nil {
		return 0, err
	}
	for _, s := range all {
		if s.Workspace == ws {
			return s.PID, nil
		}
	}
	return 0, fmt.Errorf("no sidecar serves %s: %s", ws, out)
}

// resident is VmRSS of proc(5), in bytes.
func resident(pid int) (int64, error) {
	return kibibytes(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
}

// kibibytes is a field of a file of proc(5), in bytes.
func kibibytes(file, name string) (int64, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("%s has no %q", file, name)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}

func mib(n int64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<20)) }
