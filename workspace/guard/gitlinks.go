//go:build unix

package guard

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

// auditLinks moves aside the links that the run left.
func (t *tree) auditLinks(r *runState) {
	for path, made := range r.links {
		st := t.stampAt(path)
		if !st.link() || r.holds(path) || r.failed[path] || !made && st.ctime < r.since() || st.ino == t.own[path] {
			continue
		}
		t.moveAside(r, path, "a link in a git directory: git on the host writes through it")
	}
	clear(r.links)
}
