package logs

import (
	"os"
	"syscall"
)

// becomeStderr makes a file this process's standard error (dup3(2)).
func becomeStderr(f *os.File) error { return syscall.Dup3(int(f.Fd()), syscall.Stderr, 0) }
