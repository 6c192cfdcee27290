package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/session"
)

// Named sessions are interpreters that are kept between runs, one for each workspace, name and language (package
// session). Each is one long run of a driver, with its guard, its placeholders and its policy; a call is a run for whoever
// asks for it.

// sessionKey says which session.
type sessionKey struct{ root, name, language string }

// sessions are those of all engines.
type sessions struct {
	mu   sync.Mutex
	open map[sessionKey]*kept
	// lost says why sessions that are gone are, until a call has been told.
	lost map[sessionKey]string
}

// mostLost is of how many sessions is remembered why they are gone.
const mostLost = 1000

// inSession does a run in its session.
func (e *Engine) inSession(ctx context.Context, r Request, asked time.Time) (protocol.RunResult, error) {
	if err := e.Check(r.Params, r.Ask); err != nil {
		return protocol.RunResult{}, err
	}
	key, driver, err := e.sessionOf(r)
	if err != nil {
		return protocol.RunResult{}, err
	}
	e.tidy()
	result, err := e.callIn(ctx, key, driver, r)
	if err != nil {
		return result, e.explain(err, r.Dir)
	}
	result.Duration = protocol.Duration(time.Since(asked))
	result.WorkspaceSource = r.Source
	return result, nil
}

// checkSession refuses what no session can do.
func checkSession(p protocol.RunParams, a Ask) error {
	if p.SessionName == "" {
		return nil
	}
	switch {
	case len(p.SessionName) > 100 || strings.ContainsFunc(p.SessionName, unicode.IsControl):
		return bad("choose a short name", "%.120q is no name for a session: at most 100 bytes, and no control characters", p.SessionName)
	case p.Language == "":
		return bad("give a language and code; bash can run commands", "a session runs code, and this is a command")
	case a.Terminal != nil || a.Session:
		return bad("leave the session's name out", "a named session has no terminal")
	case a.Allow != nil:
		return bad("put it into the settings, or run without a session", "a named session has what the settings allow, and nothing beyond")
	}
	lang, err := env.Lookup(p.Language)
	if err != nil {
		return bad("", "%v", err)
	}
	if _, ok := session.For(lang.Name); !ok {
		return bad("leave the session's name out: each run then has a process of its own", "%s cannot be kept in a session; %s can", lang.Name, session.Languages())
	}
	return nil
}

// sessionOf is which session a run asks for, and what keeps it.
func (e *Engine) sessionOf(r Request) (key sessionKey, d session.Driver, err error) {
	root, err := e.rootOf(r.Dir)
	if err != nil {
		return key, d, err
	}
	lang, _ := env.Lookup(r.Params.Language)
	d, _ = session.For(lang.Name)
	return sessionKey{root, r.Params.SessionName, lang.Name}, d, nil
}

// callIn does a call in its session, which is started if there is none, or none that fits any more.
func (e *Engine) callIn(ctx context.Context, key sessionKey, d session.Driver, r Request) (protocol.RunResult, error) {
	for {
		k, err := e.keptFor(key, d)
		if err != nil {
			return protocol.RunResult{}, err
		}
		if err := k.take(ctx); err != nil {
			return protocol.RunResult{}, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled before it started", Err: err}
		}
		result, again, err := k.serve(ctx, e, r)
		k.give()
		if !again {
			return result, err
		}
	}
}

// keptFor is the session, which may be still to be started.
func (e *Engine) keptFor(key sessionKey, d session.Driver) (*kept, error) {
	s := &e.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.life.Err() != nil {
		return nil, &protocol.Error{Kind: protocol.Gone, Message: "the sidecar is ending"}
	}
	if k := s.open[key]; k != nil {
		return k, nil
	}
	var names []string
	for other := range s.open {
		if other.root == key.root {
			names = append(names, fmt.Sprintf("%s (%s)", other.name, other.language))
		}
	}
	if most := e.settings.Sessions.Most; len(names) >= most {
		slices.Sort(names)
		return nil, bad("close one that is no longer needed (sidecar sessions close NAME, the tool close_session), or raise sessions.most",
			"%d sessions are open, and there may be no more (sessions.most): %s", len(names), strings.Join(names, ", "))
	}
	k := newKept(e.machinery, key, d)
	if s.open == nil {
		s.open = map[sessionKey]*kept{}
	}
	s.open[key] = k
	return k, nil
}

// forgetSession takes a session out that has ended. Why it has is told with the next call; "" is nothing to tell.
func (m *machinery) forgetSession(k *kept, why string) {
	s := &m.sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[k.key] == k {
		delete(s.open, k.key)
	}
	m.log.Info("session ended", "session", k.key.name, "language", k.key.language, "why", cmp.Or(why, "it was closed"))
	if why == "" {
		return
	}
	if s.lost == nil || len(s.lost) >= mostLost {
		s.lost = map[sessionKey]string{}
	}
	s.lost[k.key] = why
}

// takeLost is why an earlier session of this name is gone; "" if there was none.
func (m *machinery) takeLost(key sessionKey) string {
	m.sessions.mu.Lock()
	defer m.sessions.mu.Unlock()
	why := m.sessions.lost[key]
	delete(m.sessions.lost, key)
	return why
}

// HasSessions says whether any interpreter is kept.
func (e *Engine) HasSessions() bool {
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	return len(e.sessions.open) > 0
}

// Sessions are the interpreters that are kept, by their names.
func (e *Engine) Sessions() []protocol.NamedSession {
	out := []protocol.NamedSession{}
	for _, k := range e.allKept() {
		if shown, ok := k.show(); ok {
			out = append(out, shown)
		}
	}
	slices.SortFunc(out, func(a, b protocol.NamedSession) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Language, b.Language))
	})
	return out
}

func (m *machinery) allKept() (all []*kept) {
	m.sessions.mu.Lock()
	defer m.sessions.mu.Unlock()
	for _, k := range m.sessions.open {
		all = append(all, k)
	}
	return all
}

// CloseSession ends the sessions of a name, or only that of a language, and gives those that it has ended.
func (e *Engine) CloseSession(name, language string) ([]protocol.NamedSession, error) {
	if language != "" {
		lang, err := env.Lookup(language)
		if err != nil {
			return nil, bad("", "%v", err)
		}
		language = lang.Name
	}
	closed := []protocol.NamedSession{}
	for _, k := range e.allKept() {
		if k.key.name != name || language != "" && k.key.language != language {
			continue
		}
		shown, ok := k.show()
		k.end("")
		<-k.done
		if ok {
			closed = append(closed, shown)
		}
	}
	if len(closed) == 0 {
		return nil, bad("ask `sidecar sessions` (sidecar/listSessions, the tool list_sessions) for those that are", "no session %.100q is open", name)
	}
	return closed, nil
}

// EndSessions ends all, with the sidecar: the next one says so to who asks for one of them.
func (e *Engine) EndSessions() { e.endSessions() }

func (m *machinery) endSessions() {
	all := m.allKept()
	for _, k := range all {
		k.end(sidecarEnded)
	}
	for _, k := range all {
		<-k.done
	}
}

// sidecarEnded is why sessions are gone after their sidecar.
const sidecarEnded = "its sidecar ended"
