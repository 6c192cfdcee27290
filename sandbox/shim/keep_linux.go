//go:build linux && (amd64 || arm64)

package shim

import (
	"syscall"
	"unsafe"
)

// Attaching thousands of store paths one by one costs a run more than all else. A keeper does it once, and gives runs
// copies: mounts that are attached nowhere, made by one system call each (open_tree(2), OPEN_TREE_CLONE). Such a mount can
// be attached in any namespace by whoever may mount there, once.

// put makes the pick, by a keeper's copy of it if there is one that can be had. The caller's descriptor is closed.
func (k Pick) put(tree int) (path string, errno syscall.Errno) {
	if tree >= 0 {
		defer func() { _ = syscall.Close(tree) }()
		if k.attach(tree) == 0 {
			return k.letGo()
		}
	}
	return k.make()
}

// attach puts a copy on To. It has the access of what it was copied from: sealed. The folder in memory that is below it now
// stays empty.
func (k Pick) attach(tree int) syscall.Errno {
	to, errno := openPath(k.To)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(to) }()
	if errno := moveMount(tree, to); errno != 0 {
		return errno
	}
	attr := mountAttr{set: mountReadOnly}
	_, _, _ = syscall.Syscall6(sysMountSetattr, uintptr(to), uintptr(unsafe.Pointer(&empty[0])),
		atEmptyPath, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return 0
}

// keep hands over copies of the first pick, one an order, until nobody can ask for more. It returns the exit status.
func (p Plan) keep() int {
	to, errno := openPath(p.Picks[0].To)
	if errno != 0 {
		return fail("pick", errno, p.Picks[0].To)
	}
	for readOrder(func(o Order, _ int) {
		if o.Tree {
			handOverTree(to)
		}
	}) {
	}
	return 0
}

func handOverTree(of int) {
	tree, errno := cloneTree(of)
	if errno != 0 {
		_ = record(TreeRecord, int(errno), -1)
		return
	}
	_ = record(TreeRecord, 0, tree)
	_ = syscall.Close(tree)
}
