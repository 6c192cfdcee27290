package sidecar

import (
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/workspace"
)

// own are sidecar's own folders where they lie in the workspace, as with a repository of the home folder: its sockets,
// the records of what to clear away on the host, the logs, and the outputs of other runs are not a run's to see.
func (e *Engine) own(ws *workspace.Workspace) []workspace.Protected {
	var out []workspace.Protected
	for _, dir := range e.folders() {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && sandbox.Inside(real, ws.Root) && real != ws.Root {
			out = append(out, workspace.Protected{Path: real, Hold: workspace.Hidden, Folder: true, Reason: "sidecar's own sockets, records and outputs"})
		}
	}
	return out
}

// isOwn says that a folder is, or lies in, one of sidecar's own, where no project can be: a run in it would write what is
// trusted, and what is to be cleared away. Worktrees of sessions lie there to be worked in.
func (e *Engine) isOwn(root string) bool {
	return slices.ContainsFunc(e.folders(), func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return err == nil && sandbox.Inside(root, real) && !isTree(strings.TrimPrefix(root, real+"/"))
	})
}

// isTree says that a path in the state folder is that of a session's worktree, or in one: worktrees/REPOSITORY/NAME. What
// begins with a dot beside them is package linked's own.
func isTree(path string) bool {
	parts := strings.SplitN(path, "/", 4)
	return len(parts) > 2 && parts[0] == worktrees && !strings.HasPrefix(parts[2], ".")
}

// folders are sidecar's own: its state and its sockets.
func (e *Engine) folders() []string {
	dirs := make([]string, 0, 2)
	if dir, err := e.stateDir(); err == nil {
		dirs = append(dirs, dir)
	}
	if dir, err := config.RuntimeDir(); err == nil {
		dirs = append(dirs, dir)
	}
	return dirs
}

// ownFolders are what no run may be shown, whatever is declared: sidecar's own folders, and the person's settings.
func (e *Engine) ownFolders() []string {
	return append(e.folders(), filepath.Dir(config.ConfigFile()))
}
