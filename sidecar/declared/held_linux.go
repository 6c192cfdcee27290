package declared

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// objectAt is what lies at a path without links, whoever changes folders on its way meanwhile.
func objectAt(path string) (dev, ino uint64, err error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, how)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Openat2(unix.AT_FDCWD, path, how)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 5.6, or a container's filter
		fd, err = stepwise(path)
	}
	if err != nil {
		return 0, 0, errReplaced
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, 0, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return 0, 0, errReplaced
	}
	return uint64(st.Dev), st.Ino, nil
}

// stepwise opens a path from folder to folder, none of which may be a link.
func stepwise(path string) (fd int, err error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if fd, err = unix.Open("/", flags|unix.O_DIRECTORY, 0); err != nil {
		return -1, err
	}
	names := parts(path)
	for i, name := range names {
		more := flags
		if i < len(names)-1 || strings.HasSuffix(path, "/") {
			more |= unix.O_DIRECTORY
		}
		next, err := unix.Openat(fd, name, more, 0)
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}
