//go:build !linux

package nix

import "syscall"

// attributes put a program of Nix into a group of its own, so that a terminal's ^C does not reach it before we do, and nothing
// of it is left.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
