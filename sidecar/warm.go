package sidecar

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
)

// Sandboxes are made ahead of the runs to come (sandbox.Stand), for policies that runs use again. Each serves one run.
const (
	// mostKinds is of how many policies sandboxes are kept, and mostWarm how many in all.
	mostKinds = 6
	mostWarm  = 6
	// warmOfKind is how many one policy has at most.
	warmOfKind = 2
	// idleWarm is how long a policy keeps its sandboxes after its last run; oldestWarm how old one may become: what is
	// installed on the machine meanwhile, its interpreter has not seen.
	idleWarm   = 90 * time.Second
	oldestWarm = 10 * time.Minute
	// quietStep is how often is looked whether a processor is idle, and longestQuiet how long that is waited for.
	quietStep    = 5 * time.Millisecond
	longestQuiet = 2 * time.Second
	// mostFailures is how many sandboxes of a kind may end by themselves before no more are made.
	mostFailures = 3
)

// kind is a policy that runs use, as far as a sandbox is made of it before the run is known.
type kind struct {
	plan  sandbox.Plan
	waits bool
	// interpreter is what waits, where it is not of a store: its files may change. late is where the run's own mounts come.
	interpreter env.Interpreter
	late        []string

	// The machinery's lock is over these.
	uses, failures int
	used           time.Time
	ready          []*standing
	making         bool
}

// standing is a sandbox that is ready, and how what it shows was when it was made.
type standing struct {
	*sandbox.Standing
	made time.Time
	// files are those that its interpreter reads at its start.
	files []string
	saw   []identity
}

// errUnready is a sandbox that was ready and could not serve: the run is done without.
var errUnready = errors.New("the sandbox that was ready could not be used")

// whyNotWarm says why a run cannot be served by a sandbox that was made ahead; "" is nothing stands against it.
func (p *prepared) whyNotWarm(r Request) string {
	switch {
	case p.engine.settings.Performance.Warm == "off":
		return "performance.warm is off"
	case p.host.Mounts != sandbox.ByShim || p.engine.seated():
		return "this machine's sandboxes cannot be made ahead"
	case r.Ask.Terminal != nil || r.Ask.Session:
		return "it is a session of a person"
	case len(p.policy.Bases) > 0:
		return "its home is kept"
	case p.env.Daemon != nil:
		return "nix itself works in it"
	case r.cold:
		return "the sandbox that was ready failed"
	}
	return ""
}

// usable is a kind that could serve a prepared run, and what its sandbox would be handed.
type usable struct {
	*kind
	plan sandbox.Plan
	hand sandbox.Handover
}

// usables are the kinds that could serve a prepared run, the best first. They are remembered.
func (m *machinery) usables(p *prepared, r Request) (out []usable) {
	if p.whyNotWarm(r) != "" {
		return nil
	}
	for _, wait := range p.waits {
		plan, hand, err := bubblewrap.Stand(p.policy, p.host, wait)
		if err != nil {
			return out
		}
		out = append(out, usable{m.kindOf(plan, wait.Fifo != "", p), plan, hand})
	}
	return out
}

// hasReady says that there is any sandbox at all. Where there is none, a run is not planned for one before it starts.
func (m *machinery) hasReady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.warmCount() > 0
}

// isReady says that one is ready for a run, as far as can be told without a look at it.
func (m *machinery) isReady(of []usable) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(of, func(u usable) bool { return len(u.ready) > 0 })
}

// takeReady takes a sandbox for a run, and says for what it can be used; nil is none.
func (m *machinery) takeReady(of []usable) (*standing, usable) {
	for _, u := range of {
		for s := m.pop(u.kind); s != nil; s = m.pop(u.kind) {
			if m.isStill(u.kind, s) {
				return s, u
			}
			s.Close()
		}
	}
	return nil, usable{}
}

// kindOf is the kind of a plan, and the one used last from now on.
func (m *machinery) kindOf(plan sandbox.Plan, waits bool, p *prepared) *kind {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kinds, func(k *kind) bool { return k.isFor(plan) })
	var k *kind
	if i >= 0 {
		k = m.kinds[i]
		m.kinds = slices.Delete(m.kinds, i, i+1)
	} else if k = (&kind{plan: plan, waits: waits, late: p.policy.Late()}); waits && p.env.Store == nil {
		k.interpreter = p.interpreter
	}
	k.uses++
	k.used = time.Now()
	m.kinds = slices.Insert(m.kinds, 0, k)
	m.trimWarm(k.used)
	return k
}

// isFor says that a plan is the kind's.
func (k *kind) isFor(plan sandbox.Plan) bool {
	return slices.Equal(k.plan.Argv, plan.Argv) && slices.Equal(k.plan.Args, plan.Args) && slices.EqualFunc(k.plan.Inputs, plan.Inputs, bytes.Equal)
}

func (k *kind) start() string {
	if k.waits {
		return protocol.StartWarm
	}
	return protocol.StartReady
}

func (m *machinery) pop(k *kind) *standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(k.ready) == 0 {
		return nil
	}
	s := k.ready[0]
	k.ready = slices.Delete(k.ready, 0, 1)
	return s
}

// isStill says that a sandbox stands, and that what it shows is what a new one would show.
func (m *machinery) isStill(k *kind, s *standing) bool {
	select {
	case <-s.Gone():
		return false
	default:
	}
	return time.Since(s.made) < oldestWarm && slices.Equal(s.saw, m.look(k, s.files))
}

// look takes the identity of everything that a sandbox of the kind shows.
func (m *machinery) look(k *kind, files []string) []identity {
	list := []identity{m.mounts.identity()}
	for _, path := range k.plan.Sources {
		list = append(list, identify(path, false))
	}
	for _, path := range files {
		list = append(list, identify(path, true))
	}
	return list
}

// rewarm has the next run of a kind find a sandbox that is ready, in the background. Kinds that were used once get none:
// many sidecars do one run only.
func (m *machinery) rewarm(of []usable, always bool) {
	if m.life.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range of {
		k := u.kind
		if k.failures >= mostFailures {
			continue // the next best kind
		}
		if (k.uses > 1 || always) && !k.making && len(k.ready) < warmOfKind {
			m.makeRoom(k)
			k.making = true
			m.background.Go(func() { m.makeReady(k, always) })
		}
		return
	}
}

// makeRoom ends a sandbox of the kind that was used longest ago, where there are as many as there may be. The caller has m.mu.
func (m *machinery) makeRoom(kept *kind) {
	for i := len(m.kinds) - 1; i >= 0 && m.warmCount() >= mostWarm; i-- {
		if k := m.kinds[i]; k != kept && len(k.ready) > 0 {
			k.ready[0].Close()
			k.ready = slices.Delete(k.ready, 0, 1)
		}
	}
}

// readyCount is warmCount for who has no lock.
func (m *machinery) readyCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.warmCount()
}

// warmCount is how many sandboxes are ready. The caller has m.mu.
func (m *machinery) warmCount() (n int) {
	for _, k := range m.kinds {
		n += len(k.ready)
	}
	return n
}

// makeReady makes sandboxes of a kind while the machine has nothing else to do.
func (m *machinery) makeReady(k *kind, always bool) {
	for (always || m.isQuiet()) && !isMemoryScarce() {
		files, err := k.files()
		if err != nil {
			m.giveUp(k)
			break
		}
		s := &standing{made: time.Now(), files: files, saw: m.look(k, files)}
		if s.Standing, err = sandbox.Stand(k.plan); err != nil || !m.keepReady(k, s) {
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k.making = false
}

// keepReady takes note of a sandbox, and says whether another one may be made.
func (m *machinery) keepReady(k *kind, s *standing) bool {
	m.waiting.Go(func() { m.watchReady(k, s) })
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life.Err() != nil || !slices.Contains(m.kinds, k) {
		s.Close()
		return false
	}
	k.ready = append(k.ready, s)
	m.trimLaterWarm()
	return len(k.ready) < warmOfKind && m.warmCount() < mostWarm && time.Since(k.used) < idleWarm
}

// watchReady notices that a sandbox ends by itself before it has its run.
func (m *machinery) watchReady(k *kind, s *standing) {
	<-s.Gone()
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(k.ready, s)
	if i < 0 || m.life.Err() != nil {
		return
	}
	k.ready = slices.Delete(k.ready, i, i+1)
	if k.failures++; k.failures == mostFailures {
		m.log.Warn("sandboxes that are made ahead end by themselves; runs are started as they come", "err", s.Err())
	}
}

// isQuiet waits until a processor is idle; false when none is for long.
func (m *machinery) isQuiet() bool {
	for until := time.Now().Add(longestQuiet); time.Now().Before(until); {
		if runnable() <= runtime.NumCPU() {
			return true
		}
		select {
		case <-m.life.Done():
			return false
		case <-time.After(quietStep):
		}
	}
	return false
}

// trimWarm lets sandboxes go that are of no use any more: of kinds that no run asks for, too old ones, and all where
// memory is scarce. The caller has m.mu.
func (m *machinery) trimWarm(now time.Time) {
	scarce := m.warmCount() > 0 && isMemoryScarce()
	for i := len(m.kinds) - 1; i >= 0; i-- {
		k := m.kinds[i]
		idle := now.Sub(k.used) >= idleWarm
		k.ready = slices.DeleteFunc(k.ready, func(s *standing) bool {
			gone := idle || scarce || i >= mostKinds || now.Sub(s.made) >= oldestWarm
			if gone {
				s.Close()
			}
			return gone
		})
		if i >= mostKinds {
			m.kinds = slices.Delete(m.kinds, i, i+1)
		}
	}
}

// trimLaterWarm has them trimmed while there are any. The caller has m.mu.
func (m *machinery) trimLaterWarm() {
	if m.warmTrimmer != nil {
		m.warmTrimmer.Stop()
	}
	m.warmTrimmer = time.AfterFunc(idleWarm/3, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.trimWarm(time.Now()); m.warmCount() > 0 {
			m.trimLaterWarm()
		}
	})
}

// closeWarm ends all.
func (m *machinery) closeWarm() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.warmTrimmer != nil {
		m.warmTrimmer.Stop()
	}
	for _, k := range m.kinds {
		for _, s := range k.ready {
			s.Close()
		}
	}
	m.kinds = nil
	m.mounts.close()
}

// errNeedsRun is an interpreter that cannot wait: what it does at its start depends on the run's own mounts.
var errNeedsRun = errors.New("the interpreter has to be started with its run")

// files are those that the kind's interpreter reads at its start, and that may change.
func (k *kind) files() ([]string, error) {
	if k.interpreter.Program == "" {
		return nil, nil
	}
	files := interpreterPaths(k.interpreter)
	if namesLate(files, k.late) {
		return nil, errNeedsRun
	}
	return files, nil
}

// giveUp makes no more sandboxes of a kind.
func (m *machinery) giveUp(k *kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k.failures = mostFailures
}
