package server

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// questions counts those of this sidecar.
var questions atomic.Int64

// approvers are the clients that can ask a person about a run.
func (s *Server) approvers(r *run) []*client {
	var out []*client
	for _, c := range s.everyone() {
		c.mu.Lock()
		if c.state == initialized && (c.options.Approvals || c == r.asker && r.approvals) {
			out = append(out, c)
		}
		c.mu.Unlock()
	}
	return out
}

// approve is how a run asks a person; nil when nobody can be asked as it starts.
func (s *Server) approve(ctx context.Context, r *run) func(context.Context, protocol.Question) protocol.Answer {
	if !s.canAsk(ctx, r) {
		return nil
	}
	return func(ctx context.Context, q protocol.Question) protocol.Answer {
		q.ID, q.Run, q.Client = strconv.FormatInt(questions.Add(1), 10), r.id, r.show().Client
		if q.Kind == protocol.AskNetwork {
			q.File = r.asker.settingsFile()
		}
		answer := s.ask(ctx, r, q)
		s.log.Info("a person was asked", "about", q.Kind, "subject", q.Subject, "run", r.id, "answer", answer)
		if answer == protocol.Always {
			s.keep(q)
		}
		return answer
	}
}

// meetWithin is how long one who asks for all sidecars takes to find a new one.
const meetWithin = 2 * time.Second

// canAsk says whether somebody can be asked. To a sidecar that has just started, who asks for all may yet come.
func (s *Server) canAsk(ctx context.Context, r *run) bool {
	for until := s.started.Add(meetWithin); ; {
		if len(s.approvers(r)) > 0 {
			return true
		}
		if time.Now().After(until) || !place.Waits() {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask asks every client that can ask a person; the first answer counts, and the others need none any more. A client that
// goes away, or cannot, has not answered.
func (s *Server) ask(ctx context.Context, r *run, q protocol.Question) protocol.Answer {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all := s.approvers(r)
	answers := make(chan protocol.Answer, len(all))
	for _, c := range all {
		told := q
		if c == r.asker {
			told.Token = r.token
		}
		go func() {
			var result protocol.ApproveResult
			if err := c.peer.Call(ctx, protocol.MethodApprove, told, &result); err != nil {
				result.Answer = ""
			}
			answers <- result.Answer
		}()
	}
	for range all {
		select {
		case answer := <-answers:
			if answer != "" {
				return answer
			}
		case <-ctx.Done():
			return protocol.No
		}
	}
	return protocol.No
}

// keep writes an answer for good into the settings of who asked for the run. What cannot be written holds for this run.
func (s *Server) keep(q protocol.Question) {
	if err := sidecar.Keep(q); err != nil {
		s.log.Warn("an answer that was to hold from now on cannot be written", "file", q.File, "subject", q.Subject, "err", err)
	}
}

// settingsFile is where this client's person has settings.
func (c *client) settingsFile() string { return c.sources().Person() }
