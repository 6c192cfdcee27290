package sidecar

import (
	"os"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
	"code.sidecar.dev/workspace/looks"
)

// A closure that is used again, and is large, gets a keeper (sandbox.Keep), so that its size costs runs next to nothing.
const (
	// keptFrom is how many store paths are worth one: below, a run would gain less than a millisecond.
	keptFrom = 100
	// mostKeepers bounds them, and the closures that are remembered; each is two processes and some megabytes.
	mostKeepers = 4
	// idleKeeper is how long one is kept that no run uses.
	idleKeeper = 5 * time.Minute
)

// keeper is a closure that runs use, and its keeper, once it has one.
type keeper struct {
	pick sandbox.Pick
	host sandbox.Host

	// The machinery's lock is over these.
	uses  int
	used  time.Time
	tried bool
	kept  *sandbox.Kept

	mu sync.Mutex
	// folder and paths are what was seen of the store and of the closure's paths before the keeper was made: mounts of what
	// was deleted are still there, and empty.
	folder, paths *looks.Looks
}

// keeperFor is the keeper of a prepared run's closure, which may have yet to be made; nil where none is worth it or can be.
func (m *machinery) keeperFor(p *prepared) *keeper {
	if len(p.policy.Picks) != 1 || len(p.policy.Picks[0].Names) < keptFrom || p.host.Mounts != sandbox.ByShim || p.host.Backend != sandbox.Bubblewrap {
		return nil
	}
	pick := p.policy.Picks[0]
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.keepers, func(k *keeper) bool {
		return k.host == p.host && k.pick.Source == pick.Source && k.pick.Target == pick.Target && slices.Equal(k.pick.Names, pick.Names)
	})
	k := &keeper{pick: pick, host: p.host}
	if i >= 0 {
		k = m.keepers[i]
		m.keepers = slices.Delete(m.keepers, i, i+1)
	}
	k.uses++
	k.used = time.Now()
	m.keepers = slices.Insert(m.keepers, 0, k)
	m.trimKeepers(k.used)
	return k
}

// tree is a copy of the closure for one run; nil has the run pick it itself.
func (m *machinery) tree(k *keeper) *os.File {
	if k == nil {
		return nil
	}
	m.mu.Lock()
	kept := k.kept
	m.mu.Unlock()
	if kept == nil {
		return nil
	}
	if !k.isTrue() {
		m.dropKeeper(k)
		return nil
	}
	tree, err := kept.Tree()
	if err != nil {
		m.log.Warn("the keeper of an environment's mounts is of no use; the next runs mount them themselves", "err", err)
		m.dropKeeper(k)
		return nil
	}
	return tree
}

// readyKeeper has the next run of a closure find what it needs, in the background. A keeper is made for those that were
// used twice: many processes do one run only.
func (m *machinery) readyKeeper(k *keeper) {
	if k == nil || m.life.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, first := k.kept, !k.tried && k.uses > 1
	k.tried = k.tried || first
	switch {
	case first:
		m.background.Go(func() { m.makeKeeper(k) })
	case kept != nil:
		m.background.Go(func() { _ = kept.Spare() }) // what goes wrong Tree says as well
	}
}

func (m *machinery) makeKeeper(k *keeper) {
	k.look()
	plan, err := bubblewrap.Keeper(k.pick, k.host)
	var kept *sandbox.Kept
	if err == nil {
		kept, err = sandbox.Keep(m.life, plan)
	}
	if err != nil {
		if m.life.Err() == nil {
			m.log.Warn("an environment's mounts cannot be kept; its runs make them themselves", "err", err)
		}
		return
	}
	if !k.isTrue() || !m.hasKeeper(k, kept) { // where the store's times tell nothing it is of no use
		kept.Close()
	}
}

// hasKeeper takes note of a closure's keeper, unless the closure was let go of meanwhile.
func (m *machinery) hasKeeper(k *keeper, kept *sandbox.Kept) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := slices.Contains(m.keepers, k)
	if known {
		k.kept = kept
	}
	return known
}

// look remembers how the closure's paths are.
func (k *keeper) look() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.folder, k.paths = looks.New(os.Getenv), looks.New(os.Getenv)
	_, _ = k.folder.LstatAll(k.pick.Source)
	for _, name := range k.pick.Names {
		_, _ = k.paths.LstatAll(k.pick.Source + "/" + name)
	}
}

// isTrue says that the store still has the paths that the keeper mounted. They are looked at only when something came into
// the store's folder or went from it.
func (k *keeper) isTrue() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folder.Same(os.Getenv) {
		return true
	}
	folder := looks.New(os.Getenv)
	_, _ = folder.LstatAll(k.pick.Source) // before the paths: what happens meanwhile is seen the next time
	k.folder = folder
	return k.paths.Same(os.Getenv)
}

// trimKeepers lets those go that were not used for long, and those beyond mostKeepers. The caller has m.mu.
func (m *machinery) trimKeepers(now time.Time) {
	for i := len(m.keepers) - 1; i >= 0; i-- {
		if i >= mostKeepers || now.Sub(m.keepers[i].used) >= idleKeeper {
			m.closeKeeper(m.keepers[i])
			m.keepers = slices.Delete(m.keepers, i, i+1)
		}
	}
	switch {
	case len(m.keepers) == 0 || m.life.Err() != nil:
	case m.keepTrimmer != nil:
		m.keepTrimmer.Reset(idleKeeper)
	default:
		m.keepTrimmer = time.AfterFunc(idleKeeper, func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.trimKeepers(time.Now())
		})
	}
}

func (m *machinery) dropKeeper(k *keeper) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.keepers, k); i >= 0 {
		m.keepers = slices.Delete(m.keepers, i, i+1)
		m.closeKeeper(k)
	}
}

// closeKeeper ends a keeper that is in the list no more. The caller has m.mu.
func (m *machinery) closeKeeper(k *keeper) {
	if kept := k.kept; kept != nil {
		m.background.Go(kept.Close)
	}
}

// closeKeepers ends all.
func (m *machinery) closeKeepers() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keepTrimmer != nil {
		m.keepTrimmer.Stop()
	}
	for _, k := range m.keepers {
		m.closeKeeper(k)
	}
	m.keepers = nil
}
