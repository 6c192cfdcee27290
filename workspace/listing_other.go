//go:build !linux

package workspace

import (
	"os"
	"path/filepath"
)

// readFolder lists a folder.
func readFolder(dir string, max int) (listing, bool) {
	fd, err := openFolder(dir)
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	entries, err := f.ReadDir(max)
	out := listing{}
	for _, e := range entries {
		out[e.Name()] = lstatKind(filepath.Join(dir, e.Name()))
	}
	return out, err == nil || len(entries) > 0
}
