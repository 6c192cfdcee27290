// Package mcp is the edge that speaks the Model Context Protocol: one client on stdin and stdout, two tools.
//
//	err := mcp.Serve(ctx, os.Stdin, os.Stdout, mcp.Options{Name: "sidecar", Run: engine.Run, Envs: engine.Envs})
//
// It decides which workspace a call means, turns arguments into protocol.RunParams and results into what models
// read, carries output as progress, has the person asked what a run waits for, and cancels runs. It holds nothing off: the
// sandbox behind Run does that. What a client says about roots is an input here, never a boundary.
//
// A person's answers come by elicitation, which the protocol has clients put to the user and never to the model. A client
// that answers in the user's place could as well write the user's settings: it is a program of theirs.
package mcp

import (
	"context"
	"io"
	"log/slog"

	"code.sidecar.dev/sidecar/protocol"
)

// RunFunc executes one run in the workspace at root, which came from source ("roots", "--workspace", …). It tells w
// while it lasts, stops when ctx ends, and returns only after everything it started is gone.
type RunFunc func(ctx context.Context, root, source string, p protocol.RunParams, w Watch) (protocol.RunResult, error)

// Watch is who sees a run while it lasts.
type Watch struct {
	// Output takes output. Building is told how far the run's environment is.
	Output   func(protocol.Stream, []byte)
	Building func(protocol.Building)
	// Approve asks the person at the client's end and waits for the answer until ctx ends; "" is none, and leaves it to
	// others that can ask. Nil is a client that cannot.
	Approve func(ctx context.Context, q protocol.Question) protocol.Answer
	// TraceParent and TraceState are the trace that the call is part of, as the client says it.
	TraceParent, TraceState string
}

// SessionsFunc lists the named sessions of the workspace at root.
type SessionsFunc func(ctx context.Context, root string) ([]protocol.NamedSession, error)

// CloseSessionFunc ends named sessions of the workspace at root, and gives those that it has ended.
type CloseSessionFunc func(ctx context.Context, root string, p protocol.CloseSessionParams) ([]protocol.NamedSession, error)

// EnvsFunc says what code can run with in the workspace at root.
type EnvsFunc func(ctx context.Context, root string) ([]protocol.Environment, error)

// Options say who serves, where, and what does the work.
type Options struct {
	// Name and Version are what the client is told about this server.
	Name, Version string
	// Log takes what a person who looks into a problem wants to read; nil is nobody.
	Log *slog.Logger
	// Flag is the value of --workspace; "" when it was not given.
	Flag string
	// Getenv reads the host's environment; nil is an empty one.
	Getenv func(string) string
	// Notes are for the person: the first result has them.
	Notes []string
	// Dir is the working folder, Home the user's home; both absolute.
	Dir, Home string
	// NoDir is why there is no working folder; Dir is / then.
	NoDir error
	// Run does a run; Envs lists the environments.
	Run  RunFunc
	Envs EnvsFunc
	// Sessions lists the named sessions of a workspace, and CloseSession ends some.
	Sessions     SessionsFunc
	CloseSession CloseSessionFunc
}

// Serve speaks MCP on in and out until in ends, the peer is gone or ctx ends. Then it cancels the runs that are
// left, waits for them and returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	c := newConn(ctx, out, o.filled())
	watchHangup(c.ctx, out, func() { c.stop(errHangup) })
	read := make(chan error, 1)
	go func() { read <- c.read(newLines(in)) }()
	err := c.ended(read)
	c.shut()
	return err
}

// ended waits for the first sign that it is over. A client that hangs up ends a connection as well as one that
// closes it.
func (c *conn) ended(read <-chan error) error {
	select {
	case err := <-read:
		return err
	case <-c.ctx.Done():
	}
	if err := context.Cause(c.ctx); err != errHangup {
		return err
	}
	return nil
}

// filled has no nil functions.
func (o Options) filled() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return o
}
