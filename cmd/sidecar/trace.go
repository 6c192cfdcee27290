package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
)

// toTerminal is the value of a --trace without a file.
const toTerminal = "-"

// traced puts together where a run's time went, as from here: ours are the phases on our side, to which the result's are
// added after the connection was there.
func traced(ours *phases.Phases, result protocol.RunResult, total time.Duration) []protocol.Phase {
	list := ours.List()
	before := phases.End(list)
	for _, one := range result.Phases {
		one.Start += before
		list = append(list, one)
	}
	if rest := protocol.Duration(total) - phases.End(list); rest > 0 {
		list = append(list, protocol.Phase{Name: phases.Answer, Start: phases.End(list), Duration: rest})
	}
	return list
}

// showTrace prints where a run's time went, or writes it to a file for a viewer.
func showTrace(t terminal, to string, result protocol.RunResult) error {
	if to == "" {
		return nil
	}
	if to == toTerminal {
		say(t, traceText(result))
		return nil
	}
	b, err := json.Marshal(chromeTrace(result))
	if err == nil {
		err = writeTrace(to, result.Workspace, append(b, '\n'))
	}
	if err != nil {
		hint := "name a file that you can write, or use --trace alone"
		if errors.Is(err, declared.ErrLeadsOut) {
			hint = sidecar.LeadsOutHint
		}
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the trace cannot be written: %v", err), Hint: hint, Err: err}
	}
	return nil
}

func writeTrace(to, root string, text []byte) error {
	f, err := sidecar.Create(to, root)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// barWidth is how many characters the whole time has.
const barWidth = 40

func traceText(r protocol.RunResult) string {
	total := phases.End(r.Phases)
	share := func(d protocol.Duration) float64 { return float64(d) / float64(max(total, 1)) }
	var b strings.Builder
	fmt.Fprintf(&b, "trace of %s (%s): %s ms; phases may overlap\n", r.ID, cmp.Or(r.Start, "not started"), millis(total))
	line := func(p protocol.Phase, bar string) {
		fmt.Fprintf(&b, "  %-15s %9s ms %5.1f%%  %s\n", p.Name, millis(p.Duration), 100*share(p.Duration), bar)
	}
	for _, p := range r.Phases {
		from := int(barWidth * share(p.Start))
		line(p, strings.Repeat(" ", from)+strings.Repeat("▇", max(1, int(barWidth*share(p.Start+p.Duration)+0.5)-from)))
	}
	line(protocol.Phase{Name: "other", Duration: phases.Uncovered(r.Phases, total)}, "")
	return b.String()
}

func millis(d protocol.Duration) string {
	return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond))
}

// chromeEvent is one of the Trace Event Format, which chrome://tracing and Perfetto read; times are in microseconds.
type chromeEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Start    float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// chromeTrace has phases that overlap one below the other.
func chromeTrace(r protocol.RunResult) any {
	micros := func(d protocol.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	events := []chromeEvent{
		{Name: "process_name", Phase: "M", Process: 1, Args: map[string]any{"name": "sidecar run " + r.ID}},
		{Name: "run", Phase: "X", Duration: micros(phases.End(r.Phases)), Process: 1, Args: map[string]any{"start": r.Start, "exit": r.ExitCode, "environment": r.Environment}},
	}
	var rows []protocol.Duration // where each ends
	for _, p := range r.Phases {
		row := slices.IndexFunc(rows, func(end protocol.Duration) bool { return end <= p.Start })
		if row < 0 {
			row, rows = len(rows), append(rows, 0)
		}
		rows[row] = p.Start + p.Duration
		events = append(events, chromeEvent{Name: p.Name, Phase: "X", Start: micros(p.Start), Duration: micros(p.Duration), Process: 1, Thread: row + 1})
	}
	return map[string]any{"traceEvents": events, "displayTimeUnit": "ms"}
}
