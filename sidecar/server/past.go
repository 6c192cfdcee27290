package server

import (
	"context"
	"encoding/json"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/history"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// Recording is how an engine writes to a history, which is closed with it.
func Recording(h *history.Store) sidecar.History {
	return sidecar.History{Write: h.Write, Close: h.Close, Tidy: func(ctx context.Context, age time.Duration, size int64) error {
		return h.Tidy(ctx, history.Keeping{Age: age, Size: size}, time.Now())
	}}
}

// listedRuns is how many runs one answer has, unless more are asked for.
const listedRuns = 200

// listed are the runs of this workspace: those of this sidecar, which knows best how they are, and from the history those
// of the sidecars before it.
func (s *Server) listed(ctx context.Context, p protocol.RunsParams) []protocol.Run {
	if p.Limit <= 0 {
		p.Limit = listedRuns
	}
	own := s.runs.list()
	if p.Live { // one that ends lists its own
		return p.Of(own)
	}
	past, err := s.history.List(ctx, s.o.Root, p)
	if err != nil {
		s.log.Warn("the history cannot be read", "err", err)
	}
	return p.Of(own, past)
}

// past is what the history has of a run of this workspace.
func (s *Server) past(ctx context.Context, id string) (protocol.RunRecord, bool) {
	r, ok, err := s.history.Get(ctx, id)
	if err != nil {
		s.log.Warn("the history cannot be read", "err", err)
	}
	return r, ok && r.Run.Workspace == s.o.Root
}

// outputOf is a stream as the history has it.
func outputOf(r protocol.RunRecord, s protocol.Stream) sidecar.Kept {
	o := r.Stdout
	if s == protocol.Stderr {
		o = r.Stderr
	}
	if o.Text != "" { // which may have another length than what was printed
		o.Bytes = int64(len(o.Text))
	}
	return sidecar.Kept{Total: o.Bytes, Head: []byte(o.Text), File: o.File}
}

// record gives all that the history has of a run.
func (c *client) record(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[protocol.RecordParams](protocol.MethodRecord, raw)
	if err != nil {
		return nil, err
	}
	if r, ok := c.server.past(ctx, p.ID); ok {
		return r, nil
	}
	return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "the history has no run " + quoted(p.ID) + " of this workspace", Hint: "ask `sidecar runs` (sidecar/runs) for those that it has; history.keep may be off"}
}
