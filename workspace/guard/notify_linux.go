package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// fsnotify is not used: it adds watches by path, which an attacker can swap for a link meanwhile, reports no
// move's kind, keeps a path per watch, and hides the masks that make watching a tree being built cheap.

const (
	// maskAll is for any folder: only what appears. What disappears is of no interest, and writes are many.
	maskAll = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK
	// maskContent is for folders whose files' content matters.
	maskContent = maskAll | unix.IN_CLOSE_WRITE | unix.IN_MODIFY
	// maskFile is for one file.
	maskFile = unix.IN_CLOSE_WRITE | unix.IN_MODIFY
)

// notifier is an inotify instance.
type notifier struct {
	file *os.File
	raw  syscall.RawConn
	fd   int
	buf  []byte
	// most watches are set; 0 is as many as the kernel gives.
	most int
}

func newNotifier() (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	n := &notifier{file: os.NewFile(uintptr(fd), "inotify"), fd: fd, buf: make([]byte, 64<<10), most: share()}
	if n.raw, err = n.file.SyscallConn(); err != nil {
		n.file.Close()
		return nil, err
	}
	return n, nil
}

// share is how many of the watches that all programs of a user have together one guard takes: three quarters. A run that makes
// folders without end would else have the guard take all, and no editor could watch a file any more.
func share() int {
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n - n/4
}

// noInstance says why there is no inotify and what to do.
func noInstance(err error) string {
	if errors.Is(err, unix.EMFILE) {
		return "no inotify instance is free, so that the whole tree is read after each run; raise it: sysctl fs.inotify.max_user_instances=1024"
	}
	return fmt.Sprintf("inotify cannot be had (%v), so that the whole tree is read after each run", err)
}

const noWatches = "the limit of inotify watches is reached, so that the whole tree is read after each run; raise it: sysctl fs.inotify.max_user_watches=1048576"

// watch sets a watch on an opened folder, by its descriptor: no path is looked up again. It gives -1 and
// degrades the guard when there are no more watches.
func (t *tree) watch(fd int, k kind) int32 {
	mask := uint32(maskAll)
	switch {
	case k&single != 0:
		mask = maskFile
	case k&(gitDir|admin|hooks|obeyed|vcs|refs) != 0:
		mask = maskContent
	}
	if t.notify == nil || t.short != "" || t.closed {
		return -1
	}
	if t.notify.most > 0 && len(t.byWD) >= t.notify.most {
		t.short = noWatches
		return -1
	}
	wd, err := unix.InotifyAddWatch(t.notify.fd, fmt.Sprintf("/proc/self/fd/%d", fd), mask)
	switch {
	case errors.Is(err, unix.ENOSPC):
		t.short = noWatches
	case err != nil && !errors.Is(err, unix.EACCES):
		t.short = fmt.Sprintf("a folder cannot be watched (%v), so that the whole tree is read after each run", err)
	}
	if err != nil {
		return -1
	}
	return int32(wd)
}

// watchFile watches the content of one file, whose folder reports only what appears in it.
func (t *tree) watchFile(n *node, name string) {
	if t.notify == nil || n.kind&gitDir != 0 {
		return
	}
	dir, err := n.base.folder(n.rel())
	if err != nil {
		return
	}
	defer locked.Close(dir)
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && stampOf(&st).file() {
		t.watchNode(fd, &node{base: n.base, parent: n, name: name, kind: single})
	}
}

// listen handles events as they come, until the notifier is closed.
func (t *tree) listen() {
	_ = t.notify.raw.Read(func(uintptr) bool {
		t.drain()
		return false // wait for more
	})
}

// drain handles all events there are. It is called by listen, and by who must know that nothing is left.
func (t *tree) drain() {
	t.drainMu.Lock()
	defer t.drainMu.Unlock()
	if t.notify == nil {
		return
	}
	for !t.isClosed() {
		n, err := unix.Read(t.notify.fd, t.notify.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		t.handleAll(t.notify.buf[:n])
		t.judgeDirty()
	}
}

func (t *tree) handleAll(b []byte) {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(b))
		mask := binary.NativeEndian.Uint32(b[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
		name := b[unix.SizeofInotifyEvent:size]
		for len(name) > 0 && name[len(name)-1] == 0 {
			name = name[:len(name)-1]
		}
		t.handle(wd, mask, string(name))
		b = b[size:]
	}
}

// handle sorts one event.
func (t *tree) handle(wd int32, mask uint32, name string) {
	t.mu.Lock()
	t.happened++
	n := t.byWD[wd]
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		t.lost = "more happened at once than the kernel could report, so that the whole tree was read; raise it: sysctl fs.inotify.max_queued_events=131072"
	case mask&unix.IN_IGNORED != 0:
		delete(t.byWD, wd)
		if n != nil && n.kind&single == 0 {
			t.queued--
		}
	}
	t.mu.Unlock()
	switch {
	case n == nil || mask&(unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 && mask&unix.IN_ISDIR != 0:
		t.folderAppeared(n, name)
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		t.fileAppeared(n, name)
	case mask&(unix.IN_CLOSE_WRITE|unix.IN_MODIFY) != 0:
		t.fileChanged(n, name)
	}
}
