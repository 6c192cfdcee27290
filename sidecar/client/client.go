// Package client talks to sidecars: it finds the one of a workspace, starts it if none is there, and takes over from
// one of an older program.
//
//	c, err := client.Connect(ctx, root, client.Options{Name: "terminal"})
//	result, err := c.Run(ctx, protocol.RunRequest{RunParams: p}, nil, sink)
//
// Errors are *protocol.Error; one of kind Gone says that the sidecar ended. A run is asked for a second time, of the
// next sidecar, only if it had not started.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// Options say who connects.
type Options struct {
	// Name is what other clients see of this one ("terminal"), Version its own; "" is Build's.
	Name, Version string
	// Build is this program; a sidecar of an older one is asked to make way.
	Build protocol.Build
	// Program starts a sidecar; "" is this process's own. Args precede the workspace.
	Program string
	// Settings are what --config named, if it did, and the person's file.
	ExplicitConfig, ConfigFile string
	// Environment is where settings and programs are looked up; nil is this process's.
	Environment map[string]string
	// Output and Events say what the client wants to see of others' runs; zero is nothing.
	Output protocol.Interest
	Events bool
	// Logs is the least level of the sidecar's log that Seen is told of; "" is nothing.
	Logs string
	// Observer says that the client only looks: no sidecar lives on because of it.
	Observer bool
	// Patience is how long a sidecar may take to answer initialize; 0 is 10 seconds.
	Patience time.Duration
	// Seen takes what the sidecar says by itself, in order; while it waits, so does the sidecar with what this client
	// asked for. Nil is nobody.
	Seen func(method string, params json.RawMessage)
	// Approve asks a person about every run, and waits for the answer until ctx ends; "" leaves it to others, and nil is a
	// client that cannot ask.
	Approve func(ctx context.Context, q protocol.Question) protocol.Answer
	Log     *slog.Logger
}

// Client is a connection to one sidecar.
type Client struct {
	o     Options
	peer  *rpc.Peer
	about protocol.About
	token atomic.Int64

	mu   sync.Mutex
	runs map[string]*pending
}

// pending is a run of this client that goes on.
type pending struct {
	sink     func(protocol.Stream, []byte)
	building func(protocol.Building)
	stopped  func(signal string)
	denied   func(protocol.Denial)
	approve  func(context.Context, protocol.Question) protocol.Answer
	begun    func()
	began    bool
}

// attach speaks with a sidecar that listens at p. The error of place.Nobody says that none does.
func attach(ctx context.Context, p place.Place, o Options) (*Client, error) {
	conn, err := p.Dial(ctx)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{o: o, runs: map[string]*pending{}, about: protocol.About{PID: place.PID(conn)}}
	c.peer = rpc.New(context.Background(), conn, rpc.Options{Handle: c.notified, Log: o.Log})
	if err := c.initialize(ctx); err != nil {
		if outdated(err) { // it is older: it makes way when asked
			return c, err
		}
		c.Close()
		return nil, err
	}
	return c, nil
}

// SilentError is a sidecar that holds its socket and does not answer: it hangs, or was stopped.
type SilentError struct {
	// PID is its process.
	PID int
}

// Error names the process.
func (e *SilentError) Error() string {
	return fmt.Sprintf("the sidecar (process %d) does not answer", e.PID)
}

func silent(pid int) error {
	err := &SilentError{pid}
	return &protocol.Error{Kind: protocol.Gone, Message: err.Error(), Hint: fmt.Sprintf("if it was stopped, go on with `kill -CONT %d`; else end it with `kill -9 %d`: the next request starts another", pid, pid), Err: err}
}

// Attach connects to the sidecar that listens at p, and starts none. One that does not answer is a *SilentError.
func Attach(ctx context.Context, p place.Place, o Options) (*Client, error) {
	c, err := attach(ctx, p, o)
	if err != nil && c != nil {
		c.Close()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// patienceAtFirst is how long a sidecar may take to answer initialize; one that hangs is an error.
const patienceAtFirst = 10 * time.Second

func (c *Client) initialize(outer context.Context) error {
	patience := c.o.Patience
	if patience == 0 {
		patience = patienceAtFirst
	}
	ctx, stop := context.WithTimeout(outer, patience)
	defer stop()
	o := c.o
	if o.Environment == nil {
		o.Environment = environment(os.Environ())
	}
	if o.Version == "" {
		o.Version = o.Build.Version
	}
	options, err := json.Marshal(protocol.InitializeOptions{Protocol: protocol.Version, Output: c.o.Output, Events: &c.o.Events, Observer: c.o.Observer, Approvals: c.o.Approve != nil, Log: c.o.Logs,
		Environment: o.Environment, ConfigFile: c.o.ConfigFile, ExplicitConfig: c.o.ExplicitConfig})
	if err != nil {
		return err
	}
	pid := int32(os.Getpid()) //nolint:gosec // pid_max is 2^22
	var result lsp.InitializeResult
	err = c.peer.Call(ctx, lsp.MethodInitialize, &lsp.InitializeParams{ProcessID: &pid,
		ClientInfo:            lsp.ClientInfo{Name: o.Name, Version: lsp.NewOptional(o.Version)},
		InitializationOptions: lsp.LSPAny(options)}, &result)
	switch {
	case err == nil:
	case outer.Err() != nil:
		return cancelled(outer)
	case ctx.Err() != nil:
		return silent(c.about.PID)
	default:
		return err
	}
	var experimental struct {
		Sidecar protocol.About `json:"sidecar"`
	}
	if err := json.Unmarshal(result.Capabilities.Experimental, &experimental); err != nil {
		return fmt.Errorf("what listens there is no sidecar: %w", err)
	}
	c.about = experimental.Sidecar
	return c.peer.Notify(lsp.MethodInitialized, &lsp.InitializedParams{})
}

// cancelled is the error of a context that ended.
func cancelled(ctx context.Context) error {
	return &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled", Err: ctx.Err()}
}

// environment makes a map of NAME=VALUE.
func environment(list []string) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		if name, value, ok := strings.Cut(kv, "="); ok {
			out[name] = value
		}
	}
	return out
}

// notified takes what the sidecar says by itself.
func (c *Client) notified(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case protocol.MethodApprove:
		q, err := rpc.Params[protocol.Question](method, params)
		if err != nil {
			return nil, err
		}
		return protocol.ApproveResult{Answer: c.approve(ctx, q)}, nil
	case protocol.MethodOutput:
		var p protocol.OutputParams
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if r := c.pending(p.Token); r != nil && r.sink != nil {
			r.sink(p.Stream, p.Bytes)
		}
	case protocol.MethodBuilding:
		var p protocol.Building
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if r := c.pending(p.Token); r != nil && r.building != nil {
			r.building(p)
		}
	case protocol.MethodStopped:
		var p protocol.StoppedParams
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if r := c.pending(p.Token); r != nil && r.stopped != nil {
			r.stopped(p.Signal)
		}
	case protocol.MethodDenied:
		var p protocol.DeniedParams
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if r := c.pending(p.Token); r != nil && r.denied != nil {
			r.denied(p.Denial)
		}
	case protocol.MethodRunStarted:
		var p protocol.RunEvent
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if r := c.pending(p.Run.Token); r != nil {
			c.mu.Lock()
			r.began = true
			c.mu.Unlock()
		}
	case protocol.MethodBegun:
		var p protocol.BegunParams
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		if r := c.pending(p.Token); r != nil {
			r.begun()
		}
	}
	if c.o.Seen != nil {
		c.o.Seen(method, params)
	}
	return nil, nil
}

// approve has a person asked by who asked for the run, if that can, or by who asks about every run. Nobody is no answer.
func (c *Client) approve(ctx context.Context, q protocol.Question) protocol.Answer {
	switch r := c.pending(q.Token); {
	case r != nil && r.approve != nil:
		return r.approve(ctx, q)
	case c.o.Approve != nil:
		return c.o.Approve(ctx, q)
	}
	return ""
}

func (c *Client) pending(token string) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[token]
}

// About is what the sidecar said of itself.
func (c *Client) About() protocol.About { return c.about }

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.peer.Done() }

// Close ends the connection; the sidecar lives on.
func (c *Client) Close() { c.peer.Drop() }

// Call asks for anything else that the protocol has.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.peer.Call(ctx, method, params, result)
}

// Start is Call in the background: it returns when the request is on its way, and gives the answer's error later.
func (c *Client) Start(method string, params, result any) <-chan error {
	return c.peer.Start(method, params, result)
}

// cancelPatience is how long a cancelled run may take to end before its client stops waiting.
const cancelPatience = 15 * time.Second

// Watch is who sees a run while it lasts; each may be nil.
type Watch struct {
	// Output takes output as bytes. Building is told how far the run's environment is.
	Output   func(protocol.Stream, []byte)
	Building func(protocol.Building)
	// Begun is told when the program starts, and how to reach it. Stopped is told that a signal stopped the program of its
	// terminal, Denied of what it was refused.
	Begun   func(Reach)
	Stopped func(signal string)
	Denied  func(protocol.Denial)
	// Approve asks a person about this run, as Options.Approve does about every run.
	Approve func(ctx context.Context, q protocol.Question) protocol.Answer
}

// Reach is the way to a run that goes on.
type Reach struct {
	c     *Client
	token string
}

// Signal sends a signal to the run's program; CONT lets one that was stopped go on.
func (r Reach) Signal(ctx context.Context, name string) error {
	return r.c.Call(ctx, protocol.MethodSignal, protocol.SignalParams{Token: r.token, Signal: name}, nil)
}

// Resize gives the run's terminal another size.
func (r Reach) Resize(ctx context.Context, rows, columns int) error {
	return r.c.Call(ctx, protocol.MethodResize, protocol.ResizeParams{Token: r.token, Rows: rows, Columns: columns}, nil)
}

// Run does a run. stdin is read until the run ends; nil is an empty one. When ctx ends the run is cancelled, and the
// result is what came of it.
func (c *Client) Run(ctx context.Context, req protocol.RunRequest, stdin io.Reader, w Watch) (protocol.RunResult, error) {
	result, _, err := c.run(ctx, req, stdin, w)
	return result, err
}

// run also says whether the run had begun.
func (c *Client) run(ctx context.Context, req protocol.RunRequest, stdin io.Reader, w Watch) (result protocol.RunResult, began bool, err error) {
	if err := checkText(req); err != nil {
		return result, false, err
	}
	req.Token = strconv.FormatInt(c.token.Add(1), 10)
	req.Bytes, req.StreamStdin, req.Approvals = true, stdin != nil, w.Approve != nil
	p := &pending{sink: w.Output, building: w.Building, stopped: w.Stopped, denied: w.Denied, approve: w.Approve, begun: sync.OnceFunc(func() {
		if w.Begun != nil {
			w.Begun(Reach{c, req.Token})
		}
		if stdin != nil { // not before: a run that has to be asked for again must find all of it
			go c.feed(req.Token, stdin)
		}
	})}
	c.mu.Lock()
	c.runs[req.Token] = p
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.runs, req.Token)
		began = p.began
	}()
	answer := new(protocol.RunResult)                         // of its own: it may still be written after we gave up
	answered := c.peer.Start(protocol.MethodRun, req, answer) // a cancel must not overtake it
	select {
	case err = <-answered:
		return *answer, began, err
	case <-ctx.Done():
	}
	go func() {
		_ = c.peer.Call(context.Background(), protocol.MethodCancel, protocol.CancelParams{Token: req.Token}, nil)
	}()
	late := time.NewTimer(cancelPatience)
	defer late.Stop()
	select {
	case err = <-answered:
		return *answer, began, err
	case <-late.C:
		c.Close() // which ends the run on the sidecar's side as well
		return result, began, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled; the sidecar did not say how the run ended"}
	}
}

// feed hands standard input over, a piece at a time, as the program takes it.
func (c *Client) feed(token string, stdin io.Reader) {
	b := make([]byte, 32<<10)
	for {
		n, err := stdin.Read(b)
		p := protocol.InputParams{Token: token, Data: b[:n], End: err != nil}
		if c.pending(token) == nil || c.peer.Call(context.Background(), protocol.MethodInput, p, nil) != nil || err != nil {
			return
		}
	}
}
