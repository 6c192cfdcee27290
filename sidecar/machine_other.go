//go:build !linux && !darwin

package sidecar

import (
	"runtime"

	"code.sidecar.dev/sandbox"
)

func probe() sandbox.Host { return sandbox.Host{Arch: runtime.GOARCH} }
