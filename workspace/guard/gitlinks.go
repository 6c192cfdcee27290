//go:build unix

package guard

import (
	"maps"
	"slices"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// oddInGit takes note of a symbolic link, or a named pipe, in a git directory that was not there before the run. Git leaves
// none, and writes through the links it finds: to a reflog whose lines hold a commit's subject, to COMMIT_EDITMSG,
// to the folders of refs and objects; "git worktree prune" and "git gc" empty a folder that a link in "worktrees" leads to. So a
// link is a way to write and delete anywhere with the hands of the next git on the host. For the writer of a pipe it would wait
// for ever, also where one is a .gitattributes, .gitignore, .gitmodules or .mailmap. They are judged at the end, since git init
// makes a link for a moment to learn whether links work.
func (t *tree) oddInGit(n *node, name string, how origin) {
	inside := n.kind&(gitDir|admin|inGit) != 0
	if !inside && !isReadByGit(name) {
		return
	}
	path := join(n.path(), name)
	st := t.stampAt(path)
	if how == byEvent && inside && st.file() && st.nlink > 1 && len(t.runs) > 0 && !n.inObjects() {
		t.lost = twoNames
	}
	if !st.fifo() && (!st.link() || !inside) { // what is something else now, or gone, is told of again when it is one
		return
	}
	is := odd{made: how == byEvent, what: oddPipe}
	if st.link() {
		is.what = oddLink
	}
	if how == byWalk || len(t.runs) == 0 {
		is.known = t.knowsUnkept(path, st)
	}
	t.noteOdd(path, is)
}

// twoNames is why events do not suffice: no event tells of a reference that is written under another name.
const twoNames = "a run gave a file in a git directory a second name, so that the whole tree was read"

// inObjects says that a folder is that of a git directory's objects, to which git itself gives two names for a moment, or lies in it.
func (n *node) inObjects() bool {
	for ; n != nil; n = n.parent {
		if n.kind&objects != 0 {
			return true
		}
	}
	return false
}

// odd is a link, a pipe, or a reference, that a run may have made.
type odd struct {
	what oddKind
	// made says that it appeared since the run began; else known is since when a walk knows of it.
	made  bool
	known known
}

type oddKind uint8

const (
	oddLink oddKind = iota
	oddPipe
	oddRef
)

func (o odd) is(st stamp) bool {
	switch o.what {
	case oddLink:
		return st.link()
	case oddPipe:
		return st.fifo()
	}
	return st.file()
}

// mostOdd bounds how many a run may have, and mostOddFound what is remembered of those that a walk found.
const (
	mostOdd      = 1000
	mostOddFound = 20 * mostOdd
)

// noteOdd adds a path to those of each run. Where there are too many, what is none any more is forgotten; where most are, the run is
// ended. The walk at its end then finds the others, and those beyond what is remembered are judged at once.
func (t *tree) noteOdd(path string, is odd) {
	if is.made && t.lost == tooMany { // it is found by the walk
		return
	}
	most := mostOdd
	if !is.made {
		most = mostOddFound
	}
	for r := range t.runs {
		was, had := r.odd[path]
		if !had && len(r.odd) >= most && is.made {
			r.forgetOdd(most / 2)
		}
		switch {
		case t.flooded && !is.made:
			t.clearOdd(r, path, is)
		case had || len(r.odd) < most:
			is.made = is.made || was.made
			r.odd[path] = is
		case t.rewalking:
			t.flooded = true
			t.clearOdd(r, path, is)
		default:
			t.lost = tooMany
		}
	}
}

// forgetOdd forgets what is none any more; all, where that is fewer than half: a walk finds the rest.
func (r *runState) forgetOdd(most int) {
	maps.DeleteFunc(r.odd, func(p string, is odd) bool { return !is.is(r.t.stampAt(p)) })
	if len(r.odd) > most {
		r.t.lost = tooMany
		r.storms()
	}
}

// tooMany is why events do not suffice.
const tooMany = "a run made more links, named pipes or odd references in git directories than can be remembered, so that the whole tree was read and all of them were removed"

// auditOdd takes away the links, and the pipes, that the run left for git.
func (t *tree) auditOdd(r *runState) {
	for path, is := range r.odd {
		t.clearOdd(r, path, is)
	}
	clear(r.odd)
}

// clearOdd takes one away if it is the run's.
func (t *tree) clearOdd(r *runState, path string, is odd) {
	st := t.stampAt(path)
	if !is.is(st) || r.holds(path) || r.failed[path] || st.ino == t.own[path] {
		return
	}
	if !is.made && st.ctime < r.since() && (r.knew.had(is.known, st.ino) || !r.brought(path, st.ctime)) {
		return
	}
	if reason := t.whyOdd(path, is.what); reason != "" {
		t.remove(r, path, is.is, reason)
	}
}

// whyOdd says what is wrong with something odd, "" when nothing is any more.
func (t *tree) whyOdd(path string, what oddKind) string {
	switch what {
	case oddLink:
		return "a link in a git directory, to " + clip(t.linkAt(path)) + ": git on the host writes and deletes through it"
	case oddPipe:
		return "a named pipe where git reads, so that git on the host would wait for ever"
	}
	if to := t.leadsOut(path); to != "" {
		return "a git reference that leads out of refs, " + to + ": git on the host would write there"
	}
	return ""
}

// byName is what git itself reads and writes in a git directory.
var byName = []string{"HEAD", "index", "config", "packed-refs", "logs", "logs/HEAD", "logs/refs", "logs/refs/heads", "logs/refs/stash", "refs",
	"refs/heads", "refs/tags", "refs/remotes", "refs/stash", "objects", "objects/info", "objects/pack", "info", "info/exclude", "info/attributes",
	"info/refs", "info/sparse-checkout", "worktrees", "modules", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "MERGE_MSG", "AUTO_MERGE",
	"shallow", "rebase-merge", "rebase-apply", "sequencer", "gc.log"}

// clearNamed takes away first, of very many, what git comes by in any case.
func (t *tree) clearNamed(r *runState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost != tooMany {
		return
	}
	for path := range r.before {
		names := byName
		if ref, ok := t.readLine(join(path, "HEAD")); ok && strings.HasPrefix(ref, "ref: refs/") && !strings.Contains(ref, "..") {
			names = append(slices.Clone(names), ref[len("ref: "):], "logs/"+ref[len("ref: "):])
		}
		for _, name := range names {
			at := join(path, name)
			if st := t.stampAt(at); st.link() {
				t.clearOdd(r, at, odd{what: oddLink, known: t.knowsUnkept(at, st)})
			} else if st.fifo() {
				t.clearOdd(r, at, odd{what: oddPipe, known: t.knowsUnkept(at, st)})
			}
		}
	}
}

// linkAt is where a link leads.
func (t *tree) linkAt(path string) string {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return ""
	}
	defer locked.Close(dir)
	return readLink(dir, name)
}
