package main

import (
	"os"
	"runtime"

	"code.sidecar.dev/sidecar/protocol"
)

// version is set by the linker for releases ("v1.2.0").
var version = "dev"

// build is this program. The file's time is that of the file that runs, also when another one took its place since.
func build() protocol.Build {
	b := protocol.Build{Version: version}
	name := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		name, _ = os.Executable()
	}
	if info, err := os.Stat(name); err == nil {
		b.Time = info.ModTime()
	}
	return b
}
