//go:build !linux

package remote

import "syscall"

// bound is for Linux only: elsewhere a command whose `sidecar connect` is killed notices when it reads or prints.
func bound(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }
