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
}

// gitItems are the entries of a git directory that decide what git executes.
var gitItems = comparesInGitDir

// itemsOf are gitItems in a fixed order.
var itemsOf = []string{"config", "config.worktree", "commondir", "hooks", "gitdir"}

// noteSite writes a site down, for the runs that are active too.
func (t *tree) noteSite(path string, f form, how origin) {
	s := t.siteAt(path, f)
	if s == nil || len(t.runs) == 0 {
		return
	}
	st := t.stampAt(path)
	s.dev, s.ino = st.dev, st.ino
	moved := false
	for r := range t.runs {
		moved = moved || r.hadInode(s)
	}
	for r := range t.runs {
		r.found(s, how == byEvent && !moved)
	}
	t.dirty[s] = true
	t.touch(path)
}

// siteAt gives the site at path, made when it is new; nil when there are too many.
func (t *tree) siteAt(path string, f form) *site {
	s := t.sites[path]
	if s == nil {
		b, _, ok := t.locate(path)
		if !ok {
			return nil
		}
		if len(t.sites) >= mostKept {
			t.cut = true
			t.short = "the workspace has more repositories than the guard can keep; remove what is not needed"
			return nil
		}
		s = &site{path: path, base: b}
		t.sites[path] = s
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
