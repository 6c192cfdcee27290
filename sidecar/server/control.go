package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// control is the way to the sandbox of a run. An attempt that is made anew has a sandbox of its own.
type control struct {
	mu   sync.Mutex
	to   *sandbox.Control
	size *sandbox.Terminal
}

// begins takes note of a sandbox that is about to start.
func (c *control) begins(to *sandbox.Control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to = to; c.size != nil {
		to.Resize(*c.size)
	}
}

// tell does something with the sandbox, if it stands or will.
func (c *control) tell(what func(*sandbox.Control)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to != nil {
		what(c.to)
	}
}

// resize gives a terminal another size, also one that is not there yet.
func (c *control) resize(t sandbox.Terminal) {
	c.mu.Lock()
	c.size = &t
	c.mu.Unlock()
	c.tell(func(to *sandbox.Control) { to.Resize(t) })
}

// signals are those that a client may send, by their names without SIG. Of those that stop, only the one that a program
// can handle is among them: nobody might let it go on.
var signals = []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGKILL, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGWINCH, unix.SIGCONT, unix.SIGTSTP}

// signalNamed finds a signal by its name, with or without SIG.
func signalNamed(name string) (syscall.Signal, error) {
	for _, s := range signals {
		if unix.SignalName(s) == "SIG"+strings.TrimPrefix(strings.ToUpper(name), "SIG") {
			return s, nil
		}
	}
	var known []string
	for _, s := range signals {
		known = append(known, strings.TrimPrefix(unix.SignalName(s), "SIG"))
	}
	slices.Sort(known)
	return 0, &protocol.Error{Kind: protocol.BadRequest, Message: "no signal " + quoted(name) + " can be sent to a run", Hint: "those are " + strings.Join(known, ", ")}
}

// signal sends a signal to a run's program.
func (c *client) signal(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.SignalParams](protocol.MethodSignal, raw)
	if err != nil {
		return nil, err
	}
	signal, err := signalNamed(p.Signal)
	if err != nil {
		return nil, err
	}
	r, err := c.named(protocol.CancelParams{ID: p.ID, Token: p.Token})
	if err != nil {
		return nil, err
	}
	r.tell(func(to *sandbox.Control) {
		if signal == unix.SIGCONT {
			to.Continue()
			return
		}
		to.Signal(int(signal))
	})
	return protocol.Empty{}, nil
}

// resize gives the terminal of a client's run another size.
func (c *client) resize(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.ResizeParams](protocol.MethodResize, raw)
	if err != nil {
		return nil, err
	}
	const most = 1<<16 - 1 // struct winsize
	if p.Rows <= 0 || p.Columns <= 0 || p.Rows > most || p.Columns > most {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("a terminal of %d rows and %d columns", p.Rows, p.Columns), Hint: fmt.Sprintf("give each from 1 to %d", most)}
	}
	r, err := c.named(protocol.CancelParams{Token: p.Token})
	if err != nil {
		return nil, err
	}
	r.resize(sandbox.Terminal{Rows: p.Rows, Columns: p.Columns})
	return protocol.Empty{}, nil
}

// begun takes note of the sandbox of a run, and tells who asked for it that the program starts.
func (s *Server) begun(r *run, to *sandbox.Control) {
	r.begins(to)
	r.asker.peer.Push(protocol.MethodBegun, protocol.BegunParams{ID: r.id, Token: r.token})
}

// stopped tells who asked for a run that its program was stopped.
func (s *Server) stopped(r *run, signal int) {
	name := strings.TrimPrefix(unix.SignalName(syscall.Signal(signal)), "SIG")
	r.asker.peer.Push(protocol.MethodStopped, protocol.StoppedParams{ID: r.id, Token: r.token, Signal: name})
}
