//go:build linux && (amd64 || arm64)

package shim

import (
	"os"
	"syscall"
	"unsafe"
)

// Begun is the line on StatusFD with which the program begins its run: what happens after it is the program's doing, and no
// reason to try again.
const Begun = "begun\n"

// stand makes the sandbox ahead of its run, waits for the hand-over and carries that out. It returns the exit status.
//
// Of what a run could change, or another run could have left there for a program to execute, nothing is to be seen before
// the hand-over: a program that waits has neither a descriptor nor a folder in it that would lead past a pin.
func (p Plan) stand() int {
	p.handOverSockets(p.Sockets, 0)
	for _, k := range p.Picks {
		if path, errno := k.make(); errno != 0 {
			return fail("pick", errno, path)
		}
	}
	root, errno := writableRoot()
	if errno != 0 {
		return fail("root", errno, "/")
	}
	late, path, errno := takeAway(p.Late)
	if errno != 0 {
		return fail("late", errno, path)
	}
	for _, s := range p.Scratch {
		if errno := s.bound(); errno != 0 {
			return fail("scratch", errno, s.Path)
		}
	}
	if step, errno := p.limitNamespaces(); errno != 0 {
		return fail(step, errno, "")
	}
	pid := 0
	if p.Waits != "" {
		if pid, errno = p.startWaiting(root); errno != 0 {
			return fail("fork", errno, p.Waits)
		}
	}
	var hand *Handover
	var at stamps
	if !readOrder(func(o Order, _ int) { hand, at = o.Hand, stamped(o, monotonic()) }) || hand == nil {
		endOthers()
		return fail("go", syscall.EPIPE, "")
	}
	return p.run(*hand, pid, root, late, at)
}

// startWaiting starts the program, which opens the fifo for reading once it is ready for its code.
func (p Plan) startWaiting(root int) (pid int, errno syscall.Errno) {
	if errno := makeFifo(root, p.Waits); errno != 0 {
		return 0, errno
	}
	p.Dir = "/"
	return p.fork(nil)
}

// run carries the hand-over out: the run's own mounts and files first, and only then may the program go on.
func (p Plan) run(h Handover, pid, root int, late []int, at stamps) int {
	for i, path := range p.Late {
		if late[i] < 0 {
			continue
		}
		if errno := attachAt(late[i], path); errno != 0 {
			return fail("late", errno, path)
		}
	}
	if path, errno := p.replaced(); errno != 0 {
		return fail("same", errno, path)
	}
	mounts, pin, errno := makeAll(h.Pins)
	if errno != 0 {
		return fail("pin", errno, pin.Path)
	}
	for _, l := range h.Links {
		if err := symlinkat(l.To, root, l.Path); err != 0 {
			return fail("link", err, l.Path)
		}
	}
	for _, f := range h.Files {
		if errno := f.write(root, p.Waits); errno != 0 {
			return fail("file", errno, f.Path)
		}
	}
	at = at.next()
	if pid == 0 {
		p.Dir, p.Argv, p.Env = h.Dir, h.Argv, h.Env
		report(Begun)
		if pid, errno = p.fork(nil); errno != 0 {
			return fail("fork", errno, "")
		}
	} else {
		go p.release(h, root)
	}
	closeAll(mounts)
	closeAll(late)
	closeOutputs()
	go p.obey(pid, nil)
	return p.wait(pid, nil, at)
}

// release lets a program that waits go on. A fifo is opened for writing when it is open for reading (fifo(7)), so that
// one which is not ready yet is waited for, and one that never will be ends in wait. The file that has the fifo's name
// afterwards is there before the program reads on.
func (p Plan) release(h Handover, root int) {
	fd, err := syscall.Openat(root, relative(p.Waits), syscall.O_WRONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		os.Exit(fail("go", err.(syscall.Errno), p.Waits))
	}
	report(Begun)
	if h.replaces(p.Waits) {
		_ = renameat(root, aside(p.Waits), p.Waits)
	} else {
		_ = syscall.Unlinkat(root, relative(p.Waits))
	}
	_ = writeAll(fd, []byte(h.Release))
	_ = syscall.Close(fd)
}

// replaces says that a file of the hand-over has the fifo's name.
func (h Handover) replaces(fifo string) bool {
	for _, f := range h.Files {
		if f.Path == fifo {
			return true
		}
	}
	return false
}

// write makes the file, in the place of a fifo beside it.
func (f File) write(root int, fifo string) syscall.Errno {
	path := relative(f.Path)
	if f.Path == fifo {
		path = relative(aside(fifo))
	}
	fd, err := syscall.Openat(root, path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err.(syscall.Errno)
	}
	defer func() { _ = syscall.Close(fd) }()
	if errno := writeAll(fd, []byte(f.Data)); errno != 0 {
		return errno
	}
	if err := syscall.Fchmod(fd, uint32(f.Mode)); err != nil {
		return err.(syscall.Errno)
	}
	return 0
}

func aside(fifo string) string { return fifo + "~" }

func relative(path string) string { return path[1:] }

// writableRoot is the sandbox's own root, without what is mounted in it, in a mount of its own that is attached nowhere:
// the one that all see is read-only.
func writableRoot() (fd int, errno syscall.Errno) {
	root, errno := openPath("/")
	if errno != 0 {
		return -1, errno
	}
	defer func() { _ = syscall.Close(root) }()
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(root), uintptr(unsafe.Pointer(&empty[0])), openTreeClone|openTreeCloexec|atEmptyPath)
	if errno != 0 {
		return -1, errno
	}
	attr := mountAttr{clear: mountReadOnly}
	_, _, errno = syscall.Syscall6(sysMountSetattr, tree, uintptr(unsafe.Pointer(&empty[0])), atEmptyPath, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return int(tree), errno
}

// takeAway detaches what is mounted at each path, and keeps it; what was left out, because there is none, as -1.
func takeAway(paths []string) (kept []int, failed string, errno syscall.Errno) {
	for _, path := range paths {
		tree, errno := cloneAt(path)
		if errno == syscall.ENOENT {
			kept = append(kept, -1)
			continue
		}
		if errno != 0 {
			return nil, path, errno
		}
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			return nil, path, err.(syscall.Errno)
		}
		kept = append(kept, tree)
	}
	return kept, "", 0
}

func makeFifo(root int, path string) syscall.Errno {
	if err := syscall.Mknodat(root, relative(path), syscall.S_IFIFO|0o600, 0); err != nil {
		return err.(syscall.Errno)
	}
	return 0
}

func symlinkat(to string, dir int, path string) syscall.Errno {
	target, err := syscall.BytePtrFromString(to)
	name, err2 := syscall.BytePtrFromString(relative(path))
	if err != nil || err2 != nil {
		return syscall.EINVAL
	}
	_, _, errno := syscall.Syscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(target)), uintptr(dir), uintptr(unsafe.Pointer(name)))
	return errno
}

// renameat moves a path of dir to another.
func renameat(dir int, from, to string) error {
	return syscall.Renameat(dir, relative(from), dir, relative(to))
}
