package sidecar

import (
	"bufio"
	"context"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seatbelt"
)

// logProgram reads the unified log of macOS.
const logProgram = "/usr/bin/log"

// Bounds of what is said of refusals.
const (
	mostRefusals = 8
	// refusalsLate is how long after a run that failed its refusals may come: the log is written behind.
	refusalsLate = 300 * time.Millisecond
)

// refusals follows the system's log while a run lasts, where it marks what is refused to it. What comes back gives them as
// notes, for a run that failed: they are what programs otherwise call "Operation not permitted". A log that cannot be read
// says nothing.
func (p *prepared) refusals() func(sandbox.End) []string {
	if p.plan.Tag == "" {
		return func(sandbox.End) []string { return nil }
	}
	return followRefusals(logProgram, p.plan.Tag)
}

func followRefusals(program, tag string) func(sandbox.End) []string {
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, seatbelt.LogArguments(tag)...)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return func(sandbox.End) []string { return nil }
	}
	var mu sync.Mutex
	var seen []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if r, ok := seatbelt.ParseRefusal(lines.Bytes(), tag); ok {
				mu.Lock()
				if text := r.String(); !slices.Contains(seen, text) {
					seen = append(seen, text)
				}
				mu.Unlock()
			}
		}
		_ = cmd.Wait()
	}()
	return func(end sandbox.End) []string {
		if end.ExitCode != 0 {
			select {
			case <-done:
			case <-time.After(refusalsLate):
			}
		}
		stop()
		<-done
		mu.Lock()
		defer mu.Unlock()
		if end.ExitCode == 0 || len(seen) == 0 {
			return nil
		}
		return []string{"the sandbox refused: " + strings.Join(seen[:min(len(seen), mostRefusals)], "; ")}
	}
}
