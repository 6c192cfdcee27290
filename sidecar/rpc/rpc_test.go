package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"go.lsp.dev/jsonrpc2"
)

// pair connects two ends as a sidecar and a client are: by a unix socket.
func pair(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// peers are both ends, the second with a handler.
func peers(t *testing.T, o Options) (client, server *Peer) {
	t.Helper()
	a, b := pair(t)
	server = New(t.Context(), b, o)
	client = New(t.Context(), a, Options{})
	t.Cleanup(func() { client.Drop(); server.Drop() })
	return client, server
}

// Notifications are handled in the order in which they were sent, and before the request behind them.
func TestOrder(t *testing.T) {
	var seen []int
	client, _ := peers(t, Options{Handle: func(_ context.Context, method string, raw json.RawMessage) (any, error) {
		if method == "note" {
			var n int
			_ = json.Unmarshal(raw, &n)
			seen = append(seen, n)
			return nil, nil
		}
		return seen, nil
	}})
	for i := range 3000 {
		if err := client.Notify("note", i); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	if err := client.Call(t.Context(), "list", nil, &got); err != nil || len(got) != 3000 {
		t.Fatalf("%d, %v", len(got), err)
	}
	for i, n := range got {
		if n != i {
			t.Fatalf("number %d came as %d", n, i)
		}
	}
}

// Requests are handled beside each other, whichever takes how long.
func TestRequestsDoNotQueue(t *testing.T) {
	release := make(chan struct{})
	client, _ := peers(t, Options{Handle: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		if method == "slow" {
			<-release
		}
		return method, nil
	}})
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() { _ = client.Call(t.Context(), "slow", nil, nil) })
	}
	if err := client.Call(t.Context(), "fast", nil, nil); err != nil {
		t.Error(err)
	}
	close(release)
	all.Wait()
}

// A request that ends its context is cancelled at the other end, and so is all when the connection ends.
func TestCancellation(t *testing.T) {
	begun, cancelled := make(chan string, 8), make(chan string, 8)
	client, _ := peers(t, Options{Handle: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
		begun <- method
		<-ctx.Done()
		cancelled <- method
		return nil, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled"}
	}})
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-begun; stop() }()
	if err := client.Call(ctx, "one", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-cancelled; got != "one" {
		t.Errorf("got %s", got)
	}
	answered := client.Start("two", nil, nil)
	<-begun
	client.Drop()
	if got := <-cancelled; got != "two" {
		t.Errorf("got %s", got)
	}
	var known *protocol.Error
	if err := <-answered; !errors.As(err, &known) || known.Kind != protocol.Gone {
		t.Errorf("got %v", err)
	}
}

// An error arrives with its kind and its hint; a panic is an error, and the connection lives on.
func TestErrors(t *testing.T) {
	client, _ := peers(t, Options{Handle: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		switch method {
		case "denied":
			return nil, fmt.Errorf("wrapped: %w", &protocol.Error{Kind: protocol.Denied, Message: "no", Hint: "ask"})
		case "panic":
			panic("at the disco")
		case "plain":
			return nil, io.ErrNoProgress
		}
		return nil, Unknown(method)
	}})
	for method, want := range map[string]protocol.Error{
		"denied": {Kind: protocol.Denied, Message: "no", Hint: "ask"},
		"panic":  {Kind: protocol.Internal, Message: "internal error in panic", Hint: "the sidecar's log has more"},
		"plain":  {Kind: protocol.Internal, Message: io.ErrNoProgress.Error()},
		"other":  {Kind: protocol.Internal, Message: `unknown method "other"`},
	} {
		var got *protocol.Error
		if err := client.Call(t.Context(), method, nil, nil); !errors.As(err, &got) || got.Kind != want.Kind || got.Message != want.Message || got.Hint != want.Hint {
			t.Errorf("%s: %+v", method, err)
		}
	}
	_ = client.Notify("panic", nil)
	if err := client.Call(t.Context(), "plain", nil, nil); err == nil || strings.Contains(err.Error(), "ended") {
		t.Errorf("after a panic in a notification: %v", err)
	}
}

// An error that a peer hands on is the one that it got: no hint in its message, no empty one in its data.
func TestErrorsAreHandedOn(t *testing.T) {
	far, _ := peers(t, Options{Handle: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		switch method {
		case "hint":
			return nil, &protocol.Error{Kind: protocol.Denied, Message: "no", Hint: "ask"}
		case "none":
			return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "no"}
		}
		return nil, Unknown(method)
	}})
	near, _ := peers(t, Options{Handle: func(ctx context.Context, method string, _ json.RawMessage) (any, error) {
		return nil, far.Call(ctx, method, nil, nil)
	}})
	for method, want := range map[string]string{
		"hint":  `-32012 no {"kind":"denied_by_policy","hint":"ask"}`,
		"none":  `-32602 no {"kind":"bad_request"}`,
		"other": `-32601 unknown method "other" `,
	} {
		var got *jsonrpc2.Error
		if err := near.Call(t.Context(), method, nil, nil); !errors.As(err, &got) || fmt.Sprintf("%d %s %s", got.Code, got.Message, got.Data) != want {
			t.Errorf("%s: %+v, want %s", method, got, want)
		}
	}
}

// What is sent to a peer that does not read waits, or is not sent, but never without bound, and never for good.
func TestAPeerThatDoesNotRead(t *testing.T) {
	_, b := pair(t)
	server := New(t.Context(), b, Options{})
	big := strings.Repeat("x", 100_000)
	for range 30 {
		server.Push("note", big)
	}
	if server.Room() {
		t.Error("there is room behind 3 MB that nobody reads")
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	server.Send(ctx, "note", big) // gives up with the context
	time.Sleep(20 * time.Millisecond)
	if server.Unread() < 20*time.Millisecond {
		t.Errorf("unread for %v", server.Unread())
	}
	for range 100 {
		server.Push("note", big)
	}
	select {
	case <-server.Done():
	case <-time.After(30 * time.Second):
		t.Error("a peer with 10 MB unread is still connected")
	}
}

// Whatever bytes come, nothing panics or hangs, and the memory for a message grows with what has come.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{"Content-Length: 2\r\n\r\n{}", "Content-Length: 99999999\r\n\r\n{", "Content-Length: 52\r\nX: y\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"a","params":[1,2]}`, "\r\n\r\n", "Content-Length:\n\n[]",
		"Content-Length: 44\r\n\r\n" + `{"jsonrpc":"2.0","method":"$/cancelRequest"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := net.Pipe()
		server := New(t.Context(), b, Options{Handle: func(context.Context, string, json.RawMessage) (any, error) { return 1, nil }})
		go func() { _, _ = io.Copy(io.Discard, a) }()
		_ = a.SetWriteDeadline(time.Now().Add(30 * time.Second))
		_, err := a.Write(data)
		if err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("not read: %v", err)
		}
		a.Close()
		select {
		case <-server.Done():
		case <-time.After(30 * time.Second):
			t.Error("the connection does not end")
		}
	})
}
