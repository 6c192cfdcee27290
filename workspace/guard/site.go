//go:build unix

package guard

// form is what a site is.
type form uint8

const (
	// folderSite is a git directory: a `.git` folder, a bare repository, a submodule's.
	folderSite form = iota
	// pointerSite is a `.git` that is a file or a link.
	pointerSite
	// adminSite is a linked worktree's folder in the common dir.
	adminSite
	// vcsSite is another version control system's folder.
	vcsSite
)

// site is one place that makes a program take a folder for a repository.
type site struct {
	path     string
	form     form
	base     *base
	dev, ino uint64
	// kept is the last snapshot that was read.
	kept *snapshot
	// unkept says that there were too many to keep it; made and known are then what runs, and their beginning, keep of others.
	unkept, made bool
	known        known
}

// gitItems are the entries of a git directory that decide what git executes.
var gitItems = comparesInGitDir

// itemsOf are gitItems in a fixed order.
var itemsOf = []string{"config", "config.worktree", "commondir", "hooks", "gitdir"}

// noteSite writes a site down, for the runs that are active too. A `.git` that says nothing is none yet.
func (t *tree) noteSite(path string, f form, how origin) {
	if f == pointerSite && t.sites[path] == nil && !t.isPointer(path) {
		return
	}
	s := t.siteAt(path, f)
	if s == nil || len(t.runs) == 0 && !s.unkept {
		return
	}
	st := t.stampAt(path)
	s.dev, s.ino = st.dev, st.ino
	made := how == byEvent
	for r := range t.runs {
		made = made && !r.hadInode(s)
	}
	if s.unkept {
		s.made, s.known = made, t.knowsUnkept(path, st)
		if len(t.runs) > 0 {
			t.check(s, t.rewalking)
		}
		return
	}
	for r := range t.runs {
		r.found(s, made)
	}
	t.dirty[s] = true
	t.touch(path)
}

// siteAt gives the site at path, made when it is new. Where there are too many it is not kept, but judged at once, and, since events
// are of no use then, by the walk at each run's end.
func (t *tree) siteAt(path string, f form) *site {
	s := t.sites[path]
	if s == nil {
		b, _, ok := t.locate(path)
		if !ok {
			return nil
		}
		s = &site{path: path, base: b}
		if len(t.sites) < mostKept {
			t.sites[path] = s
		} else {
			s.unkept = true
			t.short = "the workspace has more repositories than the guard can keep, so that its whole tree is read after each run; remove what is not needed"
		}
	}
	s.form = f
	return s
}

// dirtySite has the site at path judged after the events at hand.
func (t *tree) dirtySite(path string) {
	if s := t.sites[path]; s != nil {
		t.dirty[s] = true
		t.touch(path)
	}
}

// judgeDirty judges what the events at hand touched, and disarms at once what is armed beyond doubt.
func (t *tree) judgeDirty() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.dirty) == 0 {
		return
	}
	if len(t.runs) > 0 {
		for s := range t.dirty {
			t.check(s, false)
		}
	}
	clear(t.dirty)
}

// check judges a site and disarms what some active run is to blame for. It tells how many it disarmed.
func (t *tree) check(s *site, final bool) (disarmed int) {
	for _, c := range t.judge(s, final) {
		if c.doubtful && !final {
			continue
		}
		if r := t.blamed(c); r != nil && t.disarm(r, c) {
			disarmed++
		}
	}
	return disarmed
}

// blamed finds a run that is to blame for a charge.
func (t *tree) blamed(c *charge) *runState {
	for r := range t.runs {
		if r.blames(c) {
			return r
		}
	}
	return nil
}
