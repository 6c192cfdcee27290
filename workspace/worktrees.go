package workspace

import (
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"code.sidecar.dev/workspace/plainfile"
)

// maxEntries bounds how many entries of one folder are looked at.
const maxEntries = 4096

// listWorktrees fills in the linked worktrees that the common dir knows (gitrepository-layout(5),
// "worktrees").
func (ws *Workspace) listWorktrees(r *Repository) {
	dir := filepath.Join(r.CommonDir, "worktrees")
	for _, name := range folderNames(dir) {
		admin := filepath.Join(dir, name)
		w := LinkedWorktree{Name: name, Admin: admin}
		if back := readBackPointer(admin); back != "" {
			w.Path = filepath.Dir(back)
		}
		r.Worktrees = append(r.Worktrees, w)
	}
}

// readBackPointer returns the ".git" file that an admin folder's gitdir names, its folder's links resolved.
// The path is relative to the admin folder when worktree.useRelativePaths wrote it.
func readBackPointer(admin string) string {
	data, err := plainfile.Read(filepath.Join(admin, "gitdir"))
	if err != nil {
		return ""
	}
	line := strings.TrimRight(string(data), "\r\n")
	if line == "" || strings.ContainsRune(line, 0) {
		return ""
	}
	path := absolute(line, admin)
	return filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
}

// folderNames are the sorted names of at most maxEntries folders in dir; none when it cannot be read.
func folderNames(dir string) []string {
	var out []string
	for _, e := range entries(dir, maxEntries) {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	sort.Strings(out)
	return out
}

// entries reads at most max entries of a folder that is not a symbolic link.
func entries(dir string, max int) []os.DirEntry {
	f, err := openFolder(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(max)
	return list
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
