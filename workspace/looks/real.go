//go:build unix

package looks

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// Real is filepath.EvalSymlinks for absolute paths: it looks at every part of the way. The result is spelled as the file
// system spells it.
func (l *Looks) Real(path string) (string, error) {
	real, err := l.resolved(path)
	if err == nil && filepath.IsAbs(real) {
		real = spelled(real)
	}
	return real, err
}

func (l *Looks) resolved(path string) (string, error) {
	if l == nil || !filepath.IsAbs(path) {
		return filepath.EvalSymlinks(path)
	}
	at, rest := "/", filepath.Clean(path)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		kind, err := l.Kind(next)
		switch {
		case err != nil:
			return "", &os.PathError{Op: "lstat", Path: next, Err: err}
		case kind == syscall.S_IFLNK:
			if links++; links > maxLinks {
				return "", &os.PathError{Op: "lstat", Path: path, Err: syscall.ELOOP}
			}
			target, err := l.Readlink(next)
			if err != nil {
				return "", err
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			rest = target + "/" + rest
			continue
		case kind != syscall.S_IFDIR && rest != "":
			return "", &os.PathError{Op: "lstat", Path: next, Err: syscall.ENOTDIR}
		}
		at = next
	}
	return at, nil
}
