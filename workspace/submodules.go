package workspace

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/gitconfig"
	"code.sidecar.dev/workspace/looks"
)

// Bounds of the search for submodules: a name may have slashes, and a submodule may have submodules.
const (
	maxModuleDepth = 24
	maxModules     = 10_000
)

// maxPath is longer than any path that the kernel takes (PATH_MAX in linux/limits.h).
const maxPath = 4096

// moduleSearch collects the submodules of one repository.
type moduleSearch struct {
	ws   *Workspace
	repo *Repository
	seen map[string]*Repository // by git dir
	left int                    // folders that may still be looked at
	real resolver
}

// listSubmodules fills in r.Submodules: the git dirs below "modules" (gitsubmodules(7); a linked worktree has its
// own in its admin folder), and those that .gitmodules names and that have a git dir elsewhere, as in
// their own work tree.
func (ws *Workspace) listSubmodules(r *Repository) {
	s := &moduleSearch{ws: ws, repo: r, seen: map[string]*Repository{r.GitDir: r, r.CommonDir: r}, left: maxModules, real: resolver{ws.looks, map[string]string{}}}
	modules := filepath.Join(r.GitDir, "modules")
	s.below(modules, list(ws.looks, modules), "", 0)
	if r.WorkTree != "" && inside(r.WorkTree, ws.Root) {
		s.named(r.WorkTree, 0)
	}
	s.finish()
	if s.left <= 0 {
		ws.note("%s has more than %d submodules: not all are known", r.GitDir, maxModules)
	}
}

// below looks for git dirs in a "modules" folder; prefix is the part of the name that led to it.
func (s *moduleSearch) below(dir string, in listing, prefix string, depth int) {
	if depth > maxModuleDepth {
		return
	}
	names := in.folders()
	names = names[:min(len(names), max(s.left, 0))]
	s.left -= len(names)
	lists := make([]listing, len(names))
	together(len(names), func(i int) { lists[i] = list(s.ws.looks, filepath.Join(dir, names[i])) })
	for i, name := range names {
		path, held := filepath.Join(dir, name), lists[i]
		if !held.likeGitDir() {
			s.below(path, held, prefix+name+"/", depth+1)
			continue
		}
		s.add(&Repository{GitDir: path, Name: prefix + name, listing: held})
		if modules := filepath.Join(path, "modules"); held.has("modules") {
			s.below(modules, list(s.ws.looks, modules), "", depth+1)
		}
	}
}

// likeGitDir is weaker than isGitDir: what is half there can be made whole by a run.
func (l listing) likeGitDir() bool { return l.has("HEAD") || l.has("config") }

// named goes through the submodules that the .gitmodules file of a work tree names, and theirs: it finds the
// ".git" of those that are known, and adds those whose git dir is not known yet.
func (s *moduleSearch) named(tree string, depth int) {
	if depth > maxModuleDepth {
		return
	}
	for _, m := range readModules(s.ws.looks, tree) {
		if s.left--; s.left <= 0 {
			return
		}
		path := filepath.Join(tree, m.path)
		if s.real.path(path) != path {
			continue // git refuses a submodule beyond a symbolic link
		}
		s.at(path, m.name, depth)
		if lstatKind(s.ws.looks, filepath.Join(path, ".gitmodules")) != kindAbsent {
			s.named(path, depth+1)
		}
	}
}

// at takes note of the submodule whose work tree is at path.
func (s *moduleSearch) at(path, name string, depth int) {
	dotGit := filepath.Join(path, ".git")
	if target, err := readPointer(s.ws.looks, dotGit); err == nil && s.seen[target] != nil && s.seen[target] != s.repo {
		s.seen[target].DotGit, s.seen[target].DotGitKind, s.seen[target].WorkTree = dotGit, DotGitFile, path
		return
	}
	if f := s.ws.at(path); f != nil && s.seen[f.gitDir] == nil {
		s.add(&Repository{GitDir: f.gitDir, Name: name, DotGit: f.dotGit, DotGitKind: f.kind, WorkTree: path})
		modules := filepath.Join(f.gitDir, "modules")
		s.below(modules, list(s.ws.looks, modules), "", depth+1)
	}
}

// at is the repository whose ".git" lies in dir itself, without a note when there is none.
func (ws *Workspace) at(dir string) *found {
	quiet := &Workspace{env: ws.env, looks: ws.looks}
	if f := quiet.look(dir); f != nil && f.gitDir != "" {
		return f
	}
	return nil
}

func (s *moduleSearch) add(r *Repository) {
	if s.seen[r.GitDir] != nil {
		return
	}
	s.seen[r.GitDir] = r
	s.repo.Submodules = append(s.repo.Submodules, r)
}

// finish reads the repositories that were found.
func (s *moduleSearch) finish() {
	all := s.repo.Submodules
	together(len(all), func(i int) { s.ws.readRepository(all[i]) })
	for _, r := range all {
		s.ws.Notes = append(s.ws.Notes, r.config.Problems...)
		if r.WorkTree == "" {
			r.WorkTree = configuredTree(r, s.real.path)
		}
		s.ws.findDotGit(r)
	}
}

// findDotGit looks for the ".git" in the work tree of a repository, where that lies in the workspace.
func (ws *Workspace) findDotGit(r *Repository) {
	if r.DotGit != "" || r.WorkTree == "" || !inside(r.WorkTree, ws.Root) {
		return
	}
	if entry := filepath.Join(r.WorkTree, ".git"); kindOf(ws.looks, entry) != DotGitNone {
		r.DotGit, r.DotGitKind = entry, kindOf(ws.looks, entry)
	}
}

// module is one submodule as .gitmodules has it (gitmodules(5)).
type module struct {
	name, path string
	config     map[string]string
}

// readModules reads the .gitmodules of a work tree, in its order. Names and paths that git refuses are left
// out (submodule-config.c, check_submodule_name; paths that look like options or leave the tree).
func readModules(l *looks.Looks, tree string) []module {
	file := filepath.Join(tree, ".gitmodules")
	data, err := l.Read(file)
	if err != nil {
		return nil
	}
	list, _ := gitconfig.Parse(file, data)
	index := map[string]int{}
	var out []module
	for _, e := range list {
		name := e.Subsection()
		if e.Section() != "submodule" || !validModuleName(name) {
			continue
		}
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, module{name: name, config: map[string]string{}})
		}
		out[i].config[e.Name()] = e.Value
	}
	return withPaths(out)
}

func withPaths(list []module) []module {
	kept := list[:0]
	for _, m := range list {
		m.path = m.config["path"]
		if m.path != "" && len(m.path) < maxPath && filepath.IsLocal(m.path) && !strings.HasPrefix(m.path, "-") {
			kept = append(kept, m)
		}
	}
	return kept
}

func validModuleName(name string) bool {
	if name == "" {
		return false
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return false
		}
	}
	return true
}
