//go:build unix

package hold

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a folder that stays the same one, whatever becomes of its path. The zero value is none.
type tree struct {
	path string
	dir  *os.File
}

// plant opens the tree that a record's placeholders are in.
func (r *record) plant(root string) error {
	if root == "" {
		return nil
	}
	fd, err := openFolder(unix.AT_FDCWD, root)
	if err != nil {
		return fmt.Errorf("placeholders in %q: %w", root, err)
	}
	r.tree = tree{filepath.Clean(root), os.NewFile(uintptr(fd), root)}
	info, err := r.tree.dir.Stat()
	if err != nil {
		r.tree.close()
		return err
	}
	r.Root, r.Inode = r.tree.path, inode(info)
	return nil
}

func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// open opens a folder: from the tree's own on if it is said to be in it, also where the tree is elsewhere by now.
func (t tree) open(dir string) (int, error) {
	rel, in := strings.CutPrefix(dir+"/", t.path+"/")
	if t.dir == nil || !in {
		return actIn(unix.AT_FDCWD, dir)
	}
	return actIn(int(t.dir.Fd()), "./"+rel)
}

func (t tree) close() {
	if t.dir != nil {
		_ = t.dir.Close()
	}
}

// longestAway is how long a tree is looked for that is not in its place.
const longestAway = 30 * 24 * time.Hour

// isAway says that another folder, or none, is where a dead run's tree was: it was renamed, or is not mounted, and may come
// back with its placeholders.
func (r *record) isAway() bool {
	if r.Root == "" {
		return false
	}
	if info, err := os.Lstat(r.Root); err == nil && inode(info) == r.Inode {
		return false
	}
	written, err := r.file.Stat()
	return err == nil && time.Since(written.ModTime()) < longestAway
}
