package looks

import (
	"bytes"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spelled is a path of what exists as the file system itself spells it (fcntl(2), F_GETPATH): on a volume that does not tell
// case, one folder is one workspace, however it was typed, and the kernel compares the rules of a sandbox with this form.
// What cannot be opened stays as it was given.
func spelled(path string) string {
	fd, err := unix.Open(path, unix.O_EVTONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return path
	}
	defer func() { _ = unix.Close(fd) }()
	var name [1024]byte // MAXPATHLEN
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), unix.F_GETPATH, uintptr(unsafe.Pointer(&name[0]))); errno != 0 {
		return path
	}
	real, _, _ := bytes.Cut(name[:], []byte{0})
	if len(real) == 0 {
		return path
	}
	return string(real)
}
