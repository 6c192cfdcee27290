//go:build unix

package guard

import (
	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// noteObeyed writes down something that host programs obey. What appeared while a run lasts is moved aside.
func (t *tree) noteObeyed(it *item, how origin) {
	was, st := t.obeyed[it.path], t.stampAt(it.path)
	switch {
	case was != nil:
		it.known = t.knows(was.known, st)
		t.obeyed[it.path] = it
	case len(t.obeyed) < mostKept:
		it.known = t.knows(known{}, st)
		t.obeyed[it.path] = it
	default:
		it.known = t.knowsUnkept(it.path, st)
		t.short = "the workspace has more files that host programs obey than the guard can keep, so that its whole tree is read after each run; remove what is not needed"
	}
	if len(t.runs) == 0 || t.heldByAll(it.path) {
		return
	}
	if how == byWalk {
		for r := range t.runs {
			r.maybe[it.path] = it
		}
		return
	}
	t.lookAgain(it)
	t.obeyedAppeared(it)
}

// lookAgain has the end of each run look at something once more: who swaps folders fast enough gets it past
// the first look.
func (t *tree) lookAgain(it *item) {
	for r := range t.runs {
		if _, had := r.noticed[it.path]; had || len(r.noticed) < mostKept {
			r.noticed[it.path] = it
		} else {
			t.lost = "a run made more that host programs obey than can be remembered, so that the whole tree was read"
		}
	}
}

func (t *tree) obeyedAppeared(it *item) {
	st := t.stampAt(it.path)
	if !st.exists || !it.matches(st) || st.ino == t.own[it.path] {
		return
	}
	if !t.inNewRepository(it.path) {
		t.moveObeyed(it.path, it.reason)
	}
}

// matches says that a folder is where a folder is obeyed, and a file where a file is. A link may be either.
func (it *item) matches(st stamp) bool { return st.link() || !it.link && st.folder() == it.folder }

// moveObeyed moves something aside on behalf of the run that could have made it.
func (t *tree) moveObeyed(path, reason string) bool {
	for r := range t.runs {
		if !r.holds(path) && !r.failed[path] {
			return t.moveAside(r, path, reason)
		}
	}
	return false
}

// inNewRepository says that path lies in the work tree of a repository that a run newly made in a folder of
// its own: what a clone brings along is not the workspace's. The root itself never counts.
func (t *tree) inNewRepository(path string) bool {
	for dir, _ := split(path); len(dir) > len(t.root.path); dir, _ = split(dir) {
		s := t.sites[join(dir, ".git")]
		if s != nil && t.isNew(s) && t.bornSince(dir) {
			return true
		}
	}
	return false
}

// isNew says that no active run found the site in place, and that nothing of it was armed.
func (t *tree) isNew(s *site) bool {
	for r := range t.runs {
		if _, found := r.sites[s.path]; !found || r.before[s.path] || r.armed[s.path] {
			return false
		}
	}
	return len(t.runs) > 0
}

// bornSince says that a folder was made since every active run began; unknown counts as yes.
func (t *tree) bornSince(path string) bool {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return false
	}
	defer locked.Close(dir)
	born := bornAt(dir, name)
	for r := range t.runs {
		if born != 0 && born < r.since() {
			return false
		}
	}
	return true
}

// obeyedChanged handles a change inside an obeyed folder that no mount holds.
func (t *tree) obeyedChanged(path string) {
	st := t.stampAt(path)
	if !st.exists || st.ino == t.own[path] || t.heldByAll(path) || t.inNewRepository(path) {
		return
	}
	for r := range t.runs {
		if r.watchedAbove(path) {
			return // its own snapshot tells better, at the end
		}
	}
	const reason = "it was written into a folder that host programs obey"
	t.lookAgain(&item{path: path, reason: reason, folder: st.folder()})
	t.moveObeyed(path, reason)
}

// auditObeyed judges what a walk found while runs were active, and tells what came with new repositories.
func (t *tree) auditObeyed(r *runState) {
	for path, it := range r.maybe {
		if r.holds(path) || r.watchedAbove(path) {
			continue
		}
		t.auditMaybe(r, path, it)
	}
	for path, it := range r.noticed {
		if !t.inNewRepository(path) {
			t.obeyedAppeared(it) // its repository turned out to be armed, or is gone
		} else if t.isThere(path) {
			t.reportTo(r, Finding{Path: path, Reason: it.reason, Action: Noticed})
		}
	}
	clear(r.maybe)
	clear(r.noticed)
}

func (t *tree) auditMaybe(r *runState, path string, it *item) {
	st := t.stampAt(path)
	switch {
	case !st.exists || !it.matches(st) || st.ino == t.own[path]:
	case t.inNewRepository(path):
		if st.ctime >= r.since() {
			r.noticed[path] = it
		}
	case st.folder() && (r.knew.had(it.known, st.ino) || !t.bornIn(path, r.since()) && !r.brought(path, t.oldestIn(path))):
		t.auditEntries(r, path, it, deepest)
	case st.ctime >= r.since() || !r.knew.had(it.known, st.ino) && r.brought(path, st.ctime):
		t.moveAside(r, path, it.reason)
	}
}

// bornIn says that a folder is known to have been made since start.
func (t *tree) bornIn(path string, start int64) bool {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return false
	}
	defer locked.Close(dir)
	return bornAt(dir, name) >= start
}

// oldestIn is when that of a folder's entries was changed that was changed longest ago.
func (t *tree) oldestIn(path string) int64 {
	b, rel, ok := t.locate(path)
	if !ok {
		return 0
	}
	fd, err := b.folder(rel)
	if err != nil {
		return 0
	}
	defer locked.Close(fd)
	oldest := now().UnixNano()
	for _, name := range entriesOf(fd, ".", mostChanged) {
		oldest = min(oldest, lookAt(fd, name).ctime)
	}
	return oldest
}

// mostChanged bounds what is looked at of a folder that host programs obey, and what is kept of it at once; deepest is how deep.
const (
	mostChanged = 1000
	deepest     = 64
)

// auditEntries moves aside what was changed in a folder that was there before, or moved into it.
func (t *tree) auditEntries(r *runState, path string, it *item, depth int) {
	b, rel, ok := t.locate(path)
	if !ok {
		return
	}
	fd, err := b.folder(rel)
	if err != nil {
		return
	}
	defer locked.Close(fd)
	above := timesAt(fd, ".")
	for more := true; more; {
		changed, folders := t.changedIn(r, fd, path, above)
		more = false
		for _, name := range changed {
			more = t.moveAside(r, join(path, name), it.reason) || more
		}
		if more = more && len(changed) >= mostChanged; more { // there may be others
			_, _ = unix.Seek(fd, 0, unix.SEEK_SET)
			continue
		}
		for _, name := range folders {
			if depth > 0 {
				t.auditEntries(r, join(path, name), it, depth-1)
			}
		}
	}
}

// changedIn are the entries of a folder that were changed since the run began, and the folders among the others.
func (t *tree) changedIn(r *runState, fd int, path string, above times) (changed, folders []string) {
	_ = readFolder(fd, make([]byte, 8192), func(name []byte, _ uint8) bool {
		n := string(name)
		switch st := lookAt(fd, n); {
		case t.own[join(path, n)] == st.ino:
		case !st.folder() && st.ctime >= r.since(), st.folder() && (bornAt(fd, n) >= r.since() || r.wayOf(timesAt(fd, n), above) == moved):
			changed = append(changed, n)
		case st.folder() && len(folders) < mostKept: // a run's own are changed
			folders = append(folders, n)
		}
		return len(changed) < mostChanged
	})
	return changed, folders
}

// reportTo adds a finding to one run.
func (t *tree) reportTo(r *runState, f Finding) {
	if len(r.findings) < mostFindings {
		r.findings = append(r.findings, f)
	}
}
