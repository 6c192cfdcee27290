package sidecar

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sidecar/protocol"
)

// self is this very program on Linux, whatever has become of the file that it was started from (proc(5)).
const self = "/proc/self/exe"

// copiesFolder is where in the state folder copies of programs are that were updated while they served.
const copiesFolder = "programs"

// ownCopy is the copy of this program, if one was needed. As long as it is open, a lock on it says that its process lives.
type ownCopy struct {
	mu   sync.Mutex
	file *os.File
}

// shim is where this program is to be executed from as the shim, given where it was started: what does a run's first steps
// must be of the same build as what wrote its plan. So, where another program has taken its name since (an update, a build
// that is half written), or none is there, it is a copy.
func (e *Engine) shim(started string) (string, error) {
	is, err := os.Stat(self)
	if err != nil || started != e.started { // no Linux, or a shim that was given
		return started, nil
	}
	if there, err := os.Stat(started); err == nil && os.SameFile(is, there) {
		return started, nil
	}
	state, err := e.stateDir()
	if err != nil {
		return "", err
	}
	path, err := e.copied.path(filepath.Join(state, copiesFolder))
	if err != nil {
		return "", &protocol.Error{Kind: protocol.Internal, Message: "this program was updated while it served, and cannot be copied: " + err.Error(), Hint: stateHint(state) + "; or end this sidecar with `sidecar stop`", Err: err}
	}
	return path, nil
}

// path is the copy in a folder, made if it is not there.
func (c *ownCopy) path(dir string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		if _, err := os.Lstat(c.file.Name()); err == nil {
			return c.file.Name(), nil
		}
		_ = c.file.Close()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	sweepCopies(dir)
	name, err := copySelf(dir)
	if err != nil {
		return "", err
	}
	if c.file, err = os.Open(name); err == nil {
		err = unix.Flock(int(c.file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	}
	return name, err
}

// copySelf makes a copy. No process is started meanwhile: one that had it open for writing would keep it from being executed.
func copySelf(dir string) (name string, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	from, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(dir, "sidecar-")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Chmod(0o500), to.Close()); err != nil {
		_ = os.Remove(to.Name())
	}
	return to.Name(), err
}

// sweepCopies removes copies of processes that are gone. One that is just being made by another process may go with them: it
// is then made again.
func sweepCopies(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		f, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.Remove(f.Name())
		}
		_ = f.Close()
	}
}

// remove removes it.
func (c *ownCopy) remove() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		_ = os.Remove(c.file.Name())
		_ = c.file.Close()
		c.file = nil
	}
}
