package sidecar

import (
	"os"
	"path/filepath"
	"runtime"

	"code.sidecar.dev/sandbox"
)

// probe is what planners must know of this machine. Links to our own program, such as Homebrew's, are resolved: the kernel
// compares rules with where it really is.
func probe() sandbox.Host {
	exe, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
	}
	return sandbox.Host{Backend: sandbox.Seatbelt, Shim: exe, Arch: runtime.GOARCH, Root: os.Geteuid() == 0}
}
