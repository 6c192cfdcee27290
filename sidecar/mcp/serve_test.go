package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// held is a run that lasts until it is cancelled or released, and counts.
type held struct {
	started, ended atomic.Int32
	release        chan struct{}
}

func newHeld() *held { return &held{release: make(chan struct{})} }

func (h *held) run(ctx context.Context, root string, p protocol.RunParams, out func(protocol.Stream, []byte)) (protocol.RunResult, error) {
	h.started.Add(1)
	defer h.ended.Add(1)
	out(protocol.Stdout, []byte("started\n"))
	select {
	case <-h.release:
		return quick(ctx, root, p, out)
	case <-ctx.Done():
		return protocol.RunResult{}, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled"}
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestImmediateCancels(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	for i := range 200 {
		id := c.python("x", fmt.Sprint(i))
		if i%3 == 0 {
			// Some runs have begun, some are about to.
			eventually(t, "a start", func() bool { return h.started.Load() > h.ended.Load() })
		}
		c.notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s,"reason":"esc"}`, id))
	}
	c.settle()
	eventually(t, "all runs to end", func() bool { return h.started.Load() == h.ended.Load() })
	answered := map[string]bool{}
	for _, g := range c.seen() {
		if g.Method == "" {
			answered[string(g.ID)] = true
		}
	}
	// initialize, ping.
	if len(answered) != 2 {
		t.Errorf("answered %d requests, want 2: cancelled ones are not answered", len(answered))
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestCancelInTheSameBreath(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	var lines []string
	for id := 1000; id < 1200; id++ {
		lines = append(lines,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"x"}}}`, id),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	c.raw(strings.Join(lines, "\n"))
	c.settle()
	eventually(t, "all runs to end", func() bool { return h.started.Load() == h.ended.Load() })
	if n := len(c.seen()); n != 2 {
		t.Errorf("server wrote %d messages, want 2: %v", n, c.seen())
	}
}

func TestCancelOfOneLeavesTheOthers(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	one, two := c.python("one", ""), c.python("two", "")
	eventually(t, "both to start", func() bool { return h.started.Load() == 2 })
	for _, strange := range []string{`{"requestId":"` + two + `"}`, `{"requestId":99}`, `{}`, `[]`, `null`} {
		c.notify("notifications/cancelled", strange)
	}
	c.notify("notifications/cancelled", `{"requestId":`+one+`}`)
	eventually(t, "one to end", func() bool { return h.ended.Load() == 1 })
	close(h.release)
	if r := c.result(two); r.Structured.Stdout.Text != "two" {
		t.Errorf("got %+v", r)
	}
}

func TestProgressBursts(t *testing.T) {
	const lines = 50
	c := initialized(t, options(t, func(ctx context.Context, root string, p protocol.RunParams, out func(protocol.Stream, []byte)) (protocol.RunResult, error) {
		for i := range lines {
			stream := protocol.Stdout
			if i%2 == 1 {
				stream = protocol.Stderr
			}
			out(stream, fmt.Appendf(nil, "%s line %d é\n", p.Code, i))
		}
		return quick(ctx, root, p, out)
	}), nil)
	ids := map[string]string{}
	for i := range 200 {
		token := fmt.Sprintf(`"t%d"`, i)
		ids[c.python(fmt.Sprint(i), token)] = fmt.Sprint("t", i)
	}
	for id := range ids {
		c.answer(id)
	}
	text, last, over := map[any]string{}, map[any]float64{}, map[any]bool{}
	for _, g := range c.seen() {
		if g.Method == "" {
			over[ids[string(g.ID)]] = true
			continue
		}
		token := g.Params.Token
		if over[token] {
			t.Errorf("progress of %v after its result", token)
		}
		if g.Params.Progress <= last[token] {
			t.Errorf("progress of %v goes from %v to %v", token, last[token], g.Params.Progress)
		}
		last[token] = g.Params.Progress
		text[token] += g.Params.Message
	}
	for i := range 200 {
		var want strings.Builder
		for n := range lines {
			fmt.Fprintf(&want, "%d line %d é\n", i, n)
		}
		if got := text[fmt.Sprint("t", i)]; got != want.String() {
			t.Fatalf("progress of %d is %q, want %q", i, got, want.String())
		}
	}
}

func TestProgressComesWhileTheRunLasts(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	id := c.python("x", "7")
	c.await("progress", func(g got) bool { return g.Params.Message == "started\n" && g.Params.Token == 7.0 })
	close(h.release)
	c.result(id)
	id = c.python("x", "")
	c.result(id)
	for _, g := range c.seen() {
		if g.Method != "" && g.Params.Token != 7.0 {
			t.Errorf("progress that nobody asked for: %+v", g)
		}
	}
}

func TestRunsDoNotQueue(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	var ids []string
	for range 80 {
		ids = append(ids, c.python("x", ""))
	}
	eventually(t, "as many as may to start", func() bool { return h.started.Load() == maxRuns })
	// Other requests pass by.
	c.settle()
	if n := h.started.Load(); n != maxRuns {
		t.Errorf("%d runs at once, want %d", n, maxRuns)
	}
	close(h.release)
	for _, id := range ids {
		c.result(id)
	}
}

func TestTooManyCalls(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	var last string
	for range maxCalls + 1 {
		last = c.python("x", "")
	}
	if g := c.answer(last); g.Error == nil || g.Error.Code != errorBusy {
		t.Errorf("got %+v", g)
	}
	close(h.release)
	eventually(t, "all to run", func() bool { return h.ended.Load() == maxCalls })
}

func TestEndOfInputEndsRuns(t *testing.T) {
	h := newHeld()
	c := initialized(t, options(t, h.run), nil)
	for range 3 {
		c.python("x", "")
	}
	eventually(t, "runs to start", func() bool { return h.started.Load() == 3 })
	if err := c.end(); err != nil {
		t.Error(err)
	}
	if n := h.ended.Load(); n != 3 {
		t.Errorf("%d of 3 runs had ended when Serve returned", n)
	}
}

func TestEndOfContext(t *testing.T) {
	h := newHeld()
	ctx, cancel := context.WithCancel(t.Context())
	in, toServer := io.Pipe()
	defer toServer.Close()
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, in, io.Discard, options(t, h.run)) }()
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"x"}}}`)
	eventually(t, "the run to start", func() bool { return h.started.Load() == 1 })
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("Serve says %v", err)
	}
	if h.ended.Load() != 1 {
		t.Error("Serve returned before the run had ended")
	}
}

// A client that reads no more must not keep its runs alive when it goes.
func TestClientThatNeverReads(t *testing.T) {
	h := newHeld()
	in, toServer := io.Pipe()
	_, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), in, out, options(t, h.run)) }()
	for id := range 10 {
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"x"},"_meta":{"progressToken":%d}}}`+"\n", id, id)
		fmt.Fprintln(toServer, "broken")
	}
	eventually(t, "the runs to start", func() bool { return h.started.Load() == 10 })
	toServer.Close()
	select {
	case <-ended:
	case <-time.After(60 * time.Second):
		t.Fatal("Serve hangs")
	}
	if h.ended.Load() != 10 {
		t.Error("Serve returned before the runs had ended")
	}
}

// brokenPipe fails all writes.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestClientThatIsGone(t *testing.T) {
	h := newHeld()
	in, toServer := io.Pipe()
	defer toServer.Close()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), in, brokenPipe{}, options(t, h.run)) }()
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"x"},"_meta":{"progressToken":1}}}`)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if h.started.Load() != h.ended.Load() {
		t.Error("Serve returned before the run had ended")
	}
}

func TestPanicInARun(t *testing.T) {
	var once sync.Once
	c := initialized(t, options(t, func(ctx context.Context, root string, p protocol.RunParams, out func(protocol.Stream, []byte)) (protocol.RunResult, error) {
		once.Do(func() { panic("no") })
		return quick(ctx, root, p, out)
	}), nil)
	if g := c.answer(c.python("x", "1")); g.Error == nil || g.Error.Code != -32603 {
		t.Errorf("got %+v", g)
	}
	if r := c.result(c.python("x", "1")); r.IsError {
		t.Errorf("got %+v", r)
	}
}
