package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
	"code.sidecar.dev/sidecar/telemetry"
)

// run does a run for a client. It is entered before anything behind the request is read, so that its input and its
// cancellation find it.
func (c *client) run(ctx context.Context, raw json.RawMessage) (any, error) {
	req, err := rpc.Params[protocol.RunRequest](protocol.MethodRun, raw)
	if err != nil {
		return nil, err
	}
	ctx, r, err := c.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	rpc.Release(ctx)
	result, err := c.server.do(ctx, r, req)
	return result, err
}

// begin enters a run.
func (c *client) begin(ctx context.Context, req protocol.RunRequest) (context.Context, *run, error) {
	if !c.server.there() {
		c.server.end(true) // before the answer: who asks again must not come here
		return nil, nil, &protocol.Error{Kind: protocol.Gone, Message: "the workspace " + c.server.o.Root + " was moved or replaced; its sidecar ends", Hint: "ask again"}
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &run{id: sidecar.NewID(), token: req.Token, approvals: req.Approvals, asker: c, cancel: cancel, control: new(control)}
	if req.StreamStdin {
		r.stdin, r.input = io.Pipe()
	}
	r.shown = c.shown(r.id, req)
	r.phases = phases.If(req.Trace || telemetry.Wanted(c.sources().Env), time.Now())
	if err := c.enter(r); err != nil {
		r.closeInput()
		cancel()
		return nil, nil, err
	}
	return ctx, r, nil
}

// enter gives a run its token and makes the server wait for it.
func (c *client) enter(r *run) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.token != "" && c.tokens[r.token] != nil {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the token %.60q is that of a run which goes on", r.token), Hint: "choose another one"}
	}
	if !c.server.takes(r) {
		return &protocol.Error{Kind: protocol.Gone, Message: "this sidecar is ending and takes no further runs", Hint: "connect anew: the next one takes its place"}
	}
	if r.token != "" {
		c.tokens[r.token] = r
	}
	return nil
}

// takes enters a run unless the server is ending; it then ends after it.
func (s *Server) takes(r *run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.runs.add(r)
	return true
}

// shown is a run as clients see it, at its beginning.
func (c *client) shown(id string, req protocol.RunRequest) protocol.Run {
	if req.Client == "" {
		req.Client = c.name()
	}
	return sidecar.Shown(id, req, time.Now())
}

// do does a run and tells everybody.
func (s *Server) do(ctx context.Context, r *run, req protocol.RunRequest) (result protocol.RunResult, err error) {
	defer r.asker.forget(r)
	defer s.runs.remove(r)
	defer r.closeInput()
	announced := false
	defer func() {
		if r.end(result, protocol.AsError(err)); announced {
			s.announce(protocol.MethodRunEnded, r)
		}
	}()
	asked := sidecar.Ask{Terminal: req.Terminal, Session: req.Session, Allow: req.Allow}
	begun := r.show()
	request := sidecar.Request{ID: r.id, Dir: s.o.Root, Params: req.RunParams, Ask: asked, Shown: &begun, Phases: r.phases, TraceParent: req.TraceParent, TraceState: req.TraceState}
	defer func() {
		if !announced {
			r.asker.notRun(request, err)
		}
	}()
	queued := r.phases.Begin(phases.Queue)
	done := s.turn(ctx, r.asker.pid)
	if done == nil {
		return result, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled before it started"}
	}
	defer done()
	queued()
	read := r.phases.Begin(phases.Settings)
	engine, err := r.asker.engine()
	if err == nil {
		err = engine.Check(req.RunParams, asked)
	}
	if read(); err != nil {
		return result, err
	}
	req.Command = engine.Command(req.RunParams, asked)
	r.runs(req)
	request.Params, begun = req.RunParams, r.show()
	announced = true
	s.announce(protocol.MethodRunStarted, r)
	out := s.output(ctx, r, req, engine.Longest(req.RunParams, asked))
	request.Sink, request.Live, request.Building = out.write, r.started, func(b protocol.Building) { s.building(r, b) }
	request.Control, request.Stopped = func(to *sandbox.Control) { s.begun(r, to) }, func(signal int) { s.stopped(r, signal) }
	request.Denied, request.Approve = func(d protocol.Denial) { s.denied(r, d) }, s.approve(ctx, r)
	if r.stdin != nil {
		request.Stdin = r.stdin
	}
	result, err = engine.Do(ctx, request)
	out.end()
	if req.Trace {
		result.Phases = r.phases.List()
	}
	for _, f := range result.Findings {
		s.found(r.id, f)
	}
	return result, err
}

// notRun has a request written down that came to no run. With settings that cannot be read nobody knows whether it may be.
func (c *client) notRun(r sidecar.Request, err error) {
	if engine, broken := c.engine(); broken == nil {
		engine.NotRun(r, err)
	}
}

// closeInput lets go of who still hands over input, also for a run that never began.
func (n *run) closeInput() {
	if n.stdin != nil {
		_ = n.stdin.Close()
	}
}

// forget frees a run's token.
func (c *client) forget(r *run) {
	r.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens[r.token] == r {
		delete(c.tokens, r.token)
	}
	for key := range c.dropped {
		if key.id == r.id {
			delete(c.dropped, key)
		}
	}
}

// announce tells every client of a run's start or end.
func (s *Server) announce(method string, r *run) {
	event := protocol.RunEvent{Run: r.show()}
	for _, c := range s.everyone() {
		if events, _ := c.wants(); events || c == r.asker {
			e := event
			if c == r.asker {
				e.Run.Token = r.token
			}
			c.peer.Push(method, e)
		}
	}
}

// building tells every client how far the environment of a run is.
func (s *Server) building(r *run, b protocol.Building) {
	b.ID = r.id
	for _, c := range s.everyone() {
		if events, _ := c.wants(); (events || c == r.asker) && c.peer.Room() { // the next one says it all again
			told := b
			if c == r.asker {
				told.Token = r.token
			}
			c.peer.Push(protocol.MethodBuilding, told)
		}
	}
}

// denied tells every client what a run was refused.
func (s *Server) denied(r *run, d protocol.Denial) {
	for _, c := range s.everyone() {
		if events, _ := c.wants(); (events || c == r.asker) && c.peer.Room() { // the result has all of them
			told := protocol.DeniedParams{ID: r.id, Denial: d}
			if c == r.asker {
				told.Token = r.token
			}
			c.peer.Push(protocol.MethodDenied, told)
		}
	}
}

// found tells every client of a finding.
func (s *Server) found(id string, f protocol.Finding) {
	for _, c := range s.everyone() {
		if events, _ := c.wants(); events {
			c.peer.Push(protocol.MethodFinding, protocol.FindingParams{ID: id, Finding: f})
		}
	}
}
