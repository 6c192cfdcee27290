package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/session"
	"code.sidecar.dev/workspace/guard"
)

// kept is one named session.
type kept struct {
	m      *machinery
	key    sessionKey
	driver session.Driver
	id     string
	// life ends the session's run; done is closed when that has ended and all is cleared away.
	life context.Context
	stop context.CancelCauseFunc
	done chan struct{}
	// turn is held by the call that goes on.
	turn chan struct{}
	late lateOutput

	// What follows is of who has the turn.
	folder   *session.Folder
	settings config.Settings
	first    protocol.RunParams // of the first call: what the sandbox is made of
	asked    string             // the working folder that a call last asked for
	lost     string
	left     []*session.Call // calls of whose programs some go on
	happened int             // of the guard, when pins were last looked for
	pins     []sandbox.Pin   // made since the session began
	idle     *time.Timer
	shown    string // its policy, for people

	mu      sync.Mutex
	running bool // it has been started
	ended   bool
	why     string
	prep    *prepared
	control *sandbox.Control
	watch   *guard.Watch
	told    map[protocol.Finding]bool
	// starting ends a session whose interpreter does not come up.
	starting *time.Timer
	call     *sessionCall
	heard    chan struct{} // closed when the call that goes on has had its answer
	calls    int
	started  time.Time
	used     time.Time
	result   protocol.RunResult
	atEnd    []protocol.Finding // of its audit
	err      error
}

func newKept(m *machinery, key sessionKey, d session.Driver) *kept {
	k := &kept{m: m, key: key, driver: d, id: NewID(), done: make(chan struct{}), turn: make(chan struct{}, 1), told: map[protocol.Finding]bool{}}
	k.life, k.stop = context.WithCancelCause(context.Background())
	return k
}

// take waits for the call's turn.
func (k *kept) take(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *kept) give() { <-k.turn }

// end ends the session; why is told to its next call, "" is nothing to tell. The first reason stays.
func (k *kept) end(why string) {
	k.mu.Lock()
	if !k.ended {
		k.ended, k.why = true, why
		if !k.running { // nothing of it is there
			k.running = true
			close(k.done)
			k.m.forgetSession(k, why)
		}
	}
	k.mu.Unlock()
	k.stop(errSessionEnded)
}

// ends says why the session is about to end by itself.
func (k *kept) ends(why string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		k.ended, k.why = true, why
	}
}

var errSessionEnded = errors.New("the session was ended")

// hasEnded says that no further call can be served.
func (k *kept) hasEnded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// serve does a call; again says that the session was of no use for it, and another one is to be asked.
func (k *kept) serve(ctx context.Context, e *Engine, r Request) (result protocol.RunResult, again bool, err error) {
	if k.hasEnded() {
		<-k.done
		return result, true, nil
	}
	c := &sessionCall{k: k, e: e, r: r}
	k.begin(c)
	defer k.begin(nil)
	if k.folder == nil {
		if err := k.start(ctx, e, r); err != nil {
			return result, false, err
		}
	} else if !sameSettings(k.settings, e.settings) {
		k.end("the settings have changed")
		<-k.done
		return result, true, nil
	} else if err := k.fits(r.Params); err != nil {
		return result, false, err
	}
	result, err = c.do(ctx)
	return result, false, err
}

// sameSettings says whether two settings come to the same for a session that stands. What a person allows for good while it
// does, it has been given; what is logged is no matter of it.
func sameSettings(a, b config.Settings) bool {
	a.Network.Approved, b.Network.Approved = nil, nil
	a.Log, b.Log = config.Log{}, config.Log{}
	return a.Same(b)
}

// begin takes note of the call that goes on; nil is none.
func (k *kept) begin(c *sessionCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.call = c
}

// policyText is the policy for people.
func (k *kept) policyText() string {
	if k.shown == "" {
		k.shown = PolicyText(k.prep.policy, k.prep.held)
	}
	return k.shown
}

// converses says that an answer is waited for, until what it returns is called, for the first time.
func (k *kept) converses() (over func()) {
	heard := make(chan struct{})
	set := func(to chan struct{}) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.heard = to
	}
	set(heard)
	return sync.OnceFunc(func() {
		set(nil)
		close(heard)
	})
}

// fits refuses what the sandbox of a session that stands cannot give.
func (k *kept) fits(p protocol.RunParams) error {
	var what string
	switch {
	case p.Environment != "" && p.Environment != k.first.Environment && p.Environment != k.prep.env.ID:
		what = fmt.Sprintf("the environment %q", p.Environment)
	case lacks(k.first.Packages, p.Packages):
		what = "further packages"
	case lacks(k.first.Files, p.Files) || lacks(k.first.WritableFiles, p.WritableFiles):
		what = "further files"
	default:
		return nil
	}
	return bad("ask for it under another name, or close this session first", "the session %q was started without %s, which can only be given to its first call", k.key.name, what)
}

func lacks(have, want []string) bool {
	return slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(have, s) })
}

// holds holds what has come to be since the call before, and is to be protected: a repository that a person cloned, say.
func (k *kept) holds() {
	now := k.prep.guard.Happened()
	if now == k.happened {
		return
	}
	k.happened = now
	fresh := newPins(k.pins, k.prep.latePins(k.prep.ws.Copy()))
	if len(fresh) > 0 {
		k.pins = append(k.pins, fresh...)
		k.control.Pin(fresh, nil)
	}
}

// untold are those of the findings that no call was told; from now on they are. The caller has k.mu.
func (k *kept) untold(all []protocol.Finding) (fresh []protocol.Finding) {
	for _, f := range all {
		if !k.told[f] {
			k.told[f] = true
			fresh = append(fresh, f)
		}
	}
	return fresh
}

// show is the session as clients see it; false before it runs.
func (k *kept) show() (protocol.NamedSession, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.prep == nil {
		return protocol.NamedSession{}, false
	}
	s := protocol.NamedSession{Name: k.key.name, Language: k.key.language, Environment: k.prep.env.ID, Interpreter: k.prep.program, Client: k.first.Client,
		Started: k.started, Used: k.used, Calls: k.calls}
	if k.call != nil {
		s.Run = k.call.r.ID
	}
	return s, true
}

// approve asks about the session on behalf of the call that goes on; without one there is nobody to ask.
func (k *kept) approve(ctx context.Context, q protocol.Question) protocol.Answer {
	k.mu.Lock()
	c := k.call
	k.mu.Unlock()
	if c == nil || c.r.Approve == nil {
		return protocol.No
	}
	defer c.clock.hold()()
	return c.r.Approve(ctx, q)
}

// denied is told what the session was refused.
func (k *kept) denied(d protocol.Denial) {
	k.mu.Lock()
	c := k.call
	k.mu.Unlock()
	if c == nil {
		return
	}
	c.refused(d)
	if c.r.Denied != nil {
		c.r.Denied(d)
	}
}
