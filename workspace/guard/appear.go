//go:build unix

package guard

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// folderAppeared handles a folder made in, or moved into, a watched one.
func (t *tree) folderAppeared(n *node, name string) {
	t.mu.Lock()
	t.nameAppeared(n, name)
	sub := t.sub(n, name, byEvent)
	t.mu.Unlock()
	if sub != nil {
		t.scanBelow(sub, byEvent)
	}
}

// fileAppeared handles anything else that appeared.
func (t *tree) fileAppeared(n *node, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nameAppeared(n, name)
	t.oddInGit(n, name, byEvent)
	t.oddRef(n, name, byEvent)
	t.notice(n, name, false, byEvent)
	if len(t.runs) == 0 && maySocket(name) {
		t.noticeSocket(n, name)
	}
}

// fileChanged handles a write to a file whose content matters.
func (t *tree) fileChanged(n *node, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n.kind&single != 0 {
		t.pointerChanged(n.path())
		return
	}
	if name == ".git" { // in a git directory, whose own events tell of it
		t.pointerChanged(join(n.path(), name))
	}
	for r := range t.runs {
		r.changedUnheld(n, name)
	}
	t.oddRef(n, name, byEvent)
	t.contentChanged(n, name)
}

// pointerChanged handles a write to a `.git` that is a file.
func (t *tree) pointerChanged(path string) {
	if t.sites[path] == nil {
		t.noteSite(path, pointerSite, byEvent)
	}
	t.dirtySite(path)
}

// nameAppeared looks at what a name means where it appeared: a git directory complete by now, a lock, a path
// that a run's watch names.
func (t *tree) nameAppeared(n *node, name string) {
	if markOf[name] != 0 && n.kind&(gitDir|admin) == 0 {
		t.maybeGitDir(n)
	}
	for r := range t.runs {
		if n.kind&(gitDir|admin) != 0 && strings.HasSuffix(name, ".lock") {
			r.addLock(join(n.path(), name))
		}
		if path := join(n.path(), name); r.held[path] || r.again[path] {
			r.lostMount(n, name)
		} else {
			r.changedUnheld(n, name)
		}
		if r.names[name] > 0 {
			t.checkWatched(r, join(n.path(), name))
		}
	}
	t.contentChanged(n, name)
}

// maybeGitDir looks whether a folder has become a git directory.
func (t *tree) maybeGitDir(n *node) {
	fd, err := n.base.folder(n.rel())
	if err != nil {
		return
	}
	defer locked.Close(fd)
	var m marks
	for name, mark := range markOf {
		if lookAt(fd, name).exists {
			m |= mark
		}
	}
	if m.isGitDir() {
		t.becomesGitDir(n, byEvent, fd)
		t.adoptHooks(n)
	}
}

// adoptHooks scans a hooks folder again that was there before its git directory was known for one.
func (t *tree) adoptHooks(n *node) {
	for _, name := range []string{"hooks", "worktrees"} {
		k, _ := subKind(n, name)
		sub := &node{base: n.base, parent: n, name: name, kind: k, depth: n.depth + 1}
		if fd, err := n.base.folder(sub.rel()); err == nil {
			t.watchNode(fd, sub)
			locked.Close(fd)
		}
	}
}

// contentChanged marks what a changed file belongs to.
func (t *tree) contentChanged(n *node, name string) {
	switch {
	case len(t.runs) == 0:
	case n.kind&(gitDir|admin) != 0:
		if gitItems[name] {
			t.dirtySite(n.path())
		} else if isIndex(name) { // which is judged at the end
			t.touch(n.path())
		}
	case n.kind&hooks != 0:
		dir, _ := split(n.path())
		t.dirtySite(dir)
	case n.kind&vcs != 0:
		t.dirtySite(vcsTop(n))
	case n.kind&obeyed != 0 && n.kind&(vendored|inGit) == 0:
		t.obeyedChanged(join(n.path(), name))
	}
}

// vcsTop is the path of the version control folder that n is or lies in.
func vcsTop(n *node) string {
	for n.parent != nil && !isVCS(n.name) {
		n = n.parent
	}
	return n.path()
}

// maySocket tells names that sockets have, so that not every new file costs a stat.
func maySocket(name string) bool {
	switch filepath.Ext(name) {
	case "", ".sock", ".socket", ".s", ".ipc", ".ctl", ".pipe":
		return true
	}
	return name[0] == '.' && strings.Count(name, ".") == 1
}

func (t *tree) noticeSocket(n *node, name string) {
	path := join(n.path(), name)
	if len(t.sockets) < mostKept && t.stampAt(path).mode&unix.S_IFMT == unix.S_IFSOCK {
		t.sockets[path] = true
	}
}
