package hold

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// stepFlags open a folder without needing the right to read it.
const stepFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openFolder opens dir, which is absolute, or relative to the folder at; a symbolic link anywhere on the way is an error. Kernels before 5.6 and some
// containers' filters have no openat2.
func openFolder(at int, dir string) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(at, dir, &how)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
			return openStepwise(at, dir)
		}
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// publishWhole fills a file that has no name yet and then names it. The link goes through /proc, since naming a
// descriptor by itself takes a capability; protected_hardlinks lets an owner do it.
func publishWhole(dir int, name, content string) error {
	fd, err := unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := writeAll(fd, content); err != nil {
		return err
	}
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), dir, name, unix.AT_SYMLINK_FOLLOW)
}
