package sidecar

import (
	"context"
	"fmt"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/guard"
)

// longestStart is how long an interpreter may take to start, when its sandbox stands.
const longestStart = time.Minute

// start starts the session, for its first call.
func (k *kept) start(ctx context.Context, e *Engine, r Request) error {
	k.settings, k.first, k.asked = e.settings, r.Params, r.Params.Cwd
	folder, lost, err := e.sessionFolder(k)
	if err != nil {
		k.end("")
		return err
	}
	if k.lost = k.m.takeLost(k.key); k.lost == "" && lost {
		k.lost = sidecarEnded
	}
	k.folder = folder
	k.late.limit = int64(e.settings.Limits.Output)
	k.late.over = func() { k.end("what its calls left running printed more than limits.output") }
	p := r.Params
	request := Request{ID: k.id, Dir: r.Dir, Source: r.Source, Ask: Ask{calls: folder.Dir()}, Sink: k.late.sink, Building: r.Building, cold: true, standing: k.stands,
		Params: protocol.RunParams{Language: p.Language, Code: k.driver.Code, Environment: p.Environment, Packages: p.Packages, Files: p.Files, WritableFiles: p.WritableFiles, Cwd: p.Cwd, Client: p.Client},
		Denied: k.denied}
	if r.Approve != nil {
		request.Approve = k.approve
	}
	if !k.begins() {
		folder.Close()
		return &protocol.Error{Kind: protocol.Cancelled, Message: "the session was closed before it started"}
	}
	go k.run(e, request)
	ready, stop := context.WithCancel(ctx)
	defer stop()
	context.AfterFunc(k.life, stop)
	if err := folder.Ready(ready); err != nil {
		k.end("")
		<-k.done
		return unstarted(ctx, k.err, err)
	}
	k.mu.Lock()
	k.starting.Stop()
	k.mu.Unlock()
	k.lasts(e.settings.Sessions)
	return nil
}

// begins says that the session's run may start: it was not ended meanwhile.
func (k *kept) begins() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return false
	}
	k.running, k.started, k.used = true, time.Now(), time.Now()
	return true
}

// unstarted is why a session did not start.
func unstarted(ctx context.Context, run, ready error) error {
	switch {
	case ctx.Err() != nil:
		return &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled before it started", Err: ctx.Err()}
	case run != nil:
		return run
	}
	return &protocol.Error{Kind: protocol.Internal, Message: "the session's interpreter ended at its start", Err: ready,
		Hint: "run the code without a session to see what the interpreter says"}
}

// run is the session's whole life.
func (k *kept) run(e *Engine, r Request) {
	result, err := e.Do(k.life, r)
	k.mu.Lock()
	heard := k.heard
	k.mu.Unlock()
	if heard != nil { // what it has answered before its end says why
		k.folder.End()
		<-heard
	}
	k.mu.Lock()
	k.result, k.err = result, err
	if !k.ended {
		k.ended, k.why = true, died(result, err)
	}
	why, c := k.why, k.call
	if k.atEnd = result.Findings; c != nil { // which tells them
		result.Findings = nil
	}
	fresh := k.untold(result.Findings)
	k.mu.Unlock()
	k.stop(errSessionEnded)
	k.folder.Close()
	if why == sidecarEnded {
		keepRecord(k.folder.Dir())
	}
	e.pending.add(fresh)
	for _, f := range fresh {
		e.found(k.id, f)
	}
	k.m.forgetSession(k, why)
	close(k.done)
}

// died says why a session is gone that nobody ended.
func died(r protocol.RunResult, err error) string {
	switch {
	case err != nil:
		return "it could not be started"
	case r.Limit == sandbox.LimitMemory:
		return "it used more memory than limits.memory"
	case r.Limit != "":
		return "it was stopped at the limit of " + r.Limit
	case r.Signal != "":
		return "its interpreter was ended by " + r.Signal
	}
	return fmt.Sprintf("its interpreter ended with status %d", r.ExitCode)
}

// stands takes note of the sandbox.
func (k *kept) stands(p *prepared, c *sandbox.Control, w *guard.Watch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.prep, k.control, k.watch = p, c, w
	k.starting = time.AfterFunc(longestStart, func() { k.end("") })
}

// lasts has the session end when it is idle, or old.
func (k *kept) lasts(s config.Sessions) {
	idle := time.AfterFunc(s.Idle, func() {
		select {
		case k.turn <- struct{}{}:
			if time.Since(k.lastUse()) >= s.Idle {
				k.end(fmt.Sprintf("nobody used it for %v (sessions.idle)", s.Idle))
			}
			k.give()
		default: // it is used
		}
	})
	old := time.AfterFunc(s.Lifetime, func() {
		if k.take(k.life) == nil {
			k.end(fmt.Sprintf("it lived for %v (sessions.lifetime)", s.Lifetime))
			k.give()
		}
	})
	context.AfterFunc(k.life, func() {
		old.Stop()
		idle.Stop()
	})
	k.idle = idle
}

func (k *kept) lastUse() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.used
}
