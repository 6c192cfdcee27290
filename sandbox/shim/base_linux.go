//go:build linux && (amd64 || arm64)

package shim

import "syscall"

// make puts the folder on. Whoever may write in it can do so meanwhile, so that every path in it is opened without
// following a link (openat2(2), RESOLVE_NO_SYMLINKS), and what was opened is what is mounted on. It names what could not
// be done.
func (b Base) make() (path string, errno syscall.Errno) {
	trees := make([]int, 0, len(b.Above))
	defer func() { closeAll(trees) }()
	for _, above := range b.Above {
		tree, errno := cloneAt(above)
		if errno != 0 {
			return above, errno
		}
		trees = append(trees, tree)
	}
	base, errno := cloneAt(b.From)
	if errno != 0 {
		return b.From, errno
	}
	errno = attachAt(base, b.To)
	if _ = syscall.Close(base); errno != 0 {
		return b.To, errno
	}
	for i, above := range b.Above {
		if errno := attachAt(trees[i], above); errno != 0 {
			return above, errno
		}
	}
	if err := syscall.Unmount(b.From, syscall.MNT_DETACH); err != nil {
		return b.From, err.(syscall.Errno)
	}
	return "", 0
}

func cloneAt(path string) (int, syscall.Errno) {
	fd, errno := openPath(path)
	if errno != 0 {
		return -1, errno
	}
	defer func() { _ = syscall.Close(fd) }()
	return cloneTree(fd)
}

func attachAt(tree int, path string) syscall.Errno {
	fd, errno := openPath(path)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(fd) }()
	return moveMount(tree, fd)
}
