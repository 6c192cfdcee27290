package hold

import (
	"errors"

	"golang.org/x/sys/unix"
)

// stepFlags open a folder without needing the right to read it.
const stepFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openFolder opens dir; a symbolic link anywhere on the way is an error. Kernels before 5.6 and some
// containers' filters have no openat2.
func openFolder(dir string) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, dir, &how)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
			return openStepwise(dir)
		}
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
