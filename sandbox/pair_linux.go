package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenPair opens a new terminal: the side that controls it, and the program's (ioctl_tty(2)).
func OpenPair() (controls, line *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	other := -1
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		var errno unix.Errno
		var peer uintptr
		if peer, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC); errno != 0 {
			err = errno
		}
		other = int(peer)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), "terminal"), os.NewFile(uintptr(other), "line"), nil
}
