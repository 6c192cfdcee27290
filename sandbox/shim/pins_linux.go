//go:build linux && (amd64 || arm64)

package shim

import (
	"strings"
	"syscall"
)

// There may be hundreds of pins, and each costs microseconds, so that many are made with as few looks at paths
// as can be: what lies in a pinned folder is named from that folder's descriptor, by its last name alone, which
// also is the surest way not to follow a link. All are cloned before one is attached: the kernel looks through
// all children of the mount that it clones from, so cloning beside hundreds of attached pins would cost their
// square.

// spareFiles are the descriptors that a batch leaves for everything else.
const spareFiles = 64

// mostBatch bounds what one batch takes of the kernel's memory.
const mostBatch = 4000

// batchSize is how many pins are made at once: each takes a descriptor for its mount, and for its folder if
// others lie in it.
func batchSize() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || l.Cur < 256 {
		l.Cur = 256
	}
	return int(min(l.Cur-spareFiles, 2*mostBatch)) / 2
}

// ownFiles gives this thread a table of descriptors of its own: when the kernel enlarges one that threads share
// it waits till every processor has let go of the old one (expand_fdtable in fs/file.c), milliseconds each time.
// Without it only time is lost.
func ownFiles() { _, _, _ = syscall.RawSyscall(syscall.SYS_UNSHARE, syscall.CLONE_FILES, 0, 0) }

// makeAll makes pins in order, parents before what lies below them. The caller's thread is locked. It gives the
// descriptors of the last mounts, which lead nowhere but to what is pinned: closing them is work for when the
// program runs.
func makeAll(pins []Pin) (rest []int, failed Pin, errno syscall.Errno) {
	ownFiles()
	for size := batchSize(); len(pins) > 0; {
		closeAll(rest)
		b := newBatch(pins[:min(size, len(pins))])
		failed, errno = b.make()
		if rest = b.trees(); errno != 0 {
			return rest, failed, errno
		}
		pins = pins[len(b.steps):]
	}
	return rest, Pin{}, 0
}

// step is a pin in the making.
type step struct {
	Pin
	// above is the step that the path is named from, -1 if it is named from its folder's own path; name is the
	// rest of the path.
	above int
	name  string
	// source is the folder as it is without the pins, where others are named from it; tree is the mount.
	source, tree int
	isAbove      bool
}

// batch are pins that are made together.
type batch struct {
	steps []step
	// folders are those that no pin of the batch is or lies above, opened by their paths.
	folders map[string]int
}

func newBatch(pins []Pin) *batch {
	b := &batch{steps: make([]step, len(pins)), folders: map[string]int{}}
	last := -1
	for i, p := range pins {
		// The nearest step above is the last one or above that: parents come first, and a folder's together.
		for last >= 0 && !isBelow(p.Path, pins[last].Path) {
			last = b.steps[last].above
		}
		b.steps[i] = step{Pin: p, above: last, source: -1, tree: -1}
		if s := &b.steps[i]; last >= 0 {
			s.name, b.steps[last].isAbove = p.Path[len(pins[last].Path)+1:], true
		} else {
			s.name = p.Path[strings.LastIndexByte(p.Path, '/')+1:]
		}
		last = i
	}
	return b
}

func isBelow(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

func (b *batch) make() (failed Pin, errno syscall.Errno) {
	defer b.closeFolders()
	for i := range b.steps {
		s := &b.steps[i]
		if errno := persist(func() syscall.Errno { return b.clone(s) }); errno != 0 {
			return s.Pin, errno
		}
	}
	for i := range b.steps {
		s := &b.steps[i]
		if errno := persist(func() syscall.Errno { return b.attachAnew(s) }); errno != 0 {
			return s.Pin, errno
		}
	}
	return Pin{}, 0
}

// persist does again what found nothing: when a program of the host replaces a file with rename(2) just then, what was
// looked up is gone when it is to be mounted, or mounted on.
func persist(do func() syscall.Errno) (errno syscall.Errno) {
	for range 10 {
		if errno = do(); errno != syscall.ENOENT {
			break
		}
	}
	return errno
}

// attachAnew is attach for a step that may have been tried before: its mount is to be that of what is there now. A folder
// that others are named from stays what it is.
func (b *batch) attachAnew(s *step) syscall.Errno {
	if s.tree < 0 {
		if errno := b.clone(s); errno != 0 {
			return errno
		}
	}
	errno := b.attach(s)
	if errno == syscall.ENOENT && !s.isAbove {
		closeAll([]int{s.source, s.tree})
		s.source, s.tree = -1, -1
	}
	return errno
}

// clone makes a step's mount, not attached to anything yet.
func (b *batch) clone(s *step) (errno syscall.Errno) {
	if s.Kind == Covered {
		s.tree, errno = s.clone()
		return errno
	}
	dir, errno := b.folder(s, false)
	if errno != 0 {
		return errno
	}
	if s.isAbove || strings.Contains(s.name, "/") {
		if s.source, errno = openBelow(dir, s.name); errno != 0 {
			return errno
		}
		s.tree, errno = cloneTree(s.source)
	} else {
		s.tree, errno = cloneEntry(dir, s.name)
	}
	if errno != 0 {
		return errno
	}
	return s.setAccess(s.tree)
}

// attach puts a step's mount on its path: what it lies in is attached by now.
func (b *batch) attach(s *step) syscall.Errno {
	dir, errno := b.folder(s, true)
	if errno != 0 {
		return errno
	}
	if !strings.Contains(s.name, "/") {
		return moveMountTo(s.tree, dir, s.name)
	}
	target, errno := openBelow(dir, s.name)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(target) }()
	return moveMount(s.tree, target)
}

// folder is what a step is named from: with pinned, as it is inside the pin above.
func (b *batch) folder(s *step, pinned bool) (int, syscall.Errno) {
	if s.above >= 0 {
		above := &b.steps[s.above]
		if pinned {
			return above.tree, 0
		}
		return above.sourceOf()
	}
	path := s.Path[:len(s.Path)-len(s.name)]
	if fd, ok := b.folders[path]; ok {
		return fd, 0
	}
	fd, errno := openPath(path)
	if errno == 0 {
		b.folders[path] = fd
	}
	return fd, errno
}

// sourceOf is the folder without pins; what is covered has none, and what lies below it is looked for at its path.
func (s *step) sourceOf() (int, syscall.Errno) {
	if s.source >= 0 {
		return s.source, 0
	}
	var errno syscall.Errno
	s.source, errno = openPath(s.Path)
	return s.source, errno
}

// closeFolders closes what leads past the pins.
func (b *batch) closeFolders() {
	for i := range b.steps {
		closeAll([]int{b.steps[i].source})
	}
	for _, fd := range b.folders {
		closeAll([]int{fd})
	}
}

// trees are the mounts' descriptors.
func (b *batch) trees() []int {
	out := make([]int, len(b.steps))
	for i := range b.steps {
		out[i] = b.steps[i].tree
	}
	return out
}

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}
