package sidecar

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
)

// How many guards are kept for further runs. Each watches a whole tree, and every edit of protect.also and every client
// with other settings needs one of its own.
const (
	mostGuards = 4
	// idleGuard is how long a guard is kept that no run uses. The one used last stays: a first walk costs seconds in a large
	// tree, and a person may well think for longer.
	idleGuard = 10 * time.Minute
)

// guarded is what a guard watches: a workspace, for names that the settings add and except.
type guarded struct{ root, rules string }

// sharedGuard is a guard that runs have in common. Who has it gives it back.
type sharedGuard struct {
	*guard.Guard
	users int       // who has not given it back
	used  time.Time // when it was last given back
}

// guardOf is the workspace's guard, which outlives runs: only its first walk costs. It is to be given back.
func (e *Engine) guardOf(ws *workspace.Workspace) (*sharedGuard, error) {
	rules := e.rules()
	of := guarded{ws.Root, rules.String()}
	e.mu.Lock()
	defer e.mu.Unlock()
	if g := e.taken(of); g != nil {
		return g, nil
	}
	opened, err := guard.Open(ws.Root, guard.Options{GitDirs: gitDirs(ws), Leads: rules.Leads, Obeyed: func(base string) (string, bool, bool) {
		entry, ok := rules.Match(base)
		return entry.Reason, entry.Folder, ok && byName(entry)
	}, ObeyedIn: func(folder, base string) (string, bool, bool) {
		entry, ok := rules.MatchIn(folder, base)
		return entry.Reason, entry.Folder, ok
	}})
	if err != nil {
		return nil, &protocol.Error{Kind: protocol.Internal, Message: "watching the workspace: " + err.Error(), Err: err}
	}
	g := &sharedGuard{Guard: opened, users: 1}
	e.guards[of] = g
	e.log.Debug("a guard begins", "root", of.root)
	e.trimGuards(time.Now())
	return g, nil
}

// taken is a guard that there is already, to be given back, or nil. The caller has e.mu.
func (m *machinery) taken(of guarded) *sharedGuard {
	g := m.guards[of]
	if g != nil {
		g.users++
	}
	return g
}

// retain is for one more user of a guard that the caller has.
func (m *machinery) retain(g *sharedGuard) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g.users++
}

// giveBack ends a use of a guard.
func (m *machinery) giveBack(g *sharedGuard) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g.users--
	g.used = time.Now()
	m.trimGuards(g.used)
}

// trimGuards closes guards that nobody uses: those beyond mostGuards, longest unused first, and the idle ones. The
// caller has m.mu.
func (m *machinery) trimGuards(now time.Time) {
	keys := slices.SortedFunc(maps.Keys(m.guards), func(a, b guarded) int {
		x, y := m.guards[a], m.guards[b]
		return cmp.Or(cmp.Compare(min(y.users, 1), min(x.users, 1)), y.used.Compare(x.used))
	})
	for i, of := range keys {
		g := m.guards[of]
		if g.users == 0 && i > 0 && (i >= mostGuards || now.Sub(g.used) >= idleGuard) {
			delete(m.guards, of)
			m.background.Go(func() { m.closeGuard(of, g) })
		}
	}
	if len(m.guards) > 1 {
		m.trimLater()
	}
}

// trimLater has the guards trimmed when those that are unused from now on are idle.
func (m *machinery) trimLater() {
	if m.trimmer != nil {
		m.trimmer.Reset(idleGuard)
		return
	}
	m.trimmer = time.AfterFunc(idleGuard, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.trimGuards(time.Now())
	})
}

// closeGuards closes all.
func (m *machinery) closeGuards() {
	m.mu.Lock()
	all := maps.Clone(m.guards)
	clear(m.guards)
	if m.trimmer != nil {
		m.trimmer.Stop()
	}
	m.mu.Unlock()
	for of, g := range all {
		m.closeGuard(of, g)
	}
}

func (m *machinery) closeGuard(of guarded, g *sharedGuard) {
	m.log.Debug("a guard ends", "root", of.root)
	if err := g.Close(); err != nil {
		m.log.Warn("ending a guard", "root", of.root, "err", err)
	}
}
