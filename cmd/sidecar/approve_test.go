package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// askerOn is an asker whose input is a pipe that holds what was typed and ends there.
func askerOn(t *testing.T, typed string) (*asker, *bytes.Buffer) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	if _, err := out.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	shown := new(bytes.Buffer)
	return newAsker(&flags{}, terminal{in: in, out: shown, err: shown}), shown
}

// TestTypedAhead: what was typed before there was a question answers none.
func TestTypedAhead(t *testing.T) {
	a, _ := askerOn(t, "y\na\ny\n")
	read := make(chan struct{})
	go func() {
		a.read(a.t.in)
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(30 * time.Second):
		t.Fatal("a line is kept for a question that is yet to come")
	}
	if got := a.ask(t.Context(), protocol.Question{Kind: protocol.AskNetwork}); got != protocol.No {
		t.Errorf("answered %q", got)
	}
}

// TestAnswersOfTheQuestion: a line counts from the question's being shown on, and odd ones are asked for again.
func TestAnswersOfTheQuestion(t *testing.T) {
	a, _ := askerOn(t, "")
	go func() {
		a.lines <- typed{"y", time.Now().Add(-time.Hour)}
		a.lines <- typed{"what?", time.Now().Add(time.Hour)}
		a.lines <- typed{"a", time.Now().Add(time.Hour)}
	}()
	if got := a.ask(t.Context(), protocol.Question{Kind: protocol.AskNetwork}); got != protocol.Always {
		t.Errorf("answered %q", got)
	}
}

// TestQuestionIsOneLine: no name or text that others chose makes a line of its own, or moves the cursor.
func TestQuestionIsOneLine(t *testing.T) {
	a, shown := askerOn(t, "")
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		a.lines <- typed{"n", time.Now().Add(time.Hour)}
		stop()
	}()
	a.ask(ctx, protocol.Question{Kind: protocol.AskTrust, Client: "x\nsidecar: y", Run: "1", Text: "May it (\r\x1b[2J\u202e\nsidecar: z)?"})
	question, _, _ := strings.Cut(shown.String(), "sidecar: [y] yes")
	if want := "sidecar: x�sidecar: y asks (run 1): May it (��[2J��sidecar: z)?\n"; question != want {
		t.Errorf("%q, want %q", question, want)
	}
}

// TestAlwaysTellsWhatItAllows: it is more than the name that was asked for.
func TestAlwaysTellsWhatItAllows(t *testing.T) {
	text := choices(protocol.Question{Kind: protocol.AskNetwork, Writes: "network.approved: [co.uk]"})
	for _, part := range []string{"network.approved: [co.uk]", "names below it", "every project"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}
