package workspace

import "path/filepath"

// resolver resolves symbolic links and remembers the folders: submodules share most of their path.
type resolver map[string]string

// path is realPath.
func (r resolver) path(path string) string {
	if real, ok := r[path]; ok {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	real := filepath.Join(r.path(parent), filepath.Base(path))
	if lstatKind(real) == kindLink {
		real = realPath(path)
	}
	r[path] = real
	return real
}
