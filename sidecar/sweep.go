package sidecar

import (
	"path/filepath"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/workspace/hold"
)

// Sweep takes away the placeholders of runs whose sidecar died. A new engine does so by itself before its first run.
func Sweep() error {
	state, err := config.StateDir()
	if err != nil {
		return err
	}
	return hold.Open(filepath.Join(state, "holds")).Sweep()
}
