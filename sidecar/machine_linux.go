package sidecar

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
)

// probe is what planners must know of this machine. It costs a few system calls.
func probe() sandbox.Host {
	major, minor := kernelVersion()
	exe, err := os.Executable()
	if err != nil {
		exe = "/proc/self/exe"
	}
	return sandbox.Host{
		Shim: exe, Arch: runtime.GOARCH, Root: os.Geteuid() == 0,
		UserProcessLimit: atLeast(major, minor, 5, 14),
		PIDLimit:         atLeast(major, minor, 6, 14),
		Mounts:           mountMode(major, minor),
		Keyrings:         unix.Access("/proc/keys", unix.F_OK) == nil,
	}
}

// mountMode: the shim needs mount_setattr(2), Linux 5.12.
func mountMode(major, minor int) sandbox.MountMode {
	if atLeast(major, minor, 5, 12) {
		return sandbox.ByShim
	}
	return sandbox.ByArgv
}

func atLeast(major, minor, wantMajor, wantMinor int) bool {
	return major > wantMajor || major == wantMajor && minor >= wantMinor
}

// kernelVersion reads uname(2)'s release, "6.1.0-18-amd64".
func kernelVersion() (major, minor int) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return 0, 0
	}
	fields := strings.FieldsFunc(unix.ByteSliceToString(u.Release[:]), func(r rune) bool { return r < '0' || r > '9' })
	if len(fields) < 2 {
		return 0, 0
	}
	major, _ = strconv.Atoi(fields[0])
	minor, _ = strconv.Atoi(fields[1])
	return major, minor
}
