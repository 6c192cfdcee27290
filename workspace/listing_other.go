//go:build !linux

package workspace

import (
	"os"
	"path/filepath"

	"code.sidecar.dev/workspace/looks"
)

// readFolder lists a folder.
func readFolder(l *looks.Looks, dir string, max int) (listing, bool) {
	fd, err := openFolder(dir)
	if err != nil {
		l.NotOpened(dir, err)
		return nil, false
	}
	l.Opened(dir, fd)
	out, ok := entriesOf(fd, dir, max)
	l.Listed(dir, out.again(dir, max, ok))
	return out, ok
}

// entriesOf are the entries of an open folder, which it closes.
func entriesOf(fd int, dir string, max int) (listing, bool) {
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	entries, err := f.ReadDir(max)
	out := listing{}
	for _, e := range entries {
		out[e.Name()] = lstatKind(nil, filepath.Join(dir, e.Name()))
	}
	return out, err == nil || len(entries) > 0
}
