//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writeReport measures everything, and writes the page at file with its plots beside it.
func writeReport(binary, file string, rounds int) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/var/tmp", "sidecar-bench.")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ws := filepath.Join(dir, "small")
	if err := project(ws, 0, 10); err != nil {
		return err
	}
	p := page{dir: filepath.Dir(file)}
	p.line("# Performance\n\nMade by `bench/run --report %s` on %s, %s. All ways of a table were measured in turns, call by call, in one run; "+
		"absolute times are the machine's, the ratios are what counts.\n", filepath.ToSlash(file), time.Now().UTC().Format("2006-01-02"), machine())
	for _, part := range []func(string, string, int, *page) error{latencyPart, ratePart, growthPart, memoryPart} {
		if err := part(binary, dir, rounds, &p); err != nil {
			return err
		}
	}
	return os.WriteFile(file, []byte(p.text.String()), 0o644)
}

// page is what is written so far.
type page struct {
	dir  string
	text strings.Builder
}

func (p *page) line(format string, args ...any) { _, _ = fmt.Fprintf(&p.text, format+"\n", args...) }

// plot writes a picture beside the page, and shows it in it.
func (p *page) plot(name, alt, svg string) error {
	p.line("![%s](%s)\n", alt, name)
	return os.WriteFile(filepath.Join(p.dir, name), []byte(svg), 0o644)
}

// table writes rows; the first is the head.
func (p *page) table(rows [][]string) {
	for i, row := range rows {
		p.line("| %s |", strings.Join(row, " | "))
		if i == 0 {
			p.line("| --- %s|", strings.Repeat("| ---: ", len(row)-1))
		}
	}
	p.line("")
}

// targets are the ratios to plain bwrap that are promised.
var targets = map[string]map[string]float64{
	"sidecar, cold, over MCP": {"bash": 1.15, "python": 1.15, "node": 1.15},
	"sidecar, warm, over MCP": {"bash": 0.5, "python": 0.4, "node": 0.2},
}

func latencyPart(binary, dir string, rounds int, p *page) error {
	p.line("## One run\n\nThe shortest program of each language, from the request to the answer. *Plain bwrap* has the same arguments as sidecar's own "+
		"sandbox. *Warm*: a sandbox was ready; the client waits %v between its calls, as one that thinks does.\n", thought)
	var groups []bars
	rows := [][]string{{"", "median", "p99", "to plain bwrap", "target"}}
	for _, language := range languages {
		all, err := latencies(binary, filepath.Join(dir, "small"), language, rounds)
		if err != nil {
			return err
		}
		group := bars{name: language}
		bwrap := all[1].p50
		for _, t := range all {
			ratio, target := float64(t.p50)/float64(bwrap), ""
			if want := targets[t.way][language]; want > 0 {
				target = verdict(ratio, want)
			}
			if slices.Contains(sessionWays[:], t.way) {
				target = map[bool]string{true: "under 1.5 ms: met", false: "under 1.5 ms: **missed**"}[t.p50 < 1500*time.Microsecond]
			}
			rows = append(rows, []string{language + ", " + t.way + told(t.starts), ms(t.p50) + " ms", ms(t.p99) + " ms", fmt.Sprintf("%.2f", ratio), target})
			group.names, group.values = append(group.names, t.way), append(group.values, float64(t.p50)/1e6)
		}
		groups = append(groups, group)
	}
	if err := p.plot("performance-runs.svg", "milliseconds a run, by language and way", barPlot("Median of one run, ms (logarithmic)", groups)); err != nil {
		return err
	}
	p.table(rows)
	return nil
}

func verdict(got, most float64) string {
	if got <= most {
		return fmt.Sprintf("at most %.2f: met", most)
	}
	return fmt.Sprintf("at most %.2f: **missed**", most)
}

// told says how many runs of a warm client were warm, where not all were.
func told(starts map[string]int) string {
	all := 0
	for _, n := range starts {
		all += n
	}
	if all == 0 || starts["warm"] == all {
		return ""
	}
	return fmt.Sprintf(" (%d of %d found a sandbox ready)", starts["warm"]+starts["ready"], all)
}

// rateSpan is how long each number of clients runs.
const rateSpan = 5 * time.Second

func ratePart(binary, dir string, _ int, p *page) error {
	rates, err := throughput(binary, filepath.Join(dir, "small"), rateSpan)
	if err != nil {
		return err
	}
	p.line("## Runs a second\n\nClients that ask for `:` in bash without a pause, each over MCP; beside them as many loops of plain bwrap. Where no processor is ever " +
		"idle nothing is made ahead, so that *warm* is then nearly *cold*: what a warm run saves it has cost before.\n")
	names := []string{"plain bwrap", "sidecar, cold", "sidecar, warm"}
	rows := [][]string{{"clients", names[0], names[1], names[2], "cold / plain (target: at least 0.9)"}}
	lines := make([]line, len(names))
	for i, n := range names {
		lines[i].name = n
	}
	for _, r := range rates {
		row := []string{fmt.Sprint(r.clients)}
		for i, n := range names {
			row = append(row, fmt.Sprintf("%.0f", r.perSec[n]))
			lines[i].points = append(lines[i].points, point{float64(r.clients), r.perSec[n]})
		}
		rows = append(rows, append(row, fmt.Sprintf("%.2f", r.perSec[names[1]]/r.perSec[names[0]])))
	}
	if err := p.plot("performance-rate.svg", "runs a second by number of clients", linePlot("Runs a second, by number of clients", lines)); err != nil {
		return err
	}
	p.table(rows)
	return nil
}

// grown is a workspace of some size.
type grown struct {
	name              string
	submodules, files int
}

func growthPart(binary, dir string, rounds int, p *page) error {
	sizes := []grown{{"10 files", 0, 10}, {"1,000 files", 0, 1000}, {"10,000 files", 0, 10_000}, {"100,000 files", 0, 100_000}, {"20 submodules", 20, 10}, {"200 submodules", 200, 10}}
	var cold, warm []way
	for i, s := range sizes {
		ws := filepath.Join(dir, fmt.Sprintf("grown%d", i))
		if err := project(ws, s.submodules, s.files); err != nil {
			return err
		}
		c, err := dial(binary, ws)
		if err != nil {
			return err
		}
		defer c.close()
		w, err := dialWarm(binary, ws)
		if err != nil {
			return err
		}
		defer w.close()
		cold = append(cold, way{name: s.name, call: c.pass})
		warm = append(warm, way{name: s.name, call: w.pass, pause: thought})
	}
	coldTimes, err := timed(rounds, cold)
	if err != nil {
		return err
	}
	warmTimes, err := timed(rounds, warm)
	if err != nil {
		return err
	}
	p.line("## Size of the workspace\n\nMedians of `pass` in Python, over MCP.\n")
	rows := [][]string{{"workspace", "cold", "warm", "cold, to the smallest", "warm, to the smallest"}}
	for i, s := range sizes {
		rows = append(rows, []string{s.name, ms(coldTimes[i].p50) + " ms", ms(warmTimes[i].p50) + " ms",
			fmt.Sprintf("%.2f", float64(coldTimes[i].p50)/float64(coldTimes[0].p50)), fmt.Sprintf("%.2f", float64(warmTimes[i].p50)/float64(warmTimes[0].p50))})
	}
	groups := []bars{{name: "cold"}, {name: "warm"}}
	for i, times := range [][]timing{coldTimes, warmTimes} {
		for _, t := range times {
			groups[i].names, groups[i].values = append(groups[i].names, t.way), append(groups[i].values, float64(t.p50)/1e6)
		}
	}
	if err := p.plot("performance-growth.svg", "milliseconds a run by size of the workspace", barPlot("Median of one run by workspace, ms (logarithmic)", groups)); err != nil {
		return err
	}
	p.table(rows)
	return nil
}

func memoryPart(binary, dir string, rounds int, p *page) error {
	rows, err := memory(binary, dir, rounds)
	if err != nil {
		return err
	}
	p.line("## Memory, beginnings\n")
	more, err := beginnings(binary, dir, min(rounds, 10))
	if err != nil {
		return err
	}
	out := [][]string{{"", "measured", "target"}}
	for _, r := range slices.Concat(rows, more) {
		said := r.want
		if said != "" {
			said += map[bool]string{true: ": met", false: ": **missed**"}[r.met]
		}
		out = append(out, []string{r.what, r.got + r.unit, said})
	}
	p.table(out)
	return nil
}
