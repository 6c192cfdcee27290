package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput throws away what was typed into a terminal and not read (ioctl_tty(2), TCFLSH).
func flushInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
