package sidecar

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"code.sidecar.dev/workspace"
)

// maxLinkSearch bounds the files looked at in one protected folder.
const maxLinkSearch = 256

// hardLinked are the files of a protected path that have a second name somewhere: a mount holds one name, and
// the run may have the other. They are left to the guard, which compares and restores.
func hardLinked(p workspace.Protected) []string {
	if p.Link || p.Hold != workspace.ReadOnly {
		return nil
	}
	var out []string
	seen := 0
	_ = filepath.WalkDir(p.Path, func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxLinkSearch {
			return fs.SkipAll
		}
		if d.Type().IsRegular() && links(d) > 1 {
			out = append(out, path)
		}
		return nil
	})
	return out
}

func links(d fs.DirEntry) uint64 {
	info, err := d.Info()
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 0
}
