package workspace

import (
	"path/filepath"

	"code.sidecar.dev/workspace/looks"
)

// resolver resolves symbolic links and remembers the folders: submodules share most of their path.
type resolver struct {
	looks *looks.Looks
	known map[string]string
}

// path is realPath.
func (r resolver) path(path string) string {
	if real, ok := r.known[path]; ok {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	real := filepath.Join(r.path(parent), filepath.Base(path))
	if lstatKind(r.looks, real) == kindLink {
		real = realPath(r.looks, path)
	}
	r.known[path] = real
	return real
}
