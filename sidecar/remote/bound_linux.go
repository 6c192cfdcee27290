package remote

import "syscall"

// bound has a child hung up when this process is killed.
func bound(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGHUP
	return a
}
