package locked

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// stepFlags open a folder without needing the right to read it.
const stepFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func stepInto(dir int, name string) (int, error) { return unix.Openat(dir, name, stepFlags, 0) }

// openFile opens a file as a mere path.
func openFile(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// chmod changes what a descriptor is open for, which may be a mere path.
func chmod(fd int, mode uint32) error { return unix.Chmod(proc(fd), mode) }

func proc(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

func lockedFile(dir int, name string, flags int) (int, error) {
	path, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil || !isLockedFile(&st) {
		return -1, unix.EACCES
	}
	mode := st.Mode & modeBits
	if err := chmod(path, mode|0o400); err != nil {
		return -1, err
	}
	fd, err := unix.Open(proc(path), flags&^unix.O_NOFOLLOW, 0) // the link is /proc's
	_ = chmod(path, mode)
	return fd, err
}
