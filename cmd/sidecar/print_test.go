package main

import (
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc é 日本 שלום \u200f": "a\tb\nc é 日本 שלום \u200f",
		"\x1b]52;c;eA==\a":         "\uFFFD]52;c;eA==\uFFFD",
		"x\ry\x7f\u009b2J":         "x\uFFFDy\uFFFD\uFFFD2J",
		"not UTF-8 \x9b2J":         "not UTF-8 \uFFFD2J",
		"\u202ax\u202d\u202eexe.a": "\uFFFDx\uFFFD\uFFFDexe.a",
		"\u2066\u2067\u2068\u2069": "\uFFFD\uFFFD\uFFFD\uFFFD",
		"\u2029\u2065\u206a\u202f": "\u2029\u2065\u206a\u202f",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestOneLine: nothing that a run or a client chose, be it its own name, shows as a line of its own.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"é 日本 שלום":            "é 日本 שלום",
		"x\nfinding: none":     "x\uFFFDfinding: none",
		"a\tb\vc\u2028d\u0085": "a\uFFFDb\uFFFDc\uFFFDd\uFFFD",
		"a\u200fb\x1b[1A":      "a\uFFFDb\uFFFD[1A",
	} {
		if got := protocol.OneLine(text); got != want {
			t.Errorf("protocol.OneLine(%q) = %q, want %q", text, got, want)
		}
	}
	run := protocol.Run{ID: "1", Client: "evil\n2", Language: "x\n3", SessionName: "a\n4", Cwd: "x\n5"}
	status := protocol.StatusResult{Workspace: "/p\n6", Runs: []protocol.Run{run}, Clients: []protocol.Client{{Name: "evil\n7"}}}
	for name, text := range map[string]string{"status": statusText([]seen{{StatusResult: &status}}, time.Now()), "show": recordText(protocol.RunRecord{Run: run})} {
		for line := range strings.Lines(text) {
			if strings.ContainsAny(line[:1], "234567") {
				t.Errorf("%s has the line %q", name, line)
			}
		}
	}
}
