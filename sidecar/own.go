package sidecar

import (
	"path/filepath"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/workspace"
)

// own are sidecar's own folders where they lie in the workspace, as with a repository of the home folder: its sockets,
// the records of what to clear away on the host, the logs, and the outputs of other runs are not a run's to see.
func (e *Engine) own(ws *workspace.Workspace) []workspace.Protected {
	var out []workspace.Protected
	dirs := make([]string, 0, 2)
	if dir, err := e.stateDir(); err == nil {
		dirs = append(dirs, dir)
	}
	if dir, err := config.RuntimeDir(); err == nil {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && sandbox.Inside(real, ws.Root) && real != ws.Root {
			out = append(out, workspace.Protected{Path: real, Hold: workspace.Hidden, Folder: true, Reason: "sidecar's own sockets, records and outputs"})
		}
	}
	return out
}
