//go:build linux

// Command bench measures what sidecar promises about its speed and prints a table of it. Each comparison is
// made within one run, call by call in turns, so that both sides meet the same machine.
//
//	bench/run [--check] [--rounds N] [--only PART]
//	bench/run --report docs/performance.md
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"code.sidecar.dev/workspace"
)

func main() {
	check := flag.Bool("check", false, "exit with 1 when a target is missed")
	rounds := flag.Int("rounds", 60, "how often each thing is measured")
	only := flag.String("only", "", "the part whose name this is: overhead, channel, discovery, growth, memory, closure, network, runs, soak, load")
	flag.DurationVar(&loadFor, "for", loadFor, "how long the part load lasts")
	flag.DurationVar(&loadPause, "pause", loadPause, "what a client of the part load waits between two runs, on average")
	report := flag.String("report", "", "measure against plain processes, plain bubblewrap and srt instead, and write a page with plots here")
	flag.Parse()
	if *report != "" {
		if err := writeReport(flag.Arg(0), *report, *rounds); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(2)
		}
		return
	}
	met, err := bench(flag.Arg(0), *rounds, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if *check && !met {
		os.Exit(1)
	}
}

// row is one line of the table.
type row struct {
	what            string
	got, want, unit string
	met             bool
}

func bench(binary string, rounds int, only string) (met bool, err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("/var/tmp", "sidecar-bench.")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := project(filepath.Join(dir, "small"), 0, 10); err != nil {
		return false, err
	}
	var rows []row
	for _, part := range parts {
		if only == "" && part.long || only != "" && only != part.name {
			continue
		}
		more, err := part.measure(binary, dir, rounds)
		if err != nil {
			return false, err
		}
		rows = append(rows, more...)
	}
	return show(rows), nil
}

// parts are what is measured, in this order.
var parts = []struct {
	name    string
	measure func(binary, dir string, rounds int) ([]row, error)
	// long parts are measured when they are named.
	long bool
}{
	{"overhead", overhead, false}, {"channel", channel, false}, {"discovery", discovery, false}, {"growth", growth, false},
	{"memory", memory, false}, {"closure", closures, false}, {"network", network, false}, {"runs", runs, true}, {"soak", soak, true}, {"load", mixedLoad, true},
}

func show(rows []row) (met bool) {
	met = true
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tmeasured\ttarget\t")
	for _, r := range rows {
		verdict := ""
		if r.want != "" {
			verdict = "met"
			if !r.met {
				verdict, met = "MISSED", false
			}
		}
		_, _ = fmt.Fprintf(w, "%s\t%s%s\t%s\t%s\n", r.what, r.got, r.unit, r.want, verdict)
	}
	_ = w.Flush()
	return met
}

// overhead compares run_code over MCP with the same arguments under plain bubblewrap.
func overhead(binary, dir string, rounds int) ([]row, error) {
	ws := filepath.Join(dir, "small")
	plain, err := newPlain(binary, ws)
	if err != nil {
		return nil, err
	}
	c, err := dial(binary, ws)
	if err != nil {
		return nil, err
	}
	defer c.close()
	times, err := inTurns(rounds, c.pass, plain.run, plain.bare)
	if err != nil {
		return nil, err
	}
	mcp, bwrap, bare := times[0], times[1], times[2]
	ratio := float64(mcp) / float64(bwrap)
	return []row{
		{what: "python3, no sandbox", got: ms(bare), unit: " ms"},
		{what: "the same arguments under plain bwrap", got: ms(bwrap), unit: " ms"},
		{what: "run_code of `pass` over MCP stdio", got: ms(mcp), unit: " ms"},
		{what: "run_code / plain bwrap", got: fmt.Sprintf("%.2f", ratio), want: "at most 1.35", met: ratio <= 1.35},
	}, nil
}

// discovery times the way from a folder to its protected paths.
func discovery(_, dir string, rounds int) ([]row, error) {
	ws := filepath.Join(dir, "large")
	if err := project(ws, 20, 100_000); err != nil {
		return nil, err
	}
	times, err := inTurns(rounds, func() error {
		w, err := workspace.Discover(ws, workspace.Options{})
		if err != nil {
			return err
		}
		if n := len(w.Repo.Submodules); n != 20 {
			return fmt.Errorf("%d submodules found, want 20", n)
		}
		w.Protected(workspace.DefaultRules())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []row{{what: "discovery, 100,000 files and 20 submodules", got: ms(times[0]), unit: " ms", want: "under 20 ms", met: times[0] < 20*time.Millisecond}}, nil
}

// growth compares runs in a small workspace, one with many files (and as many submodules as
// a third), and one with many submodules.
func growth(binary, dir string, rounds int) ([]row, error) {
	if err := project(filepath.Join(dir, "large"), 20, 100_000); err != nil {
		return nil, err
	}
	if err := project(filepath.Join(dir, "few"), 20, 10); err != nil {
		return nil, err
	}
	if err := project(filepath.Join(dir, "submodules"), 200, 10); err != nil {
		return nil, err
	}
	var calls []func() error
	for _, name := range []string{"small", "few", "large", "submodules"} {
		c, err := dial(binary, filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		defer c.close()
		calls = append(calls, c.pass)
	}
	times, err := inTurns(rounds, calls...)
	if err != nil {
		return nil, err
	}
	files, submodules := times[2]-times[1], times[3]-times[0]
	return []row{
		{what: "100,000 files add to a run", got: ms(files), unit: " ms", want: "at most 3 ms", met: files <= 3*time.Millisecond},
		{what: "200 submodules add to a run", got: ms(submodules), unit: " ms", want: "at most 10 ms", met: submodules <= 10*time.Millisecond},
	}, nil
}

// inTurns times each call, rounds times in turns, and gives the medians.
func inTurns(rounds int, calls ...func() error) ([]time.Duration, error) {
	ways := make([]way, len(calls))
	for i, call := range calls {
		ways[i].call = call
	}
	all, err := timed(rounds, ways)
	medians := make([]time.Duration, len(all))
	for i, t := range all {
		medians[i] = t.p50
	}
	return medians, err
}

// median sorts the values.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
