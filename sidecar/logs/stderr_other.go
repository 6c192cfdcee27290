//go:build !linux

package logs

import (
	"os"
	"syscall"
)

// becomeStderr makes a file this process's standard error (dup2(2)).
func becomeStderr(f *os.File) error { return syscall.Dup2(int(f.Fd()), syscall.Stderr) }
