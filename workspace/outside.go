package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/workspace/looks"
)

// Writable are the folders outside Root that a run needs read-write so that git works: the common dir of a
// linked worktree, or a git directory that a ".git" file or link, or GIT_DIR, names. A git directory that does
// not belong to this work tree (Repository.Suspect) is not among them. What is protected in them is in
// Protected.
func (ws *Workspace) Writable() []string {
	if ws.Repo == nil || ws.Repo.Suspect != "" {
		return nil
	}
	var out []string
	for _, dir := range []string{ws.Repo.CommonDir, ws.Repo.GitDir} {
		if !inside(dir, ws.Root) && !slices.ContainsFunc(out, func(o string) bool { return inside(dir, o) }) {
			out = append(out, dir)
		}
	}
	return out
}

// maxAlternates bounds how many object stores are looked at; git's own bound is a depth of five.
const maxAlternates = 32

// ReadableOutside are object stores outside Root that the repositories borrow from (objects/info/alternates,
// gitrepository-layout(5)), which a run needs to read. Only folders that are object stores count, and only those
// that the root's own repository names, whose alternates file is protected: a run that could write one, or make
// a nested repository with one, could otherwise have the next run read any repository of the user. Of each store that borrows
// trusted is asked whether no run can have made it do so.
func (ws *Workspace) ReadableOutside(trusted func(objects string) bool) []string {
	if ws.Repo == nil || ws.Repo.Suspect != "" {
		return nil
	}
	granted := append([]string{ws.Root}, ws.Writable()...)
	out := slices.DeleteFunc(borrowed(ws.looks, filepath.Join(ws.Repo.CommonDir, "objects"), trusted), func(store string) bool {
		return slices.ContainsFunc(granted, func(g string) bool { return inside(store, g) || inside(g, store) })
	})
	slices.Sort(out)
	return out
}

// borrowed are the object stores that one borrows from, and those that these borrow from: each is looked at once,
// however many name it.
func borrowed(l *looks.Looks, objects string, trusted func(string) bool) (out []string) {
	seen := map[string]bool{objects: true}
	for from := []string{objects}; len(from) > 0; from = from[1:] {
		named := readAlternates(l, from[0])
		if len(named) == 0 || !trusted(from[0]) {
			continue
		}
		for _, store := range named {
			if seen[store] || len(seen) > maxAlternates {
				continue
			}
			if seen[store] = true; isObjectStore(l, store) {
				out = append(out, store)
				from = append(from, store)
			}
		}
	}
	return out
}

func readAlternates(l *looks.Looks, objects string) []string {
	data, err := l.ReadThrough(filepath.Join(objects, "info", "alternates"))
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(string(data), "\n") {
		if line != "" && line[0] != '#' && line[0] != '"' && !strings.ContainsRune(line, 0) && len(out) < maxAlternates {
			out = append(out, realPath(l, absolute(line, objects)))
		}
	}
	return out
}

// isObjectStore tells whether a folder holds git objects and no other folders: it is named as git names
// it, and has "pack", "info" and folders of two digits.
func isObjectStore(l *looks.Looks, dir string) bool {
	if filepath.Base(dir) != "objects" || !isFolder(l, filepath.Join(dir, "pack")) {
		return false
	}
	for name, kind := range list(l, dir) {
		if kind == kindFolder && !isStoreFolder(name) {
			return false
		}
	}
	return true
}

func isStoreFolder(name string) bool {
	switch name {
	case "pack", "info", "incoming", "commit-graphs":
		return true
	}
	return strings.HasPrefix(name, "tmp_objdir-") || len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}
