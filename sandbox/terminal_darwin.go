package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OpenPair opens a new terminal: the side that controls it, and the program's. The kernel names the second after it was
// granted and unlocked; grantpt(3), unlockpt(3) and ptsname_r(3) of macOS are these requests (Libc, stdlib/grantpt.c).
func OpenPair() (controls, line *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	var name [128]byte
	for _, r := range []struct{ request, argument uintptr }{{unix.TIOCPTYGRANT, 0}, {unix.TIOCPTYUNLK, 0}, {unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name[0]))}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), r.request, r.argument); errno != 0 {
			_ = unix.Close(fd)
			return nil, nil, fmt.Errorf("opening a terminal: %w", errno)
		}
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	other, err := unix.Open(string(path), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(fd)
		return nil, nil, fmt.Errorf("opening the other side of a terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), "terminal"), os.NewFile(uintptr(other), "line"), nil
}
