package nix

import "syscall"

// attributes put a program of Nix into a group of its own, so that a terminal's ^C does not reach it before we do, and nothing
// of it is left; and have it end when we are killed (prctl(2), PR_SET_PDEATHSIG), with its builders, which it is asked to end.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
