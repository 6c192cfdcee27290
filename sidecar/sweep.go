package sidecar

import (
	"path/filepath"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/workspace/hold"
)

// Sweep takes away the placeholders of runs whose sidecar died, and what is left of a sandbox that it was starting. A new
// engine does so by itself before its first run.
// state is the sidecar's state folder.
func Sweep(state string) error {
	sandbox.Sweep()
	return hold.Open(filepath.Join(state, "holds")).Sweep()
}
