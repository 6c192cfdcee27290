//go:build unix

package hold

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// fileMode is a placeholder's, less the umask.
const fileMode = 0o644

// errTaken says that something else appeared at a placeholder's path.
var errTaken = errors.New("something else is there now")

// openParents opens the folder that path lies in. When it is missing, it opens the deepest that exists and
// names the missing ones, outermost first.
func openParents(path string) (fd int, missing []string, err error) {
	dir := filepath.Dir(path)
	for {
		fd, err = actIn(unix.AT_FDCWD, dir)
		if !errors.Is(err, unix.ENOENT) {
			break
		}
		missing = append([]string{dir}, missing...)
		dir = filepath.Dir(dir)
	}
	if err != nil {
		return -1, nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return fd, missing, nil
}

// actIn opens a folder to look and work in until locked.Close: a run can take its owner's rights from it, for what is held in it to
// stay there.
func actIn(at int, dir string) (int, error) {
	fd, err := openFolder(at, dir)
	switch {
	case locked.Refused(err) && filepath.IsAbs(dir):
		return locked.At(dir)
	case locked.Refused(err):
		return locked.Folder(at, strings.Trim(dir, "/"))
	case err == nil:
		locked.Act(fd)
	}
	return fd, err
}

// openStepwise opens a folder one component at a time, so that no link on the way is followed. dir is absolute, or relative to
// the folder at.
func openStepwise(at int, dir string) (int, error) {
	start := "."
	if filepath.IsAbs(dir) {
		start = "/"
	}
	fd, err := unix.Openat(at, start, stepFlags, 0)
	for _, name := range strings.Split(strings.Trim(dir, "/"), "/") {
		if err != nil || name == "" {
			break
		}
		var next int
		next, err = unix.Openat(fd, name, stepFlags, 0)
		unix.Close(fd)
		fd = next
	}
	return fd, err
}

// make makes the placeholder, or shares the one that is there.
func (h held) make() error {
	if err := h.makeParents(); err != nil {
		return err
	}
	dir, err := actIn(unix.AT_FDCWD, filepath.Dir(h.Path))
	if err != nil {
		return err
	}
	defer locked.Close(dir)
	if h.Folder {
		err = unix.Mkdirat(dir, filepath.Base(h.Path), 0o755)
	} else {
		err = makeFile(dir, filepath.Base(h.Path), h.Content)
	}
	if errors.Is(err, unix.EEXIST) && !ours(dir, h) {
		return errTaken
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func (h held) makeParents() error {
	for _, p := range h.Parents {
		dir, err := actIn(unix.AT_FDCWD, filepath.Dir(p))
		if err != nil {
			return err
		}
		err = unix.Mkdirat(dir, filepath.Base(p), 0o755)
		locked.Close(dir)
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// publish makes a file whole or not at all. Tests replace it.
var publish = publishWhole

// makeFile makes a file that nobody ever sees half written, where the file system can: git refuses to work with
// an empty commondir, and a kill can come at any moment. Whatever else is in the way of that (no unnamed files on
// NFS and old overlays, no /proc, a filter against links), the plain way may still do, and its error is the one to tell.
func makeFile(dir int, name, content string) error {
	err := publish(dir, name, content)
	if err == nil || errors.Is(err, unix.EEXIST) || noRoom(err) {
		return err
	}
	return writeNew(dir, name, content)
}

// noRoom says that another way of making the file could not succeed either.
func noRoom(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EROFS)
}

// writeNew makes a file and fills it. On a failure nothing of it stays; a kill between the two leaves its
// beginning, for sweep.
func writeNew(dir int, name, content string) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := writeAll(fd, content); err != nil {
		_ = unix.Unlinkat(dir, name, 0)
		return err
	}
	return nil
}

func writeAll(fd int, content string) error {
	for rest := []byte(content); len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		rest = rest[max(n, 0):]
	}
	return nil
}

// remove takes the placeholder away unless another run needs it or it is not what mine tells from the host's,
// and then the folders made for it that are empty.
func (h held) remove(in tree, living needs, mine func(dir int, h held) bool) error {
	if living.wants(h.Path) {
		return nil
	}
	dir, err := in.open(filepath.Dir(h.Path))
	if gone(err) {
		return h.removeParents(in, living)
	}
	if err != nil {
		return err
	}
	defer locked.Close(dir)
	if mine(dir, h) {
		err = removeAt(dir, filepath.Base(h.Path), h.Folder)
	}
	if err != nil {
		return err
	}
	return h.removeParents(in, living)
}

func (h held) removeParents(in tree, living needs) error {
	for i := len(h.Parents) - 1; i >= 0; i-- {
		p := h.Parents[i]
		if living.wants(p) {
			return nil
		}
		dir, err := in.open(filepath.Dir(p))
		if gone(err) {
			continue
		}
		if err == nil {
			err = removeAt(dir, filepath.Base(p), true)
			locked.Close(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gone says that the host has put something else in a folder's place, or nothing: no placeholder is there.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// removeAt removes a file or an empty folder. A folder that the host has put something in stays.
func removeAt(dir int, name string, folder bool) error {
	flags := 0
	if folder {
		flags = unix.AT_REMOVEDIR
	}
	err := unix.Unlinkat(dir, name, flags)
	if gone(err) || folder && (errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)) {
		return nil
	}
	return err
}

// ours says that what lies at h's path is h: the kind is right, and the content to the byte. Whether a folder
// is empty rmdir decides.
func ours(dir int, h held) bool {
	f, st := open(dir, h)
	if f == nil {
		return false
	}
	defer f.Close()
	if h.Folder {
		return true
	}
	if st.Size() != int64(len(h.Content)) {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(len(h.Content))+1))
	return err == nil && string(text) == h.Content
}

// begun says that what lies at h's path is h or its beginning, which is how far a process got that was killed
// while it wrote, or when the power failed.
func begun(dir int, h held) bool {
	f, st := open(dir, h)
	if f == nil {
		return false
	}
	defer f.Close()
	if h.Folder {
		return true
	}
	if st.Size() > int64(len(h.Content)) || !belongsToUs(st) {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(len(h.Content))+1))
	return err == nil && strings.HasPrefix(h.Content, string(text))
}

func belongsToUs(st os.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// open opens what lies at h's path if it is of h's kind, else gives nil.
func open(dir int, h held) (*os.File, os.FileInfo) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	fd, err := unix.Openat(dir, filepath.Base(h.Path), flags, 0)
	if err != nil {
		return nil, nil
	}
	f := os.NewFile(uintptr(fd), h.Path)
	st, err := f.Stat()
	if err != nil || st.IsDir() != h.Folder || !h.Folder && !st.Mode().IsRegular() {
		f.Close()
		return nil, nil
	}
	return f, st
}
