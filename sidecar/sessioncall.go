package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/session"
)

const (
	// interruptEvery is how often a call that is to end is sent its signal: a shell leaves one function at a time.
	interruptEvery = 100 * time.Millisecond
	// longestInterrupt is how long a call may take to end after that, before the session does.
	longestInterrupt = 3 * time.Second
	// mostLeft is of how many calls the outputs are listened to after their end, for what they left in the background.
	mostLeft = 16
)

// sessionCall is one call of a session.
type sessionCall struct {
	k     *kept
	e     *Engine
	r     Request
	clock clock

	mu      sync.Mutex
	printed int64
	limit   string
	over    chan struct{} // closed when it has printed too much
	denials []protocol.Denial
}

// do does the call. The session stands, and the call has its turn.
func (c *sessionCall) do(ctx context.Context) (protocol.RunResult, error) {
	k := c.k
	p := k.forCall(c.r)
	c.over = make(chan struct{})
	if c.r.Control != nil {
		c.r.Control(k.control)
	}
	out := p.captures(c.e, true)
	defer out.close()
	if c.r.Live != nil {
		c.r.Live(out.live)
	}
	c.r.noted.environment(p.ws.Root, p.env)
	c.r.noted.conceals(c.e.variables(c.r))
	c.r.noted.call(p, k.policyText())
	k.holds()
	over := c.r.Phases.Begin(phases.Program)
	end, answer, err := c.converse(ctx, p, out)
	if over(); err != nil {
		return protocol.RunResult{}, err
	}
	result := p.result(end, out, c.findings(answer != nil), false)
	result.Start, result.Denied = protocol.StartSession, c.refusals()
	c.tell(&result, answer)
	return result, nil
}

// forCall is what the session was made ready by, for one of its calls.
func (k *kept) forCall(r Request) *prepared {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ws := *k.prep, *k.prep.ws
	ws.Notes = slices.Clip(ws.Notes)
	p.id, p.ws, p.lease = r.ID, &ws, nil
	p.plan.Limits.Time = timeout(r.Params, k.settings.Limits)
	p.plan.Limits.Output = int64(k.settings.Limits.Output)
	return &p
}

// converse hands the call over and waits for its end. The answer is nil when the session ended first.
func (c *sessionCall) converse(ctx context.Context, p *prepared, out captures) (end sandbox.End, answer *session.Answer, err error) {
	k := c.k
	heard := k.converses()
	defer heard()
	request, err := c.request(p)
	if err != nil {
		return end, nil, err
	}
	outputs := session.Outputs{Stdout: c.counts(out, protocol.Stdout), Stderr: c.counts(out, protocol.Stderr), Late: &k.late}
	if c.r.Stdin != nil || c.r.Params.Stdin != "" {
		outputs.Stdin = c.r.input()
	}
	finished := make(chan struct{})
	watched := make(chan struct{})
	c.clock.begin()
	go func() {
		defer close(watched)
		c.watch(ctx, p.plan.Limits.Time, finished)
	}()
	call, err := k.folder.Call(k.driver, request, outputs)
	if err == nil {
		k.asked = c.r.Params.Cwd // what the driver has heard
		var a session.Answer
		if a, err = call.Wait(); err == nil && a.Ends {
			k.ends("its code ended it")
		} else if err == nil {
			answer = &a
		}
	}
	heard()
	if answer != nil {
		call.Finish()
	}
	gone := answer == nil && (err == nil || errors.Is(err, session.ErrClosed) || k.hasEnded())
	if gone { // what it does at its end is still the call's
		<-k.done
	}
	close(finished)
	<-watched
	switch {
	case gone:
		if call != nil {
			call.Abandon()
		}
		return c.died(c.ending(ctx, nil)), nil, nil
	case err != nil: // the session has heard nothing of it
		return end, nil, &protocol.Error{Kind: protocol.Internal, Message: err.Error(), Err: err, Hint: "the folder it names must have room, and the sidecar descriptors left (ulimit -n)"}
	}
	k.keepsLeft(call)
	return c.ending(ctx, answer), answer, nil
}

// request is what the driver is given.
func (c *sessionCall) request(p *prepared) (session.Request, error) {
	r := c.r.Params
	request := session.Request{Code: r.Code, Args: r.Args, Env: r.Env}
	if r.Cwd == c.k.asked { // clients always name a folder: where the code has gone since is its own matter
		return request, nil
	}
	var err error
	request.Dir, err = workingDir(p.ws.Root, r.Cwd)
	return request, err
}

// ending is how the call ended, by its answer.
func (c *sessionCall) ending(ctx context.Context, a *session.Answer) sandbox.End {
	end := sandbox.End{Limit: c.limitNow(), ExitCode: -1, Grouped: c.k.prep.plan.Groups != ""}
	if a == nil {
		end.Cancelled = ctx.Err() != nil
		return end
	}
	end.ExitCode = a.Status
	if !a.Interrupted { // it was faster, or did not mind: Perl's system(3) ignores what ends the program that it waits for
		return end
	}
	end.Signal = int(syscall.SIGINT)
	end.Cancelled = ctx.Err() != nil && end.Limit == ""
	return end
}

// died is how the call of a session ended that ended in it.
func (c *sessionCall) died(end sandbox.End) sandbox.End {
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	r := c.k.result
	end.ExitCode, end.Limit = r.ExitCode, cmp.Or(end.Limit, r.Limit)
	if n := signalNumber(r.Signal); n != 0 {
		end.Signal = n
	}
	end.MaxRSS = r.MaxRSS
	return end
}

// findings are what the guard has found since the call before, and with the session's end what its audit did.
func (c *sessionCall) findings(lives bool) []protocol.Finding {
	var all []protocol.Finding
	if lives {
		all = findings(c.k.watch.Look(len(c.k.prep.linked) > 0))
	}
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	return append(c.e.pending.take(), c.k.untold(append(all, c.k.atEnd...))...)
}

// refused takes note of a denial; refusals are all, counted.
func (c *sessionCall) refused(d protocol.Denial) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := func(o protocol.Denial) bool { return o.Host == d.Host && o.Port == d.Port && o.Method == d.Method }
	if i := slices.IndexFunc(c.denials, same); i >= 0 {
		c.denials[i].Count++
		return
	}
	d.Count = 1
	if len(c.denials) < mostDenials {
		c.denials = append(c.denials, d)
	}
}

// mostDenials is how many different things a result says that a call was refused.
const mostDenials = 1000

func (c *sessionCall) refusals() []protocol.Denial {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.denials
}

// tell says in the result what there is to say of the session.
func (c *sessionCall) tell(r *protocol.RunResult, answer *session.Answer) {
	k := c.k
	k.mu.Lock()
	k.calls++
	k.used = time.Now()
	s := &protocol.SessionCall{Name: k.key.name, Call: k.calls, Lost: k.lost}
	if k.ended {
		s.Ended = cmp.Or(k.why, "it was closed")
	}
	k.mu.Unlock()
	k.lost = ""
	r.Session = s
	if s.Lost != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("this is a new session %q: the state of the earlier one is gone, because %s", s.Name, s.Lost))
	}
	if text := k.late.take(); text != "" {
		r.Notes = append(r.Notes, text)
	}
	switch {
	case s.Ended != "":
		r.Notes = append(r.Notes, fmt.Sprintf("the session %q has ended: %s; its variables are gone, and the next call starts a new one", s.Name, s.Ended))
	case answer != nil && answer.Interrupted:
		r.Notes = append(r.Notes, "the call was interrupted; the session goes on, with its state")
	}
	if k.idle != nil && s.Ended == "" {
		k.idle.Reset(k.settings.Sessions.Idle)
	}
}

// keepsLeft goes on listening to what a call has left behind, and to a bounded number of others.
func (k *kept) keepsLeft(call *session.Call) {
	k.left = slices.DeleteFunc(k.left, func(c *session.Call) bool { return !c.Lingers() })
	if call.Lingers() {
		k.left = append(k.left, call)
	}
	if len(k.left) > mostLeft {
		k.left[0].Close()
		k.left = k.left[1:]
	}
}
