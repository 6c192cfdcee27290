package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
	"code.sidecar.dev/workspace"
)

// input hands standard input to a run, and answers when the program has taken it. Pieces are handed over in the order
// of their arrival.
func (c *client) input(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.InputParams](protocol.MethodInput, raw)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	r := c.tokens[p.Token]
	c.mu.Unlock()
	switch {
	case r == nil: // it may just have ended
		return protocol.Empty{}, nil
	case r.input == nil:
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "the run takes no input", Hint: "set streamStdin in sidecar/run"}
	}
	before, done := r.queue()
	rpc.Release(ctx)
	defer close(done)
	if before != nil {
		<-before
	}
	r.feed(p)
	return protocol.Empty{}, nil
}

// feed hands over one piece. It returns when the program has taken it, or the run has ended.
func (n *run) feed(p protocol.InputParams) {
	if len(p.Data) > 0 {
		_, _ = n.input.Write(p.Data) // a program need not read all that it is given
	}
	if p.End {
		_ = n.input.Close()
	}
}

// cancel ends a run, whoever asked for it.
func (c *client) cancel(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.CancelParams](protocol.MethodCancel, raw)
	if err != nil {
		return nil, err
	}
	r, err := c.named(p)
	if err != nil {
		if past, ok := c.server.past(ctx, p.ID); ok && past.Run.End != nil {
			return protocol.CancelResult{}, nil
		}
		return nil, err
	}
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	r.cancel()
	return protocol.CancelResult{Cancelled: !ended}, nil
}

// named is the run that is meant.
func (c *client) named(p protocol.CancelParams) (*run, error) {
	if p.ID != "" {
		return c.server.runs.find(p.ID)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.tokens[p.Token]; r != nil {
		return r, nil
	}
	return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("no run of yours has the token %.60q", p.Token), Hint: "name a run by its id, or one of your own by its token"}
}

// runs lists runs.
func (c *client) runs(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.RunsParams](protocol.MethodRuns, raw)
	if err != nil {
		return nil, err
	}
	return protocol.RunsResult{Runs: c.server.listed(ctx, p)}, nil
}

// envs says what code can run with.
func (c *client) envs(context.Context, json.RawMessage) (any, error) {
	e, err := c.engine()
	if err != nil {
		return nil, err
	}
	list, err := e.Environments(c.server.o.Root)
	if err != nil {
		return nil, err
	}
	return protocol.EnvsResult{Environments: list}, nil
}

// stopServer ends the sidecar.
func (c *client) stopServer(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.StopParams](protocol.MethodStop, raw)
	if err != nil {
		return nil, err
	}
	c.server.log.Info("ending: asked to", "by", c.name(), "finish", p.Finish)
	go c.server.end(p.Finish)
	return protocol.Empty{}, nil
}

// status says how this sidecar is.
func (c *client) status(context.Context, json.RawMessage) (any, error) {
	s := c.server
	r := protocol.StatusResult{Workspace: s.o.Root, PID: os.Getpid(), Socket: s.socket, Build: s.o.Build, Started: s.started, Memory: resident(),
		Clients: s.clientList(), Runs: s.runs.live(), RunsBefore: s.runs.ran(), Sessions: s.engine.Sessions(), Ending: s.isEnding()}
	if ws, err := workspace.Discover(s.o.Root, workspace.Options{Env: os.Getenv}); err == nil && ws.Repo != nil {
		r.Branch, r.Worktree = ws.Repo.Branch, ws.Repo.Linked
		if r.Worktree {
			r.CommonDir = ws.Repo.CommonDir
		}
	}
	return r, nil
}

func (s *Server) clientList() []protocol.Client {
	out := []protocol.Client{}
	for _, c := range s.everyone() {
		if !c.isNeed() {
			continue
		}
		c.mu.Lock()
		info := c.info
		c.mu.Unlock()
		version, _ := info.Version.Get()
		out = append(out, protocol.Client{Name: info.Name, Version: version, PID: c.pid, Since: c.since, Runs: s.runs.of(c)})
	}
	return out
}

// resident is this process's resident memory: the second number of /proc/self/statm, in pages (proc(5)).
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// quoted is a text of a client's, for a message.
func quoted(s string) string { return fmt.Sprintf("%.80q", s) }
