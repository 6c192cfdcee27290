package workspace

import (
	"path/filepath"
	"slices"
	"strings"
)

// AddNested takes note of other repositories below Root, as a walk of the tree found them: each path is a
// ".git" entry or a bare repository's folder. Those that are known already, as the root's own, as submodules or
// as linked worktrees, and those that are none, are left out.
func (ws *Workspace) AddNested(paths []string) {
	known := ws.knownGitDirs()
	for _, path := range paths {
		r := ws.nested(path)
		if r == nil {
			ws.noteLocked(path)
		}
		if r == nil || known[r.GitDir] {
			continue
		}
		known[r.GitDir] = true
		ws.Nested = append(ws.Nested, r)
		ws.addModulesOf(r, known)
	}
	slices.SortFunc(ws.Nested, func(a, b *Repository) int { return strings.Compare(a.GitDir, b.GitDir) })
}

// nested reads the repository at a path that lies below Root with no link on the way.
func (ws *Workspace) nested(path string) *Repository {
	top := path
	if filepath.Base(path) == ".git" {
		top = filepath.Dir(path)
	}
	if !filepath.IsAbs(path) || !inside(path, ws.Root) || ws.real(top) != top {
		return nil
	}
	f := ws.at(top)
	if f == nil {
		return nil
	}
	r := &Repository{GitDir: f.gitDir, DotGit: f.dotGit, DotGitKind: f.kind, Bare: f.bare}
	if !f.bare {
		r.WorkTree = top
	}
	ws.readRepository(r)
	ws.Notes = append(ws.Notes, r.config.Problems...)
	if r.WorkTree == "" {
		r.WorkTree = configuredTree(r, ws.real)
	}
	ws.findDotGit(r)
	return r
}

func (ws *Workspace) addModulesOf(r *Repository, known map[string]bool) {
	ws.listSubmodules(r)
	r.Submodules = slices.DeleteFunc(r.Submodules, func(m *Repository) bool {
		old := known[m.GitDir]
		known[m.GitDir] = true
		return old
	})
}

func (ws *Workspace) knownGitDirs() map[string]bool {
	known := map[string]bool{}
	for _, r := range ws.repositories() {
		known[r.GitDir], known[r.CommonDir] = true, true
		for _, w := range r.Worktrees {
			known[w.Admin] = true
		}
	}
	return known
}

// repositories are all that are known, the root's own first.
func (ws *Workspace) repositories() []*Repository {
	var out []*Repository
	add := func(r *Repository) {
		if r != nil {
			out = append(append(out, r), r.Submodules...)
		}
	}
	add(ws.Repo)
	for _, r := range ws.Nested {
		add(r)
	}
	return out
}
