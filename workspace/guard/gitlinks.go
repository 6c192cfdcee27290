//go:build unix

package guard

import (
	"maps"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// oddInGit takes note of a symbolic link, or a named pipe, in a git directory that was not there before the run. Git leaves
// none, and writes through the links it finds: to a reflog whose lines hold a commit's subject, to COMMIT_EDITMSG,
// to the folders of refs and objects; "git worktree prune" and "git gc" empty a folder that a link in "worktrees" leads to. So a
// link is a way to write and delete anywhere with the hands of the next git on the host. For the writer of a pipe it would wait for ever, also where one is a .gitattributes, .gitignore or .gitmodules. They
// are judged at the end, since git init makes a link for a moment to learn whether links work.
func (t *tree) oddInGit(n *node, name string, how origin) {
	inside := n.kind&(gitDir|admin|inGit) != 0
	if len(t.runs) == 0 || !inside && !strings.HasPrefix(name, ".git") {
		return
	}
	path := join(n.path(), name)
	switch st := t.stampAt(path); { // what is something else now, or gone, is told of again when it is one
	case st.link() && inside:
		t.noteOdd(path, how, stamp.link, func(r *runState) map[string]bool { return r.links })
	case st.fifo():
		t.noteOdd(path, how, stamp.fifo, func(r *runState) map[string]bool { return r.pipes })
	}
}

// mostOdd bounds what is remembered of each kind for a run; mostOddFound is how much a walk may find.
const (
	mostOdd      = 1000
	mostOddFound = 20 * mostOdd
)

// noteOdd adds a path to a set of each run. Where that is full, what is none any more is forgotten; where it is full of such, the
// guard cannot tell any more by events what the run has left, and walks at its end.
func (t *tree) noteOdd(path string, how origin, is func(stamp) bool, of func(*runState) map[string]bool) {
	if how == byEvent && t.lost == tooMany { // it is found by the walk
		return
	}
	most := mostOdd
	if how != byEvent {
		most = mostOddFound
	}
	for r := range t.runs {
		set := of(r)
		if _, had := set[path]; !had && len(set) >= most {
			maps.DeleteFunc(set, func(p string, _ bool) bool { return !is(t.stampAt(p)) })
		}
		if _, had := set[path]; !had && len(set) >= most {
			t.lost = tooMany
			continue
		}
		set[path] = set[path] || how == byEvent
	}
}

// tooMany is why events do not suffice.
const tooMany = "a run made more links or named pipes in git directories than can be remembered"

// auditLinks takes away the links, and the pipes, that the run left for git.
func (t *tree) auditLinks(r *runState) {
	left := func(path string, made bool, is func(stamp) bool) bool {
		st := t.stampAt(path)
		return is(st) && !r.holds(path) && !r.failed[path] && (made || st.ctime >= r.since()) && st.ino != t.own[path]
	}
	for path, made := range r.links {
		if left(path, made, stamp.link) {
			t.remove(r, path, stamp.link, "a link in a git directory, to "+clip(t.linkAt(path))+": git on the host writes and deletes through it")
		}
	}
	for path, made := range r.pipes {
		if left(path, made, stamp.fifo) {
			t.remove(r, path, stamp.fifo, "a named pipe where git reads, so that git on the host would wait for ever")
		}
	}
	clear(r.links)
	clear(r.pipes)
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
