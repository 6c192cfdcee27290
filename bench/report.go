//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// languages are those that can wait for their code.
var languages = []string{"bash", "python", "node"}

// way is one way to run the shortest program of a language.
type way struct {
	name string
	call func() error
	// pause is what is waited for before a call, which is what an agent thinks for at least.
	pause time.Duration
}

// timing is what a way took.
type timing struct {
	way      string
	p50, p99 time.Duration
	// starts counts how runs were started, for those that tell.
	starts map[string]int
}

// thought is the pause between calls that find a sandbox ready: one is made meanwhile.
const thought = 250 * time.Millisecond

// latencies measures all ways of one language in turns.
func latencies(binary, ws, language string, rounds int) ([]timing, error) {
	plain, err := plainOf(binary, ws, language)
	if err != nil {
		return nil, err
	}
	cold, err := dial(binary, ws)
	if err != nil {
		return nil, err
	}
	defer cold.close()
	warm, err := dialWarm(binary, ws)
	if err != nil {
		return nil, err
	}
	defer warm.close()
	starts := map[string]int{}
	ways := []way{
		{name: "plain process", call: plain.bare},
		{name: "plain bwrap", call: plain.run},
		{name: "sidecar, cold, over MCP", call: func() error { return cold.run(language, shortest[language]) }},
		{name: "sidecar, warm, over MCP", pause: thought, call: func() error {
			err := warm.run(language, shortest[language])
			starts[warm.start]++
			return err
		}},
	}
	socket, end, err := overSocket(binary, ws, language)
	if err != nil {
		return nil, err
	}
	defer end()
	ways = append(ways, way{name: "sidecar, warm, over the socket", pause: thought, call: socket})
	inSession := func() error {
		return warm.runCode(map[string]any{"language": language, "code": shortest[language], "session": "bench-" + language})
	}
	if inSession() == nil {
		ways = append(ways, way{name: sessionWays[0], pause: thought, call: inSession}, way{name: sessionWays[1], call: inSession})
	}
	if srt := srtProgram(); srt != "" {
		call := func() error { return runSrt(srt, ws, plain) }
		if err := call(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: srt is left out:", err)
		} else {
			ways = append(ways, way{name: "srt", call: call})
		}
	}
	all, err := timed(rounds, ways)
	if err == nil {
		all[3].starts = starts
	}
	return all, err
}

// sessionWays are a session's call after a pause, in which everything has gone to sleep, and the one right after it.
var sessionWays = [2]string{"a call in a session, over MCP", "the call after it, at once"}

// runs are the latencies alone, as a table.
func runs(binary, dir string, rounds int) (rows []row, err error) {
	for _, language := range languages {
		all, err := latencies(binary, filepath.Join(dir, "small"), language, rounds)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			rows = append(rows, row{what: language + ", " + t.way, got: fmt.Sprintf("%s (%.2f)", ms(t.p50), float64(t.p50)/float64(all[1].p50)), unit: " ms"})
		}
	}
	return rows, nil
}

// timed times ways in turns. The first three rounds do not count.
func timed(rounds int, ways []way) ([]timing, error) {
	times := make([][]time.Duration, len(ways))
	for round := range rounds + 3 {
		for i, w := range ways {
			time.Sleep(w.pause)
			began := time.Now()
			if err := w.call(); err != nil {
				return nil, fmt.Errorf("%s %w", w.name, err)
			}
			if round >= 3 {
				times[i] = append(times[i], time.Since(began))
			}
		}
	}
	out := make([]timing, len(ways))
	for i, w := range ways {
		out[i] = timing{way: w.name, p50: median(times[i]), p99: times[i][min(len(times[i])*99/100, len(times[i])-1)]}
	}
	return out, nil
}

// srtProgram is where srt is, if it was installed: npm install --prefix bench/srt @anthropic-ai/sandbox-runtime.
func srtProgram() string {
	if path, err := exec.LookPath("srt"); err == nil {
		return path
	}
	if path, err := filepath.Abs("bench/srt/node_modules/.bin/srt"); err == nil {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func runSrt(srt, ws string, p *plain) error {
	cmd := exec.Command(srt, append([]string{"--"}, p.inFile()...)...)
	cmd.Dir = ws
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// rate is how many runs a second a number of clients get.
type rate struct {
	clients int
	perSec  map[string]float64
}

// throughput has several clients run bash without a pause.
func throughput(binary, ws string, span time.Duration) ([]rate, error) {
	plain, err := plainOf(binary, ws, "bash")
	if err != nil {
		return nil, err
	}
	var out []rate
	for _, n := range []int{1, 2, 8, 32} {
		r := rate{clients: n, perSec: map[string]float64{}}
		loops := make([]func() error, n)
		for i := range loops {
			loops[i] = plain.run
		}
		if r.perSec["plain bwrap"], err = perSecond(span, loops); err != nil {
			return nil, err
		}
		for name, connect := range map[string]func(string, string) (*client, error){
			"sidecar, cold": func(b, w string) (*client, error) { return dial(b, w) }, "sidecar, warm": dialWarm} {
			if r.perSec[name], err = clientsPerSecond(binary, ws, span, n, connect); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func clientsPerSecond(binary, ws string, span time.Duration, n int, connect func(string, string) (*client, error)) (float64, error) {
	loops := make([]func() error, n)
	for i := range loops {
		c, err := connect(binary, ws)
		if err != nil {
			return 0, err
		}
		defer c.close()
		loops[i] = c.nothing
	}
	return perSecond(span, loops)
}

// perSecond has each of the loops call without a pause.
func perSecond(span time.Duration, loops []func() error) (float64, error) {
	ctx, stop := context.WithTimeout(context.Background(), span)
	defer stop()
	var done atomic.Int64
	var failed atomic.Value
	var all sync.WaitGroup
	began := time.Now()
	for _, call := range loops {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := call(); err != nil {
					failed.Store(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err, _ := failed.Load().(error); err != nil {
		return 0, err
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}

// machine says where it was measured.
func machine() string {
	model := "a processor that does not say"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d processors (%s), Linux %s", runtime.NumCPU(), model, strings.TrimSpace(string(release)))
}
