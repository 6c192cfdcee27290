//go:build linux && (amd64 || arm64)

package shim

import (
	"syscall"
	"unsafe"
)

// make attaches a clone of each entry of From to To, makes To read-only with all that is on it, and detaches From. The
// clones have From's access: read-only. It names what could not be done.
func (k Pick) make() (path string, errno syscall.Errno) {
	from, errno := openPath(k.From)
	if errno != 0 {
		return k.From, errno
	}
	defer func() { _ = syscall.Close(from) }()
	to, errno := openPath(k.To)
	if errno != 0 {
		return k.To, errno
	}
	defer func() { _ = syscall.Close(to) }()
	for _, name := range k.Names {
		if errno := pick(from, to, name); errno != 0 {
			return k.To + "/" + name, errno
		}
	}
	if errno := k.seal(to); errno != 0 {
		return k.To, errno
	}
	return k.letGo()
}

// seal makes To read-only, also as a file system: copies of it are mounts of the same one. Nothing that is mounted
// elsewhere later shall appear in it (mount_namespaces(7), MS_PRIVATE).
func (k Pick) seal(to int) syscall.Errno {
	attr := mountAttr{set: mountReadOnly | mountNoSuid | mountNoDev, propagation: syscall.MS_PRIVATE}
	_, _, errno := syscall.Syscall6(sysMountSetattr, uintptr(to), uintptr(unsafe.Pointer(&empty[0])),
		atEmptyPath|atRecursive, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return errno
	}
	if err := syscall.Mount("", k.To, "", syscall.MS_REMOUNT|syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, ""); err != nil {
		return err.(syscall.Errno)
	}
	return 0
}

// letGo detaches From.
func (k Pick) letGo() (path string, errno syscall.Errno) {
	if err := syscall.Unmount(k.From, syscall.MNT_DETACH); err != nil {
		return k.From, err.(syscall.Errno)
	}
	return "", 0
}

// pick attaches one entry. A symbolic link is made anew: a mount of one would be followed by nobody.
func pick(from, to int, name string) syscall.Errno {
	b, err := syscall.BytePtrFromString(name)
	if err != nil {
		return syscall.EINVAL
	}
	tree, errno := cloneEntry(from, name)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(tree) }()
	var st syscall.Stat_t
	if err := syscall.Fstat(tree, &st); err != nil {
		return err.(syscall.Errno)
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		return copyLink(from, to, b)
	case syscall.S_IFDIR:
		err = syscall.Mkdirat(to, name, 0o755)
	default:
		err = syscall.Mknodat(to, name, syscall.S_IFREG|0o444, 0)
	}
	if err != nil {
		return err.(syscall.Errno)
	}
	return moveMountTo(tree, to, name)
}

func copyLink(from, to int, name *byte) syscall.Errno {
	var target [4096]byte
	n, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(from), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&target[0])), uintptr(len(target)-1), 0, 0)
	if errno != 0 {
		return errno
	}
	target[n] = 0
	_, _, errno = syscall.Syscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(&target[0])), uintptr(to), uintptr(unsafe.Pointer(name)))
	return errno
}
