package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"code.sidecar.dev/workspace/oddtree"
)

// heldPaths answers for a list of protected paths what it holds.
type heldPaths map[string]Protected

// holds says that a path is held, or that a folder above it is, with all that is in it.
func (h heldPaths) holds(path string) bool {
	if _, ok := h[path]; ok {
		return true
	}
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if p, ok := h[dir]; ok && !p.Link && (p.Hold != Writable) {
			return true
		}
	}
	return false
}

// entries are the entries of folders that decide what a path is: every link on its way, and the last part. "" is what lies
// outside of the root, which no run can change.
func entries(root, path string) (out []string) {
	at, rest := root, strings.Split(strings.TrimPrefix(path, root+"/"), "/")
	for links := 0; len(rest) > 0 && links < 40; rest = rest[1:] {
		next := filepath.Join(at, rest[0])
		if !inside(next, root) {
			return out
		}
		target, err := os.Readlink(next)
		if err != nil {
			if at = next; len(rest) == 1 && at != root {
				out = append(out, at)
			}
			continue
		}
		links++
		out = append(out, next)
		if filepath.IsAbs(target) {
			if !inside(filepath.Clean(target), root) {
				return out
			}
			at, target = root, strings.TrimPrefix(filepath.Clean(target), root)
		}
		rest = append([]string{""}, append(slices.DeleteFunc(strings.Split(target, "/"), func(s string) bool { return s == "" }), rest[1:]...)...)
	}
	return out
}

// obeyedHere are paths that programs of the host would obey in a tree, found without this package: by what git's
// documentation says of a repository's folder, and by names.
func obeyedHere(root string, repo *Repository) []string {
	var out []string
	if repo != nil && repo.CommonDir == filepath.Join(root, ".git") && repo.GitDir == repo.CommonDir {
		out = append(out, root+"/.git/config", root+"/.git/hooks", root+"/.git/commondir", root+"/.git/config.worktree")
	}
	for _, name := range []string{".envrc", ".vscode", ".mcp.json", ".claude", ".npmrc", ".sidecar.yaml", ".hg/hgrc"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			out = append(out, filepath.Join(root, name))
		}
	}
	return out
}

// Whatever a workspace looks like: discovery finds no root but the folder, gives a run nothing outside of it, and holds
// every entry that decides what git, and what obeys files by their names, read there.
func FuzzProtected(f *testing.F) {
	for _, s := range oddtree.Seeds {
		f.Add(s)
	}
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := oddtree.Make(root, text); err != nil {
			t.Fatal(err)
		}
		env := func(name string) string { return map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}[name] }
		ws, err := Discover(root, Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		if ws.Root != root {
			t.Fatalf("the root is %s", ws.Root)
		}
		ws.AddNested([]string{root + "/nested/.git", root + "/nested/inner/.git", root + "/bare.git", root + "/pointed/.git"})
		if given := append(ws.Writable(), ws.ReadableOutside(anyStore)...); len(given) > 0 {
			t.Errorf("a run is given %q", given)
		}
		held := heldPaths{}
		for _, p := range ws.Protected(DefaultRules()) {
			if held[p.Path] = p; !inside(p.Path, root) || filepath.Clean(p.Path) != p.Path || p.Path == root {
				t.Errorf("%q is held as %s, and is none of the workspace's", p.Path, holdNames[p.Hold])
			}
		}
		for _, path := range obeyedHere(root, ws.Repo) {
			for _, entry := range entries(root, path) {
				if !held.holds(entry) {
					t.Errorf("%s decides what %s is, and is not held: %s", entry, path, fmt.Sprint(held))
				}
			}
		}
	})
}
