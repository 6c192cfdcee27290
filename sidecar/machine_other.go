//go:build !linux

package sidecar

import (
	"runtime"

	"code.sidecar.dev/sandbox"
)

func probe() sandbox.Host { return sandbox.Host{Arch: runtime.GOARCH} }
