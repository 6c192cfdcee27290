package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// find looks a program up on a PATH, passing over what lies in the workspace: a file of the project would run on
// the host, with the person's rights. Path is the real file, so that a link cannot change between now and later.
func find(name, searchPath, workspace string) Program {
	var p Program
	for _, dir := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(dir) {
			continue // the working folder is the workspace, as a rule
		}
		found, ok := resolve(filepath.Join(dir, name))
		if !ok {
			continue
		}
		if inside(dir, workspace) || inside(found.Path, workspace) {
			p.Skipped = append(p.Skipped, filepath.Join(dir, name))
			continue
		}
		found.Skipped = p.Skipped
		return found
	}
	return p
}

// named is a program that the config names by its path.
func named(path, workspace string) Program {
	p, ok := resolve(path)
	switch {
	case !ok:
		return Program{Problem: fmt.Sprintf("sandbox.bubblewrap names %q, which is no program", path)}
	case inside(path, workspace) || inside(p.Path, workspace):
		return Program{Problem: fmt.Sprintf("sandbox.bubblewrap names %q, which lies in the workspace and is never run", path)}
	}
	return p
}

// resolve follows links to a regular, executable file.
func resolve(path string) (Program, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Program{}, false
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Program{}, false
	}
	return Program{Path: real, Link: path, Setuid: info.Mode()&os.ModeSetuid != 0}, true
}

// inside says that path is root or below it, also when either is reached through links.
func inside(path, root string) bool {
	if root == "" {
		return false
	}
	return below(path, root) || below(realPath(path), realPath(root))
}

func below(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// realPath resolves what can be resolved.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
