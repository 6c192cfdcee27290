//go:build linux && (amd64 || arm64)

package shim

import (
	"syscall"
	"unsafe"
)

// Requests of terminals, the same on amd64 and arm64 (asm-generic/ioctls.h, linux/tty.h; ioctl_tty(2)).
const (
	requestUnlock     = 0x40045431 // TIOCSPTLCK
	requestPeer       = 0x5441     // TIOCGPTPEER
	requestSize       = 0x5414     // TIOCSWINSZ
	requestControl    = 0x540e     // TIOCSCTTY
	requestForeground = 0x5410     // TIOCSPGRP
)

// terminal is the program's own, of the sandbox's own devpts: whatever it is made to do, the host's terminals are out of
// its reach. The shim leads its session, as a shell would, so that the program, a process group of that session, can be
// stopped and continued; the other side goes to the executor.
type terminal struct {
	// line is the side that the program has.
	line int
	// begin is a pipe from which the forked child reads before it goes on: only then it is in the foreground.
	begin [2]int
}

type windowSize struct{ rows, columns, x, y uint16 }

// openTerminal makes the terminal this process's own, and hands the controlling side over.
func openTerminal(rows, columns int) (*terminal, syscall.Errno) {
	control, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err.(syscall.Errno)
	}
	defer func() { _ = syscall.Close(control) }()
	var unlocked int32
	if errno := ioctl(control, requestUnlock, unsafe.Pointer(&unlocked)); errno != 0 {
		return nil, errno
	}
	line, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(control), requestPeer, syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC)
	if errno != 0 {
		return nil, errno
	}
	t := &terminal{line: int(line)}
	size := windowSize{rows: uint16(rows), columns: uint16(columns)}
	if errno := ioctl(control, requestSize, unsafe.Pointer(&size)); errno != 0 {
		return nil, errno
	}
	if _, err := syscall.Setsid(); err != nil {
		return nil, err.(syscall.Errno)
	}
	if errno := ioctl(t.line, requestControl, nil); errno != 0 {
		return nil, errno
	}
	if err := syscall.Pipe2(t.begin[:], syscall.O_CLOEXEC); err != nil {
		return nil, err.(syscall.Errno)
	}
	return t, record(TerminalRecord, 0, control)
}

func ignore(sig syscall.Signal) {
	action := sigaction{handler: 1} // SIG_IGN
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, sigsetSize, 0, 0)
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	return errno
}

// script is what the child does to have the terminal: it waits until it is in the foreground, and has the line as its
// standard streams.
func (t *terminal) script(s *script) {
	s.do(syscall.SYS_SETPGID, 0, 0)
	one := new(byte)
	s.alive = append(s.alive, one)
	s.do(syscall.SYS_READ, uintptr(t.begin[0]), uintptr(unsafe.Pointer(one)), 1)
	for fd := uintptr(0); fd < 3; fd++ {
		s.do(syscall.SYS_DUP3, uintptr(t.line), fd, 0)
	}
}

// start puts the forked child into the foreground and lets it go on.
func (t *terminal) start(pid int) {
	_ = syscall.Setpgid(pid, pid)
	t.foreground(pid)
	_, _ = syscall.Write(t.begin[1], []byte{0})
	_ = syscall.Close(t.begin[0])
	_ = syscall.Close(t.begin[1])
}

func (t *terminal) foreground(pid int) {
	group := int32(pid)
	_ = ioctl(t.line, requestForeground, unsafe.Pointer(&group))
}

// resume lets a stopped program go on.
func (t *terminal) resume(pid int) {
	if t != nil {
		t.foreground(pid)
	}
	signal(pid, syscall.SIGCONT)
}
