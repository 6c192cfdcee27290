package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
)

// client is a small MCP client over in-process pipes. It writes what a test says and keeps all it reads, in order.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *io.PipeReader
	ended chan error

	mu      sync.Mutex
	changed chan struct{}
	all     []got
	// roots answers roots/list; nil leaves it unanswered.
	roots func() any
	asked int
	next  int
}

// got is a message of the server.
type got struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Token    any     `json:"progressToken"`
		Progress float64 `json:"progress"`
		Message  string  `json:"message"`
		// RequestID is that of a request that was cancelled.
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// toolResult is what a tool call gives.
type toolResult struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Structured struct {
		runShown
		Error *protocol.Error `json:"error"`
	} `json:"structuredContent"`
	IsError       bool           `json:"isError"`
	ResultType    string         `json:"resultType"`
	InputRequests map[string]any `json:"inputRequests"`
	RequestState  string         `json:"requestState"`
}

// run is what a fake run looks like.
type run func(ctx context.Context, root string, p protocol.RunParams, out func(protocol.Stream, []byte)) (protocol.RunResult, error)

// options serve a fake run from an empty host, in a folder of the test.
func options(t *testing.T, r run) Options {
	t.Helper()
	return Options{
		Name: "sidecar", Version: "test", Dir: t.TempDir(), Home: "/home/nobody",
		Getenv: func(string) string { return "" },
		Run: func(ctx context.Context, root, source string, p protocol.RunParams, w Watch) (protocol.RunResult, error) {
			result, err := r(ctx, root, p, w.Output)
			result.Workspace, result.WorkspaceSource = root, source
			return result, err
		},
		Envs: func(context.Context, string) ([]protocol.Environment, error) {
			return []protocol.Environment{env.List(fakeEnv())}, nil
		},
	}
}

func fakeEnv() env.Environment {
	python, haskell := env.Languages[0], env.Languages[6]
	return env.Environment{ID: "host", Provider: "host",
		Interpreters: map[string]env.Interpreter{python.Name: {Language: python, Program: "/usr/bin/python3.11", Version: "3.11.2", Via: "PATH"}},
		Missing:      []env.Missing{{Language: haskell, Hint: "apt install ghc"}}}
}

// quick is a run that prints its code.
func quick(_ context.Context, _ string, p protocol.RunParams, _ func(protocol.Stream, []byte)) (protocol.RunResult, error) {
	return protocol.RunResult{ID: "r1", Environment: "host", Stdout: protocol.Output{Text: p.Code, Bytes: int64(len(p.Code))}}, nil
}

// connect starts a server and a client of it, without a handshake.
func connect(t *testing.T, o Options) *client {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	c := &client{t: t, in: in, out: out, ended: make(chan error, 1), changed: make(chan struct{})}
	go func() {
		c.ended <- Serve(t.Context(), fromClient, toClient, o)
		toClient.Close()
	}()
	go c.read(out)
	t.Cleanup(func() { in.Close() })
	return c
}

// initialized is a client after the handshake of a revision with initialize, with roots if it has an answer for them.
func initialized(t *testing.T, o Options, roots func() any) *client {
	t.Helper()
	c := connect(t, o)
	c.roots = roots
	capabilities := `{}`
	if roots != nil {
		capabilities = `{"roots":{"listChanged":true}}`
	}
	id := c.send("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"fake","version":"1"}}`)
	c.answer(id)
	c.notify("notifications/initialized", `{}`)
	return c
}

func (c *client) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var g got
		if err := json.Unmarshal(line, &g); err != nil {
			c.t.Errorf("server wrote %q: %v", line, err)
			continue
		}
		if g.Method == "roots/list" {
			c.answerRoots(g.ID)
			continue
		}
		c.mu.Lock()
		c.all = append(c.all, g)
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
	}
}

// answerRoots answers from another goroutine, so that reading goes on.
func (c *client) answerRoots(id json.RawMessage) {
	c.mu.Lock()
	c.asked++
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	go func() {
		if answer := c.roots(); answer != nil {
			result, _ := json.Marshal(answer)
			c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
		}
	}()
}

func (c *client) raw(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil && c.t.Context().Err() == nil {
		c.t.Logf("writing: %v", err)
	}
}

func (c *client) notify(method, params string) {
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// send writes a request and gives its id.
func (c *client) send(method, params string) string {
	c.mu.Lock()
	c.next++
	id := fmt.Sprint(c.next)
	c.mu.Unlock()
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return id
}

// call sends a tool call, whose further params may be "".
func (c *client) call(tool, arguments, further string) string {
	return c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, tool, arguments, further))
}

// python calls run_code with code and, if token is not "", progress.
func (c *client) python(code, token string) string {
	arguments, _ := json.Marshal(map[string]string{"language": "python", "code": code})
	further := ""
	if token != "" {
		further = fmt.Sprintf(`,"_meta":{"progressToken":%s}`, token)
	}
	return c.call("run_code", string(arguments), further)
}

// await waits until a message passes.
func (c *client) await(what string, pass func(got) bool) got {
	c.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		c.mu.Lock()
		changed := c.changed
		for _, g := range c.all {
			if pass(g) {
				c.mu.Unlock()
				return g
			}
		}
		c.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			c.t.Fatalf("waited in vain for %s; have %v", what, c.seen())
		}
	}
}

func (c *client) answer(id string) got {
	c.t.Helper()
	return c.await("the answer to "+id, func(g got) bool { return g.Method == "" && string(g.ID) == id })
}

// result is a tool call's.
func (c *client) result(id string) toolResult {
	c.t.Helper()
	g := c.answer(id)
	if g.Error != nil {
		c.t.Fatalf("call %s: %d %s", id, g.Error.Code, g.Error.Message)
	}
	var r toolResult
	if err := json.Unmarshal(g.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	return r
}

// seen is all that was read so far.
func (c *client) seen() []got {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]got(nil), c.all...)
}

// settle is when the server has handled all that was sent before.
func (c *client) settle() {
	c.t.Helper()
	c.answer(c.send("ping", `{}`))
}

// end closes the connection and waits for the server.
func (c *client) end() error {
	c.t.Helper()
	c.in.Close()
	select {
	case err := <-c.ended:
		return err
	case <-time.After(60 * time.Second):
		c.t.Fatal("the server did not end")
		return nil
	}
}

// failed is the error of a call that must fail.
func (c *client) failed(id string) *protocol.Error {
	c.t.Helper()
	r := c.result(id)
	if !r.IsError || r.Structured.Error == nil {
		c.t.Fatalf("call %s is no error: %+v", id, r)
	}
	e := r.Structured.Error
	if want := string(e.Kind) + ": " + e.Error(); r.Content[0].Text != want {
		c.t.Errorf("text is %q, want %q", r.Content[0].Text, want)
	}
	return e
}

// rootsOf answers roots/list with folders.
func rootsOf(paths ...string) func() any {
	return func() any {
		list := []map[string]string{}
		for _, path := range paths {
			list = append(list, map[string]string{"uri": "file://" + strings.ReplaceAll(path, " ", "%20")})
		}
		return map[string]any{"roots": list}
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
