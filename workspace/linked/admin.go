package linked

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"code.sidecar.dev/workspace/plainfile"
)

// making is the reason in "locked" that keeps "git worktree prune" away from what is not whole yet; git's own
// "worktree add" writes the same.
const making = "initializing"

// stagePrefix begins the name under which an admin folder is filled, in the common git dir.
const stagePrefix = "sidecar-making-"

// makeAdmin makes a worktree's admin folder, as gitrepository-layout(5) describes it under "worktrees", under a name
// that no other has. It is filled elsewhere and appears whole: "git worktree prune", which each gc runs, deletes one
// without a gitdir file, and does so some time after it has looked.
func (t *Trees) makeAdmin(rec *record) (string, error) {
	stage := filepath.Join(t.Common, rec.Stage)
	if err := os.Mkdir(stage, 0o777); err != nil {
		return "", err
	}
	for _, f := range [][2]string{
		{"locked", making}, {"gitdir", filepath.Join(t.path(rec.Name), ".git") + "\n"},
		{"commondir", "../..\n"}, {"HEAD", "ref: refs/heads/" + rec.Name + "\n"},
	} {
		if err := writeNew(filepath.Join(stage, f[0]), f[1]); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(t.Common, "worktrees")
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if err := isRealFolder(dir); err != nil {
		return "", err
	}
	return placeAdmin(stage, filepath.Join(dir, folderName(rec.Name)))
}

// placeAdmin renames an admin folder to path, or with a number behind it. Each name that is there already, whatever
// it is, is passed over, as git does.
func placeAdmin(stage, path string) (string, error) {
	admin := path
	for n := 1; ; n++ {
		err := renameNew(stage, admin)
		if err == nil {
			return admin, nil
		}
		if !errors.Is(err, os.ErrExist) || n > 1000 {
			return "", &os.PathError{Op: "make", Path: admin, Err: err}
		}
		admin = path + strconv.Itoa(n)
	}
}

// writeNew writes a file that must not exist, so that nothing prepared is followed or added to.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// linkFault says what of the pointers between folder and admin folder is not as made; "" when all is. A run cannot
// change them in its own worktree; the person, or a run in the main checkout before the worktree was there, could.
func (t *Trees) linkFault(path, admin string) string {
	if err := isRealFolder(admin); err != nil {
		return err.Error()
	}
	for _, f := range []struct{ file, prefix, base, want string }{
		{filepath.Join(admin, "gitdir"), "", admin, filepath.Join(path, ".git")},
		{filepath.Join(path, ".git"), "gitdir: ", path, admin},
		{filepath.Join(admin, "commondir"), "", admin, t.Common},
	} {
		at, err := pointer(f.file, f.prefix, f.base)
		if err != nil {
			return err.Error()
		}
		if at != f.want {
			return fmt.Sprintf("%s leads to %.200q, want %q", f.file, at, f.want)
		}
	}
	return ""
}

// pointer is the path that a file of git's names; a relative one is seen from base (worktree.useRelativePaths).
func pointer(file, prefix, base string) (string, error) {
	data, err := plainfile.Read(file)
	if err != nil {
		return "", err
	}
	line, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || line == "" {
		return "", fmt.Errorf("%s names no path", file)
	}
	if !filepath.IsAbs(line) {
		line = filepath.Join(base, line)
	}
	return filepath.Clean(line), nil
}

// gitdirOf is the folder that an admin folder is of, as its gitdir file says; "" when it cannot be read.
func gitdirOf(admin string) string {
	path, err := pointer(filepath.Join(admin, "gitdir"), "", admin)
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// adminOf is the admin folder that says it is of the worktree at path; "" when there is none.
func (t *Trees) adminOf(path string) string {
	for _, admin := range t.admins() {
		if gitdirOf(admin) == path {
			return admin
		}
	}
	return ""
}

// admins are the admin folders of all linked worktrees, read anew: others make and drop them meanwhile.
func (t *Trees) admins() []string {
	dir := filepath.Join(t.Common, "worktrees")
	if isRealFolder(dir) != nil {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// lockReason is what "git worktree lock" was told; "" when the worktree is not locked.
func lockReason(admin string) string {
	data, err := plainfile.Read(filepath.Join(admin, "locked"))
	if err != nil {
		return ""
	}
	if text := shown(string(data)); text != "" {
		return text
	}
	return "no reason given"
}

// removeAdmin removes an admin folder, and the folder of admin folders when it was the last, as git does.
func (t *Trees) removeAdmin(admin string) error {
	dir := filepath.Join(t.Common, "worktrees")
	if filepath.Dir(admin) != dir {
		return fmt.Errorf("%s is no admin folder of %s", admin, t.Common)
	}
	if err := isRealFolder(dir); err != nil {
		return err
	}
	if err := removeTree(dir, filepath.Base(admin)); err != nil {
		return err
	}
	_ = os.Remove(dir) // only when empty
	return nil
}
