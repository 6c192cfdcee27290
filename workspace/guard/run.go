//go:build unix

package guard

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/workspace/companions"
	"code.sidecar.dev/workspace/locked"
)

// runState is what the tree keeps of one run. All of it is guarded by the tree's lock.
type runState struct {
	t  *tree
	id string
	// start is when it began by the clock that files are stamped with, began by one that nobody sets.
	start int64
	began time.Time
	storm func()
	held  map[string]bool
	open  map[string]bool
	// again are paths that lost their mount and have another one.
	again map[string]bool
	// replaced is told of held paths that lost their mount.
	replaced func(path string, again func())
	// before are the sites that were there when the run began; snaps are the state of those that no mount
	// holds, by their path.
	before map[string]bool
	snaps  map[string]*snapshot
	knew   knowledge
	// sites are those found since; true: made since, false: found by a walk, or moved.
	sites map[string]bool
	// maybe are obeyed things that a walk found; noticed are those in new repositories.
	maybe, noticed map[string]*item
	watched        map[string]*watchedState
	// inOrder are the watched paths as they were given, those of one folder mostly together.
	inOrder []string
	// names counts the watched paths by base name.
	names map[string]int
	locks map[string]bool
	// manyLocks says that there were more than are remembered.
	manyLocks bool
	findings  []Finding
	// failed are paths that could not be disarmed, so that it is said once; false: it is to be tried again.
	failed  map[string]bool
	disarms int
	// stormed says that storm was called.
	stormed bool
	// ending says that its audit has begun.
	ending bool
	// armed are the sites of which something was disarmed: what came with them is not taken for a clone's.
	armed map[string]bool
	// odd are symbolic links in git directories, what may be named pipes where git reads, and references that lead out of refs.
	odd map[string]odd
	// former is what held configs had, while they were held.
	former map[string]string
	// touched are sites that events told of; clean are those that the audit found as they were.
	touched, clean map[string]bool
	// looked is how many events had happened when the run was last looked at.
	looked int
	// folderHolds remembers holds for folders that many sites lie in.
	folderHolds map[string]bool
}

func newRun(t *tree, o BeginOptions) *runState {
	r := &runState{t: t, knew: t.takeKnowledge(), id: cleanID(o.RunID), start: o.Start.UnixNano(), began: time.Now(), storm: o.Storm, replaced: o.Replaced, held: map[string]bool{}, again: map[string]bool{}, open: map[string]bool{},
		before: map[string]bool{}, snaps: map[string]*snapshot{}, sites: map[string]bool{}, maybe: map[string]*item{},
		noticed: map[string]*item{}, watched: map[string]*watchedState{}, names: map[string]int{},
		locks: map[string]bool{}, failed: map[string]bool{}, armed: map[string]bool{}, odd: map[string]odd{}, former: map[string]string{},
		touched: map[string]bool{}, clean: map[string]bool{}, folderHolds: map[string]bool{}}
	// The caller's clock may be finer than the one files are stamped with.
	r.start -= int64(clockTick)
	if o.Start.IsZero() {
		r.start = now().UnixNano()
	}
	for _, path := range o.Held {
		r.held[path] = true
	}
	for _, path := range o.Open {
		r.open[path] = true
	}
	return r
}

// clockTick is the longest tick of the kernel's coarse clock.
const clockTick = 10 * time.Millisecond

// since is when the run began, by the clock that files are stamped with as it goes now: where that was set back meanwhile,
// what the run makes has an earlier time than it began at.
func (r *runState) since() int64 {
	lasted := time.Since(r.began)
	if again := now().Add(-lasted).UnixNano(); again < r.start-2*int64(clockTick) {
		return again
	}
	return r.start
}

// cleanID makes an id fit for a part of a file's name.
func cleanID(id string) string {
	id = strings.Map(func(c rune) rune {
		if c == '/' || c < ' ' {
			return '-'
		}
		return c
	}, id)
	if id == "" {
		return "run"
	}
	return id[:min(len(id), 100)]
}

// holds says that a mount keeps the run from changing path.
func (r *runState) holds(path string) bool {
	for path != "/" && path != "" {
		switch {
		case r.held[path]:
			return true
		case r.open[path]:
			return false
		}
		path, _ = split(path)
	}
	return false
}

// found takes note of a site that appeared, or that a walk came by, while the run is active.
func (r *runState) found(s *site, made bool) {
	if made {
		r.sites[s.path] = true
	} else if _, had := r.sites[s.path]; !had && !r.before[s.path] {
		r.sites[s.path] = false
	}
}

// blames says that the run did what a charge is about, as far as can be told.
func (r *runState) blames(c *charge) bool {
	if r.holds(c.path()) || r.failed[c.path()] {
		return false
	}
	if snap := r.snaps[c.site.path]; snap != nil {
		return snap.differs(r.t, c)
	}
	made, found := r.sites[c.site.path]
	if c.site.unkept {
		made, found = c.site.made, true
	}
	return made || found && (c.fresh >= r.since() || !r.hadInode(c.site) && !r.knew.had(c.site.known, c.site.ino) && r.brought(c.site.path, c.fresh))
}

// hadInode says that a site was there when the run began, at another path: it has been moved, not made, so that only what was
// changed in it is the run's.
func (r *runState) hadInode(s *site) bool {
	path, had := r.knew.inodes[inode{s.dev, s.ino}]
	return had && path != s.path
}

// heldByAll says that no active run can have changed path.
func (t *tree) heldByAll(path string) bool {
	for r := range t.runs {
		if !r.holds(path) {
			return false
		}
	}
	return true
}

// nobodyChanged says that a file of a git directory, whose content is not kept, is as it was when each of the active runs began:
// no run is then blamed for it, whatever it holds.
func (t *tree) nobodyChanged(dir, name string, st stamp) bool {
	for r := range t.runs {
		snap := r.snaps[dir]
		if snap == nil || snap.taken == 0 {
			return false
		}
		if old, had := snap.folders[name]; !had || !old.same(st) {
			return false
		}
	}
	return true
}

// sharedOf are the shared indexes that a git directory had when the active runs began.
func (t *tree) sharedOf(dir string) (names []string) {
	for r := range t.runs {
		if snap := r.snaps[dir]; snap != nil {
			for name := range snap.folders {
				if strings.HasPrefix(name, sharedPrefix) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// report adds a finding to all active runs, once.
func (t *tree) report(f Finding) {
	for r := range t.runs {
		if f.Action == Failed {
			_, told := r.failed[f.Path]
			if r.failed[f.Path] = true; told {
				continue
			}
		}
		if len(r.findings) < mostFindings {
			r.findings = append(r.findings, f)
		}
		if f.Action == Disarmed {
			r.disarms++
			r.mayStorm()
		}
	}
}

// mostFindings bounds what one run can make us tell.
const mostFindings = 1000

func (r *runState) mayStorm() {
	if r.disarms > StormLimit {
		r.storms()
	}
}

// storms has the run ended, once.
func (r *runState) storms() {
	if !r.stormed && r.storm != nil {
		go r.storm()
	}
	r.stormed = true
}

func (r *runState) all() []Finding {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return append([]Finding(nil), r.findings...)
}

// snapshot is the state of an existing git directory's items when a run began. Runs share those that are still
// true: it is not changed.
type snapshot struct {
	items map[string]stamp
	texts map[string]string
	hooks map[string]stamp
	// open are the items that no mount holds; dir and folders are the stamps of the directory itself and of stampedOnly,
	// taken when it was read.
	open    []string
	dir     stamp
	folders map[string]stamp
	taken   int64
}

// openItems are what no mount holds of a git directory.
func (r *runState) openItems(path string) (open []string) {
	folder := r.holdsFolder(path)
	for _, name := range itemsOf {
		at := join(path, name)
		if !r.held[at] && (!folder || r.open[at]) {
			open = append(open, name)
		}
	}
	if !folder {
		open = append(open, leftoverNames...)
	}
	return open
}

// holdsFolder is holds for a folder whose own folder many others share.
func (r *runState) holdsFolder(path string) bool {
	if r.held[path] || r.open[path] {
		return r.held[path]
	}
	up, _ := split(path)
	held, known := r.folderHolds[up]
	if !known {
		held = r.holds(up)
		r.folderHolds[up] = held
	}
	return held
}

// snap gives the state of what no mount holds of a git directory; nil when all of it is held. What was read for
// another run is used again where nothing has changed.
func (r *runState) snap(s *site) *snapshot {
	open := r.openItems(s.path)
	b, rel, ok := r.t.locate(s.path)
	if !ok || len(open) == 0 {
		return nil
	}
	if k := s.kept; k != nil && slices.Equal(k.open, open) && k.isUnchanged(b, rel) {
		return k
	}
	snap := readSnapshot(b, rel, open)
	if s.kept = snap; snap.size() > mostKeptText {
		s.kept = nil
	}
	return snap
}

// mostKeptText bounds what is kept of a directory between runs.
const mostKeptText = 16 << 10

func (s *snapshot) size() (n int) {
	if s == nil {
		return 0
	}
	for _, text := range s.texts {
		n += len(text)
	}
	return n + len(s.hooks)*100
}

// stampedOnly are entries of a git directory of which a change is to show, and whose content is not kept: folders of
// leftovers, of remotes, of packs and of other programs, and the index.
var stampedOnly = func() []string {
	names := append([]string{indexFile, "objects", packFolder, packLayers, packedRefs}, oldRemotes...)
	for _, c := range companions.All {
		if up, _, in := strings.Cut(c.Name, "/"); in {
			names = append(names, up)
		}
		names = append(names, c.Name)
	}
	for _, l := range leftovers {
		names = append(names, cmp.Or(l.folder, l.file))
	}
	return names
}()

func readSnapshot(b *base, rel string, open []string) *snapshot {
	taken := now().UnixNano()
	fd, err := b.folder(rel)
	if err != nil {
		return nil
	}
	defer locked.Close(fd)
	out := &snapshot{items: map[string]stamp{}, texts: map[string]string{}, folders: map[string]stamp{}, open: open, taken: taken}
	out.dir = lookAt(fd, ".")
	shared, all := sharedIndexes(fd)
	if !all { // it is never taken for unchanged
		out.taken = 0
	}
	for _, name := range slices.Concat(shared, packIndexes(fd), stampedOnly) {
		if st := lookAt(fd, name); st.exists {
			out.folders[name] = st
		}
	}
	for _, name := range open {
		out.items[name] = lookAt(fd, name)
		if out.items[name].file() {
			text, _, _ := readFile(fd, name)
			out.texts[name] = string(text)
		} else if name == "hooks" && out.items[name].folder() {
			out.hooks = armedHooks(fd)
		}
	}
	return out
}

// differs says that what a charge is about has changed since the snapshot for the worse.
func (s *snapshot) differs(t *tree, c *charge) bool {
	old, kept := s.items[c.key()]
	if !kept {
		old = s.folders[c.name] // none is a stamp of nothing
	}
	if c.name == "hooks" && c.st.folder() && old.folder() && old.ino == c.st.ino {
		return len(s.newHooks(t, c)) > 0
	}
	if old.same(c.st) {
		return false
	}
	if c.name == packedRefs {
		return true
	}
	if before, had := s.texts[c.key()]; had && c.site.form == vcsSite && c.st.nlink <= 1 {
		text, ok := t.textOf(c.path())
		return !ok || text != before
	}
	if len(c.lines) > 0 && old.file() {
		return c.addsLines(s.texts[c.name])
	}
	if c.text == "" || !old.file() || c.st.nlink > max(old.nlink, 1) {
		return true
	}
	return addsHarm(s.texts[c.name], c.text)
}

// newHooks names the hooks that are not as they were.
func (s *snapshot) newHooks(t *tree, c *charge) []string {
	dir, _, err := t.folderOf(join(c.dir, "hooks"))
	if err != nil {
		return nil
	}
	defer locked.Close(dir)
	var out []string
	for name, st := range armedHooks(dir) {
		if s.hooks[name] != st {
			out = append(out, name)
		}
	}
	return out
}
