package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput throws away what was typed into a terminal and not read (tty(4), TIOCFLUSH; FREAD is 1).
func flushInput(f *os.File) { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, 1) }
