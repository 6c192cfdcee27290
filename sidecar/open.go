package sidecar

import (
	"os"
	"path/filepath"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/declared"
)

// Open opens a regular file that a person named, for a run in the project at root ("" for none yet). Links that runs may have
// made are not followed out of where those write: the error is declared.ErrLeadsOut.
func Open(path, root string) (*os.File, error) {
	path, h, err := fromHere(path, root)
	if err != nil {
		return nil, err
	}
	return h.Open(path)
}

// OpenStream is Open that takes a person's pipes, too.
func OpenStream(path, root string) (*os.File, error) {
	path, h, err := fromHere(path, root)
	if err != nil {
		return nil, err
	}
	return h.OpenStream(path)
}

// Create opens a file to write that a person named, under the same rule, and leaves nothing of what it had.
func Create(path, root string) (*os.File, error) {
	path, h, err := fromHere(path, root)
	if err != nil {
		return nil, err
	}
	return h.Create(path)
}

// LeadsOutHint is what to do about declared.ErrLeadsOut.
const LeadsOutHint = "if it is meant, name the file itself by its own path; else remove the link"

// fromHere makes a path absolute, as the kernel would: .. is that of where a link leads.
func fromHere(path, root string) (string, declared.Host, error) {
	h := declared.Host{Written: writtenOnce()}
	if root != "" {
		h.Workspace = []string{root}
	}
	if path == "" || path[0] == '/' {
		return path, h, nil
	}
	dir, err := os.Getwd()
	return dir + "/" + path, h, err
}

// writtenOnce says of a folder whether runs could write it once; the kept homes and a session's folder lie in the state folder.
func writtenOnce() func(folder string) bool {
	state, err := config.StateDir()
	real, linked := filepath.EvalSymlinks(state)
	return func(folder string) bool {
		return err != nil || linked != nil || sandbox.Inside(folder, real) || writtenIn(state, folder)
	}
}
