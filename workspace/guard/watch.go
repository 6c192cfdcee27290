//go:build unix

package guard

import (
	"context"
	"path/filepath"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

func open(root string, o Options) (*Guard, error) {
	t, err := newTree(root, o)
	if err != nil {
		return nil, err
	}
	if o.NoNotify {
		t.short = "watching is turned off, so that the whole tree is read after each run"
	} else if t.notify, err = newNotifier(); err != nil {
		t.notify, t.short = nil, noInstance(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &Guard{root: root, opts: o, tree: t, ctx: ctx, cancel: cancel}
	if t.notify != nil {
		go t.listen()
	}
	t.busy.Go(func() { t.firstWalk(ctx) })
	return g, nil
}

func (g *Guard) ready(ctx context.Context) error {
	select {
	case <-g.tree.walked:
		return nil
	default:
	}
	select {
	case <-g.tree.walked:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *Guard) known() Known {
	g.tree.drain()
	return g.tree.known()
}

func (g *Guard) happened() int {
	g.tree.drain()
	g.tree.mu.Lock()
	defer g.tree.mu.Unlock()
	return g.tree.happened
}

func (g *Guard) degraded() string {
	g.tree.mu.Lock()
	defer g.tree.mu.Unlock()
	return g.tree.degradedBy()
}

func (g *Guard) close() error {
	g.cancel()
	return g.tree.close()
}

// close waits for whoever handles events, so that nobody uses the descriptors afterwards.
func (t *tree) close() error {
	t.mu.Lock()
	was := t.closed
	t.closed = true
	t.mu.Unlock()
	if was {
		return nil
	}
	t.drainMu.Lock() // from here on nobody reads
	notify := t.notify
	t.drainMu.Unlock()
	t.busy.Wait()
	for _, b := range t.bases {
		unix.Close(b.fd)
	}
	if notify == nil {
		return nil
	}
	return notify.file.Close()
}

func (t *tree) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

func (g *Guard) begin(o BeginOptions) *Watch {
	t := g.tree
	t.drain() // what the host did until now is not the run's
	if o.GitDirs == nil {
		o.GitDirs = g.opts.GitDirs
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.adopt(o.GitDirs)
	r := newRun(t, o)
	for _, dir := range fresh { // what is made there before it is watched has no event
		for _, name := range gitLocks {
			r.addLock(join(dir, name))
		}
	}
	for path, s := range t.sites {
		if t.takeSnap(r, s) {
			r.before[path] = true
			r.knew.inodes[inode{s.dev, s.ino}] = path
		} else {
			delete(t.sites, path)
		}
	}
	for _, path := range o.Held {
		r.keepFormer(path)
	}
	near := t.openFolders()
	defer near.close()
	for _, w := range o.Watched {
		if near.has(w.Path) {
			r.watched[w.Path] = t.remember(w)
		} else {
			r.watched[w.Path] = &watchedState{Watched: w}
		}
		_, name := split(w.Path)
		r.names[name]++
		r.inOrder = append(r.inOrder, w.Path)
	}
	t.runs[r] = true
	return &Watch{g: g, opts: o, run: r}
}

// adopt makes sites of the git directories that are known, wherever they lie. It gives those that are about to be watched.
func (t *tree) adopt(dirs []string) (fresh []string) {
	for _, dir := range dirs {
		if top := t.addGitDir(dir); top != nil {
			fresh = append(fresh, dir)
			t.readAdopted(dir, top)
		}
		if t.sites[dir] == nil && t.isThere(dir) {
			f := folderSite
			if up, _ := split(dir); len(up) > 10 && up[len(up)-10:] == "/worktrees" {
				f = adminSite
			}
			t.siteAt(dir, f)
		}
	}
	return fresh
}

// readAdopted reads a git directory outside the root: what it holds was there before, also for the runs that go on.
func (t *tree) readAdopted(dir string, top *node) {
	t.adopting[dir] = true
	for r := range t.runs {
		r.knew.dark[dir] = false
	}
	t.busy.Go(func() {
		t.scanBelow(top, byWalk)
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.adopting, dir)
	})
}

// takeSnap takes the state of a site; false when it is gone.
func (t *tree) takeSnap(r *runState, s *site) bool {
	b, rel, ok := t.locate(s.path)
	if !ok {
		return false
	}
	if s.form == folderSite || s.form == adminSite {
		if snap := r.snap(s); snap != nil {
			r.snaps[s.path] = snap
			s.dev, s.ino = snap.dir.dev, snap.dir.ino
			return true
		}
	}
	if s.form == pointerSite && s.ino != 0 && r.holdsFolder(s.path) {
		return true // a mount holds it as it is, and known looked whether it is there
	}
	st := b.glance(rel)
	s.dev, s.ino = st.dev, st.ino
	switch {
	case s.form == pointerSite && !r.holdsFolder(s.path):
		r.snaps[s.path] = &snapshot{items: map[string]stamp{".git": st}}
	case s.form == vcsSite:
		r.snaps[s.path] = t.snapVCS(r, s)
	}
	return st.exists
}

// snapVCS takes the stamps of another system's files and of the folders that they lie in, and what they say where no mount holds
// them.
func (t *tree) snapVCS(r *runState, s *site) *snapshot {
	out := &snapshot{items: map[string]stamp{}, texts: map[string]string{}}
	_, name := split(s.path)
	for _, f := range vcsFiles[name] {
		for rel := f.path; rel != "."; rel = filepath.Dir(rel) {
			path := join(s.path, rel)
			if _, known := out.items[rel]; known {
				break
			}
			if out.items[rel] = t.stampAt(path); out.items[rel].file() && !r.holds(path) {
				if text, ok := t.textOf(path); ok {
					out.texts[rel] = text
				}
			}
		}
	}
	return out
}

// textOf is what a small file says.
func (t *tree) textOf(path string) (text string, ok bool) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return "", false
	}
	defer locked.Close(dir)
	read, _, err := readFile(dir, name)
	return string(read), err == nil
}

func (w *Watch) forget() []Finding {
	t := w.run.t
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, w.run)
	return append([]Finding(nil), w.run.findings...)
}

func (w *Watch) end(ctx context.Context) Report {
	t := w.run.t
	complete := w.settle(ctx)
	t.drain()
	rep := Report{Findings: w.audit(complete), Degraded: w.wasDegraded}
	if !complete {
		rest := make(chan []Finding, 1)
		rep.Rest = rest
		t.busy.Go(func() { w.later(rest, len(rep.Findings)) })
	}
	return rep
}

// settle waits until all is known that the audit needs: the first walk, and another one when events were lost.
func (w *Watch) settle(ctx context.Context) bool {
	if w.g.ready(ctx) != nil {
		return false
	}
	if !w.run.t.mayWalk(ctx) {
		return false
	}
	defer func() { <-w.run.t.walking }()
	w.run.t.drain()
	w.retryUnreadable()
	if w.g.degraded() == "" {
		return true
	}
	w.wasDegraded = w.g.degraded()
	w.run.t.clearNamed(w.run)
	return w.run.t.rewalk(ctx, w.run.knew.all) == nil
}

// retryUnreadable scans folders again that could not be opened: a run may have locked them for the while.
func (w *Watch) retryUnreadable() {
	t := w.run.t
	t.mu.Lock()
	again := t.unreadable
	t.unreadable = nil
	t.mu.Unlock()
	for _, n := range again {
		t.scanBelow(n, byWalk)
	}
}

// passes is how often the audit goes over what the pass before has changed.
const passes = 3

// audit judges everything that is the run's. When it is complete the run is over for the guard.
func (w *Watch) audit(complete bool) []Finding {
	t, r := w.run.t, w.run
	t.mu.Lock()
	if !r.ending {
		r.retryFailed()
	}
	r.ending = true
	clear(r.knew.ways)
	left := t.leftLocks(r)
	// repositories first: what is moved aside afterwards, whole, then holds no armed one
	for range passes {
		if t.auditSites(r) == 0 {
			break
		}
	}
	t.auditOdd(r)
	t.auditWatched(r)
	t.auditObeyed(r)
	t.mu.Unlock()
	isLeft := len(left) == 0 || t.rest(left)
	t.drain()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clearLocks(r, left, isLeft)
	t.auditOdd(r)
	t.auditSites(r)
	if complete {
		t.tellUnreadable(r)
		delete(t.runs, r)
	}
	return append([]Finding(nil), r.findings...)
}

// auditSites judges what was found since the run began, and what was there and no mount held. Pointers come
// last: what they lead to may be harmless by then.
func (t *tree) auditSites(r *runState) (disarmed int) {
	r.findClean()
	paths := map[string]bool{}
	for path := range r.snaps {
		if !r.canSkip(path) {
			paths[path] = true
		}
	}
	for path := range r.sites {
		paths[path] = true
	}
	return t.checkPaths(paths)
}

// later goes on with an audit whose caller would not wait.
func (w *Watch) later(rest chan<- []Finding, told int) {
	defer close(rest)
	if !w.settle(w.g.ctx) {
		return
	}
	w.run.t.drain()
	if all := w.audit(true); len(all) > told {
		rest <- all[told:]
	}
}
