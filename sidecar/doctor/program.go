package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"code.sidecar.dev/sidecar/env/host"
)

// find looks a program up on a PATH, passing over what lies where runs write: a file of a project would run on
// the host, with the person's rights. Path is the real file, so that a link cannot change between now and later.
func find(name, searchPath string, tools *host.Tools) Program {
	var p Program
	for _, dir := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(dir) {
			continue // the working folder is the workspace, as a rule
		}
		found, ok := resolve(filepath.Join(dir, name))
		if !ok {
			continue
		}
		if !tools.Safe(found.Link) {
			p.Skipped = append(p.Skipped, filepath.Join(dir, name))
			continue
		}
		found.Skipped = p.Skipped
		return found
	}
	return p
}

// named is a program that the config names by its path.
func named(path string, tools *host.Tools) Program {
	p, ok := resolve(path)
	switch {
	case !ok:
		return Program{Problem: fmt.Sprintf("sandbox.bubblewrap names %q, which is no program", path)}
	case tools.Planted(path):
		return Program{Problem: fmt.Sprintf("sandbox.bubblewrap names %q, which lies where runs write and is never run", path)}
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
