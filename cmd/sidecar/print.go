package main

import (
	"fmt"
	"strings"
	"unicode"

	"code.sidecar.dev/sidecar/protocol"
)

// say prints something of sidecar's own, each line marked.
func say(t terminal, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		_, _ = fmt.Fprint(t.err, "sidecar: "+clean(line))
	}
}

// counted is a number of things, whose plural ends in s.
func counted(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return fmt.Sprintf("%d %s", n, one)
}

// clean takes out of a text that may quote what a run chose, such as a file's name, what has a terminal do something or
// shows it in another order than it stands.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || turns(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// turns tells whether a character turns the direction of what follows: the explicit formatting characters of Unicode's
// bidirectional algorithm (UAX #9, 2). Names in scripts that are written from right to left need none.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// report prints what a person should know about a run's end.
func report(t terminal, r protocol.RunResult) {
	for _, f := range r.Findings {
		switch {
		case f.Action == protocol.Disarmed && f.MovedTo == "":
			say(t, protocol.OneLine(fmt.Sprintf("finding: %s: %s; removed", f.Path, f.Reason)))
		case f.Action == protocol.Disarmed:
			say(t, protocol.OneLine(fmt.Sprintf("finding: %s: %s; moved aside to %s", f.Path, f.Reason, f.MovedTo)))
		case f.Action == protocol.Failed:
			say(t, protocol.OneLine(fmt.Sprintf("finding: %s: %s; could not be moved aside: %s", f.Path, f.Reason, f.Error)))
		default:
			say(t, protocol.OneLine(fmt.Sprintf("finding: %s: %s", f.Path, f.Reason)))
		}
	}
	for _, d := range r.Denied {
		say(t, protocol.OneLine("denied: "+d.Text()))
	}
	if r.Cancelled {
		say(t, "cancelled")
	}
	for _, n := range r.Notes {
		say(t, n)
	}
	for _, g := range r.Gaps {
		say(t, "gap: "+g)
	}
}
