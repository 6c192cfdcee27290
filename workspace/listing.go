package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"code.sidecar.dev/workspace/locked"
	"code.sidecar.dev/workspace/looks"
)

// maxEntries bounds how many entries of one folder are looked at.
const maxEntries = 4096

// fileKind is what lstat says about a path, as far as it matters here.
type fileKind int

const (
	kindAbsent fileKind = iota
	kindFolder
	kindFile
	kindLink
	kindOther
)

func lstatKind(l *looks.Looks, path string) fileKind {
	kind, err := l.Kind(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return kindAbsent
	}
	if err != nil {
		return kindOther // there is something that cannot be looked at
	}
	switch kind {
	case syscall.S_IFDIR:
		return kindFolder
	case syscall.S_IFREG:
		return kindFile
	case syscall.S_IFLNK:
		return kindLink
	}
	return kindOther
}

func openFolder(dir string) (int, error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if locked.Refused(err) { // whoever may enter it uses what is there
		return locked.List(dir)
	}
	return fd, err
}

// listing is what a folder holds: at most maxEntries of its names.
type listing map[string]fileKind

// list lists a folder that is not a symbolic link; one that cannot be read is as an empty one.
func list(l *looks.Looks, dir string) listing {
	in, _ := readFolder(l, dir, maxEntries)
	return in
}

// again lists the folder anew and says whether its entries, but for some, are these; nil when not all of them are known.
func (l listing) again(dir string, max int, complete bool) func(but []string) bool {
	if !complete || len(l) >= max {
		return nil
	}
	return func(but []string) bool {
		now, ok := readFolder(nil, dir, max)
		if !ok {
			return false
		}
		isLeft := func(name string, _ fileKind) bool { return slices.Contains(but, name) }
		was := maps.Clone(l)
		maps.DeleteFunc(was, isLeft)
		maps.DeleteFunc(now, isLeft)
		return maps.Equal(was, now)
	}
}

// partial says that there may be more than the listing has.
func (l listing) partial() bool { return len(l) >= maxEntries }

// has says whether a name is there, or may be.
func (l listing) has(name string) bool {
	_, ok := l[name]
	return ok || l.partial()
}

func (l listing) names() []string { return slices.Sorted(maps.Keys(l)) }

// folders are the sorted names of folders.
func (l listing) folders() []string {
	var out []string
	for name, kind := range l {
		if kind == kindFolder {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
