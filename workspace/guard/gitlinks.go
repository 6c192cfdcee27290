//go:build unix

package guard

import (
	"strings"

	"golang.org/x/sys/unix"
)

// linkInGit takes note of a symbolic link in a git directory that was not there before the run. Git leaves
// none, and writes through those it finds: to a reflog whose lines hold a commit's subject, to COMMIT_EDITMSG,
// to the folders of refs and objects; so a link is a way to write anywhere with the hands of the next git on
// the host. It is judged at the end, since git init makes one for a moment to learn whether links work.
func (t *tree) linkInGit(n *node, name string, how origin) {
	if n.kind&(gitDir|admin|inGit) == 0 || len(t.runs) == 0 || isAside(name) {
		return
	}
	path := join(n.path(), name)
	for r := range t.runs {
		if len(r.links) < mostFindings {
			r.links[path] = r.links[path] || how == byEvent
		}
	}
}

// pipeForGit takes note of what may be a named pipe where git reads: in a git directory, or as a .gitattributes, .gitignore
// or .gitmodules anywhere. git, and who asks it for a prompt, would wait for a writer for ever.
func (t *tree) pipeForGit(n *node, name string, how origin) {
	if len(t.runs) == 0 || isAside(name) || n.kind&(gitDir|admin|inGit) == 0 && !strings.HasPrefix(name, ".git") {
		return
	}
	path := join(n.path(), name)
	for r := range t.runs {
		if len(r.pipes) < mostFindings {
			r.pipes[path] = r.pipes[path] || how == byEvent
		}
	}
}

// removePipe removes a named pipe, which holds nothing: among refs it would be one under any name. It is renamed first, so that
// nothing else is removed that has come there meanwhile.
func (t *tree) removePipe(r *runState, path string) {
	to, err := t.rename(r, path)
	if err != nil {
		return // it is gone
	}
	f := Finding{Path: path, Reason: "a named pipe where git reads, so that git on the host would wait for ever", Action: Disarmed, MovedTo: to}
	if dir, name, err := t.folderOf(to); err == nil {
		if lookAt(dir, name).fifo() && unix.Unlinkat(dir, name, 0) == nil {
			f.MovedTo = ""
		}
		unix.Close(dir)
	}
	t.report(f)
}

// auditLinks takes away the links, and the pipes, that the run left for git.
func (t *tree) auditLinks(r *runState) {
	left := func(path string, made bool, is func(stamp) bool) bool {
		st := t.stampAt(path)
		return is(st) && !r.holds(path) && !r.failed[path] && (made || st.ctime >= r.since()) && st.ino != t.own[path]
	}
	for path, made := range r.links {
		if left(path, made, stamp.link) {
			t.moveAside(r, path, "a link in a git directory: git on the host writes through it")
		}
	}
	for path, made := range r.pipes {
		if left(path, made, stamp.fifo) {
			t.removePipe(r, path)
		}
	}
	clear(r.links)
	clear(r.pipes)
}
