package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// ErrLeadsOut is a symbolic link that a run may have made, and that leads out of the folder where that run could write: what
// it leads to may be a secret, which was never meant by its name.
var ErrLeadsOut = errors.New("leads out of the folder where runs write")

// Open opens a file that a person named, to read what is then shown to a run. A link that lies where runs write or wrote is
// followed only as far as it stays in that folder, also if it is replaced meanwhile; any other is the person's. It never waits.
func (h Host) Open(path string) (*os.File, error) {
	return h.open(path, func(w way, folder string) (*os.File, error) {
		return regular(h.under(folder, w.end, os.O_RDONLY|syscall.O_NONBLOCK))
	})
}

// ours are the names of a process's own streams, as a shell writes those of <(COMMAND).
var ours = regexp.MustCompile(`^(/dev/(stdin|stdout|stderr)|(/dev|/proc/self)/fd/[0-9]+)$`)

// OpenStream is Open, and takes a pipe, too, where no run can have put it; then it may wait for who writes.
func (h Host) OpenStream(path string) (*os.File, error) {
	if ours.MatchString(path) {
		return os.Open(path)
	}
	return h.open(path, func(w way, folder string) (*os.File, error) {
		if folder == "" && w.info.Mode().Type() == fs.ModeNamedPipe {
			return os.Open(w.end)
		}
		return regular(h.under(folder, w.end, os.O_RDONLY|syscall.O_NONBLOCK))
	})
}

// Create opens a file to write, of which it leaves nothing, or makes it; links are followed as by Open.
func (h Host) Create(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if ours.MatchString(path) {
		return os.OpenFile(path, flags, 0)
	}
	h = h.withoutLinks()
	w, err := h.walk(path)
	if errors.Is(err, errMissing) && w.absent != "" {
		w.end, err = w.absent, nil
	}
	return h.opened(path, w, err, func(w way, folder string) (*os.File, error) {
		if folder == "" {
			return h.under(folder, w.end, flags)
		}
		return regular(h.under(folder, w.end, flags|syscall.O_NONBLOCK))
	})
}

// open has a file opened at the end of a path, which lies in a folder where runs write, or in none ("").
func (h Host) open(path string, by func(w way, folder string) (*os.File, error)) (*os.File, error) {
	h = h.withoutLinks()
	w, err := h.walk(path)
	return h.opened(path, w, err, by)
}

// opened has a file opened, unless its path was not to be walked.
func (h Host) opened(path string, w way, err error, by func(w way, folder string) (*os.File, error)) (*os.File, error) {
	if err == nil {
		err = h.leadsOut(w)
	}
	var f *os.File
	if err == nil {
		f, err = by(w, h.runsIn(w.end))
	}
	if errors.Is(err, errMissing) {
		err = syscall.ENOENT
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: bare(err)}
	}
	return f, nil
}

// leadsOut is an error where a run's link led out of its folder.
func (h Host) leadsOut(w way) error {
	for _, l := range w.links {
		if folder := h.runsIn(l.at); folder != "" && !inside(w.end, folder) {
			return fmt.Errorf("the symbolic link %s, which a run may have made, %w, to %s", shown(l.at), ErrLeadsOut, shown(w.end))
		}
	}
	return nil
}

// runsIn is the folder around a path in which runs write: the workspace, or else the nearest where one ever could, since the
// run that made a link may have been allowed no more than that.
func (h Host) runsIn(path string) string {
	var nearest string
	for _, folder := range h.Workspace {
		if below(path, folder) && len(folder) > len(nearest) {
			nearest = folder
		}
	}
	if all := h.writtenAround(path); nearest == "" && len(all) > 0 {
		nearest = all[0]
	}
	return nearest
}

// under opens a file in a folder where runs write, without leaving it; the folder, too, may be replaced where another one
// around it can be written.
func (h Host) under(folder, path string, flags int) (*os.File, error) {
	if folder == "" {
		return os.OpenFile(path, flags|syscall.O_NOFOLLOW, 0o666) //nolint:gosec // as the person's umask has it
	}
	outer := folder
	if all := h.writtenAround(folder); len(all) > 0 {
		outer = all[len(all)-1]
	}
	root, err := os.OpenRoot(outer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if outer != folder {
		inner, err := root.OpenRoot(rest(folder, outer))
		if err != nil {
			return nil, err
		}
		defer func() { _ = inner.Close() }()
		root = inner
	}
	return root.OpenFile(rest(path, folder), flags, 0o666)
}

// rest is the path below a folder.
func rest(path, folder string) string {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return path
	}
	return rel
}

// regular closes what is no regular file.
func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("no regular file (%s)", info.Mode().Type())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
