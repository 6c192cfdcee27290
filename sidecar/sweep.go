package sidecar

import (
	"path/filepath"

	"code.sidecar.dev/workspace/hold"
)

// Sweep takes away the placeholders of runs whose sidecar died. A new engine does so by itself before its first run.
// state is the sidecar's state folder.
func Sweep(state string) error {
	return hold.Open(filepath.Join(state, "holds")).Sweep()
}
