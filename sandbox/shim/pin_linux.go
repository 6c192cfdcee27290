//go:build linux && (amd64 || arm64)

package shim

import (
	"syscall"
	"unsafe"
)

// Numbers and flags of the calls that the syscall package lacks. The numbers are the same on all
// architectures (include/uapi/asm-generic/unistd.h); flags from linux/mount.h, linux/openat2.h, linux/fcntl.h.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysCloseRange   = 436
	sysOpenat2      = 437
	sysMountSetattr = 442

	oPath             = 0x200000
	atEmptyPath       = 0x1000
	atRecursive       = 0x8000
	openTreeClone     = 1
	openTreeCloexec   = syscall.O_CLOEXEC
	resolveNoSymlinks = 0x04
	moveFromEmpty     = 0x04
	moveToEmpty       = 0x40
	atSymlinkNoFollow = 0x100
	atNoAutomount     = 0x800
	atCwd             = -100
	mountReadOnly     = 0x01
	mountNoSuid       = 0x02
	mountNoDev        = 0x04
)

type openHow struct{ flags, mode, resolve uint64 }

type mountAttr struct{ set, clear, propagation, userns uint64 }

// make makes the pin: a clone of what is at Path, mounted on itself, read-only or not. No symbolic link on
// the way is followed, and Path itself may be one: the mount then holds the link.
func (p Pin) make() syscall.Errno {
	return persist(func() syscall.Errno {
		tree, errno := p.clone()
		if errno != 0 {
			return errno
		}
		return p.attach(tree)
	})
}

// clone makes the mount, not attached to anything yet.
func (p Pin) clone() (tree int, errno syscall.Errno) {
	path := p.Path
	if p.Kind == Covered {
		path = p.cover()
	}
	source, errno := openPath(path)
	if errno != 0 {
		return -1, errno
	}
	defer func() { _ = syscall.Close(source) }()
	if tree, errno = cloneTree(source); errno != 0 {
		return -1, errno
	}
	if errno := p.setAccess(tree); errno != 0 {
		_ = syscall.Close(tree)
		return -1, errno
	}
	return tree, 0
}

// attach puts a cloned mount on Path.
func (p Pin) attach(tree int) syscall.Errno {
	defer func() { _ = syscall.Close(tree) }()
	target, errno := openPath(p.Path)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(target) }()
	return moveMount(tree, target)
}

// cover is what hides a path: an empty folder, or the null device, which cannot be opened in a mount without devices.
func (p Pin) cover() string {
	if p.Folder {
		return "/run/sidecar/empty"
	}
	return "/dev/null"
}

// openPath opens a path without following symbolic links (openat2(2), RESOLVE_NO_SYMLINKS).
func openPath(path string) (int, syscall.Errno) { return openBelow(atCwd, path) }

// openBelow is openPath for a path named from a folder.
func openBelow(dir int, path string) (int, syscall.Errno) {
	b, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, syscall.EINVAL
	}
	how := openHow{flags: oPath | syscall.O_NOFOLLOW | syscall.O_CLOEXEC, resolve: resolveNoSymlinks}
	fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(dir), uintptr(unsafe.Pointer(b)),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	return int(fd), errno
}

var empty = [1]byte{}

func cloneTree(fd int) (int, syscall.Errno) {
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])),
		openTreeClone|openTreeCloexec|atEmptyPath|atRecursive)
	return int(tree), errno
}

// cloneEntry clones what a folder has under a name, itself if it is a link.
func cloneEntry(dir int, name string) (int, syscall.Errno) {
	b, err := syscall.BytePtrFromString(name)
	if err != nil {
		return -1, syscall.EINVAL
	}
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(dir), uintptr(unsafe.Pointer(b)),
		openTreeClone|openTreeCloexec|atRecursive|atSymlinkNoFollow|atNoAutomount)
	return int(tree), errno
}

func (p Pin) setAccess(tree int) syscall.Errno {
	var attr mountAttr
	switch p.Kind {
	case Frozen:
		attr.set = mountReadOnly
	case Covered:
		attr.set = mountReadOnly | mountNoDev
	case Thawed:
		attr.clear = mountReadOnly
	default:
		return 0
	}
	_, _, errno := syscall.Syscall6(sysMountSetattr, uintptr(tree), uintptr(unsafe.Pointer(&empty[0])),
		atEmptyPath|atRecursive, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return errno
}

// readOnly makes the mount at a path read-only.
func readOnly(path string) syscall.Errno {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return syscall.EINVAL
	}
	attr := mountAttr{set: mountReadOnly}
	_, _, errno := syscall.Syscall6(sysMountSetattr, ^uintptr(99), uintptr(unsafe.Pointer(p)), 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return errno
}

func moveMount(tree, target int) syscall.Errno {
	_, _, errno := syscall.Syscall6(sysMoveMount, uintptr(tree), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(target), uintptr(unsafe.Pointer(&empty[0])), moveFromEmpty|moveToEmpty, 0)
	return errno
}

// moveMountTo attaches a mount on what a folder has under a name: move_mount(2) follows no link at the end.
func moveMountTo(tree, dir int, name string) syscall.Errno {
	b, err := syscall.BytePtrFromString(name)
	if err != nil {
		return syscall.EINVAL
	}
	_, _, errno := syscall.Syscall6(sysMoveMount, uintptr(tree), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(dir), uintptr(unsafe.Pointer(b)), moveFromEmpty, 0)
	return errno
}
