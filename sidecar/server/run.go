package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
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
	r := &run{id: sidecar.NewID(), token: req.Token, asker: c, cancel: cancel}
	if req.StreamStdin {
		r.stdin, r.input = io.Pipe()
	}
	r.shown = shown(r, req)
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

// shown is a run as clients see it, at its beginning. It is kept for long and sent to all, so what a client may make
// as long as it likes is cut.
func shown(r *run, req protocol.RunRequest) protocol.Run {
	who := req.Client
	if who == "" {
		who = r.asker.name()
	}
	return protocol.Run{ID: r.id, Client: head(who, shownName), Language: head(req.Language, shownName), Command: heads(req.Command), Code: head(req.Code, shownCode),
		CodeBytes: len(req.Code), Cwd: head(req.Cwd, shownCode), Started: time.Now()}
}

// head is the beginning of a text, without a part of a character at its end.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := []byte(text[:most])
	return string(cut[:most-protocol.Unfinished(cut)]) + "…"
}

// heads is the beginning of a command.
func heads(command []string) []string {
	var out []string
	left := shownCode
	for i, word := range command {
		if left <= 0 {
			return append(out, fmt.Sprintf("… %d more", len(command)-i))
		}
		out = append(out, head(word, left))
		left -= len(word) + 1
	}
	return out
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
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return result, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled before it started"}
	}
	engine, err := r.asker.engine()
	if err == nil {
		err = engine.Check(req.RunParams)
	}
	if err != nil {
		return result, err
	}
	announced = true
	s.announce(protocol.MethodRunStarted, r)
	out := s.output(ctx, r, req, engine.Longest(req.RunParams))
	request := sidecar.Request{ID: r.id, Dir: s.o.Root, Params: req.RunParams, Sink: out.write, Live: r.started, Building: func(b protocol.Building) { s.building(r, b) }}
	if r.stdin != nil {
		request.Stdin = r.stdin
	}
	result, err = engine.Do(ctx, request)
	out.end()
	for _, f := range result.Findings {
		s.found(r.id, f)
	}
	return result, err
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

// found tells every client of a finding.
func (s *Server) found(id string, f protocol.Finding) {
	for _, c := range s.everyone() {
		if events, _ := c.wants(); events {
			c.peer.Push(protocol.MethodFinding, protocol.FindingParams{ID: id, Finding: f})
		}
	}
}
