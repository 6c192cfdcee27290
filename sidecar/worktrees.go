package sidecar

import (
	"errors"
	"path/filepath"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/linked"
)

// worktrees is the folder of sessions' worktrees in the state folder.
const worktrees = "worktrees"

// Worktrees are the linked worktrees of agents' sessions in the repository around root. They lie in the state folder,
// where neither editors nor runs of other checkouts meet them.
func (e *Engine) Worktrees(root string) (*linked.Trees, error) {
	ws, err := e.discover(root, nil)
	if err != nil {
		return nil, err
	}
	machine := e.machine(root)
	git, ok := host.Tool(machine, "git")
	if !ok {
		return nil, &protocol.Error{Kind: protocol.BackendMissing, Message: "no git is on PATH where no runs write", Hint: "install git"}
	}
	state, err := config.StateDir()
	if err != nil {
		return nil, err
	}
	trees, err := linked.Open(ws, linked.Options{Folder: filepath.Join(state, worktrees), Git: git, Path: host.SearchPath(machine)})
	return trees, WorktreeError(err)
}

// WorktreeError is an error of package linked as clients know errors.
func WorktreeError(err error) error {
	var known *linked.Error
	if !errors.As(err, &known) {
		return err
	}
	kind := protocol.BadRequest
	if known.Kind == linked.ErrGit {
		kind = protocol.Internal
	}
	return &protocol.Error{Kind: kind, Message: known.Msg, Hint: known.Hint, Err: err}
}
