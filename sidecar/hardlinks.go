package sidecar

import (
	"io/fs"
	"path/filepath"

	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/looks"
)

// maxLinkSearch bounds the files looked at in one protected folder.
const maxLinkSearch = 5000

// hardLinked are the files of a protected path that have a second name somewhere: a mount holds one name, and
// the run may have the other. They are left to the guard, which compares and restores.
func hardLinked(p workspace.Protected, l *looks.Looks) []string {
	if p.Link || p.Hold != workspace.ReadOnly {
		return nil
	}
	var out []string
	seen := 0
	_ = filepath.WalkDir(p.Path, func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxLinkSearch {
			return fs.SkipAll
		}
		// A folder is looked at before it is read: an entry that comes later is another look.
		st, err := l.LstatAll(path)
		if err == nil && d.Type().IsRegular() && st.Nlink > 1 {
			out = append(out, path)
		}
		return nil
	})
	return out
}
