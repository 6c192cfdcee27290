package workspace

import (
	"path/filepath"
	"strconv"
	"strings"

	"code.sidecar.dev/workspace/looks"
)

// listWorktrees fills in the linked worktrees that the common dir knows (gitrepository-layout(5),
// "worktrees").
func (ws *Workspace) listWorktrees(r *Repository) {
	dir := filepath.Join(r.CommonDir, "worktrees")
	for _, name := range list(ws.looks, dir).folders() {
		admin := filepath.Join(dir, name)
		w := LinkedWorktree{Name: name, Admin: admin}
		if back := readBackPointer(ws.looks, admin); back != "" {
			w.Path = filepath.Dir(back)
		}
		r.Worktrees = append(r.Worktrees, w)
	}
}

// readBackPointer returns the ".git" file that an admin folder's gitdir names, its folder's links resolved.
// The path is relative to the admin folder when worktree.useRelativePaths wrote it.
func readBackPointer(l *looks.Looks, admin string) string {
	data, err := l.Read(filepath.Join(admin, "gitdir"))
	if err != nil {
		return ""
	}
	line := strings.TrimRight(string(data), "\r\n")
	if line == "" || strings.ContainsRune(line, 0) {
		return ""
	}
	path := absolute(line, admin)
	return filepath.Join(realPath(l, filepath.Dir(path)), filepath.Base(path))
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
