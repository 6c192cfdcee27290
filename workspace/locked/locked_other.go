//go:build unix && !linux

package locked

import "golang.org/x/sys/unix"

const stepFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// stepInto opens a folder that may be locked itself: there is no opening of mere paths.
func stepInto(dir int, name string) (int, error) {
	fd, err := unix.Openat(dir, name, stepFlags, 0)
	var st unix.Stat_t
	if !Refused(err) || unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || !isOwn(&st, unix.S_IFDIR) {
		return fd, err
	}
	return openedOnce(dir, name, stepFlags, uint32(st.Mode)&modeBits, all)
}

func openFile(int, string) (int, error) { return -1, unix.EACCES }

func chmod(fd int, mode uint32) error { return unix.Fchmod(fd, mode) }

func lockedFile(dir int, name string, flags int) (int, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, err
	}
	return openedOnce(dir, name, flags, uint32(st.Mode)&modeBits, 0o400)
}

// openedOnce opens what lacks a right, and gives it its mode back.
func openedOnce(dir int, name string, flags int, mode, need uint32) (int, error) {
	if err := unix.Fchmodat(dir, name, mode|need, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, err
	}
	fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW, 0)
	if err != nil {
		_ = unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
		return -1, err
	}
	return fd, unix.Fchmod(fd, mode)
}
