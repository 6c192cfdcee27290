package sidecar

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
)

// writtenFolder is where in the state folder it is noted which folders runs could write: workspaces, and what was declared.
// A link that lies in one may be a run's, also where this run does not see it.
const writtenFolder = "written"

// noteWritten remembers folders that a run is about to be let write.
func (e *Engine) noteWritten(folders ...string) error {
	for _, folder := range folders {
		file, err := e.writtenFile(folder)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(file); err == nil {
			continue
		}
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = os.WriteFile(file, []byte(folder+"\n"), 0o600)
		}
		if err != nil {
			return &protocol.Error{Kind: protocol.Internal, Message: "noting which folders runs may write: " + err.Error(), Hint: stateHint(filepath.Dir(filepath.Dir(file))), Err: err}
		}
	}
	return nil
}

// written says whether runs could write a folder once. Where that cannot be found out it is taken for so.
func (e *Engine) written(folder string) bool {
	file, err := e.writtenFile(folder)
	if err != nil {
		return true
	}
	_, err = os.Lstat(file)
	return err == nil
}

// borrows are the object stores outside that a run is shown, since the repository borrows from them. Where a repository lies
// in a folder that runs could write, one of those may have made it borrow: what it borrows from is not shown.
func (e *Engine) borrows(ws *workspace.Workspace) []string {
	if ws.Repo == nil {
		return nil
	}
	refused := ""
	own := filepath.Join(ws.Repo.CommonDir, "objects")
	trusted := func(objects string) bool {
		written := ""
		if objects != own || !sandbox.Inside(own, ws.Root) {
			written = e.writtenAbove(aboveRepository(objects))
		}
		if objects == own && written == "" {
			written = e.writtenAbove(filepath.Dir(ws.Root))
		}
		refused = cmp.Or(refused, written)
		return written == ""
	}
	stores := ws.ReadableOutside(trusted)
	if refused != "" {
		ws.Notes = append(ws.Notes, "objects that this repository borrows (objects/info/alternates) are not there: runs could write in "+refused+", so that one of them may have named the store")
	}
	return stores
}

// aboveRepository is the folder from which on upwards a run must have been let write that changed what an object store says: in a
// run in its own repository that is protected. Of a submodule's that is the repository around it.
func aboveRepository(objects string) string {
	gitDir := filepath.Dir(objects)
	if filepath.Base(gitDir) == ".git" {
		gitDir = filepath.Dir(gitDir)
	}
	return filepath.Dir(gitDir)
}

// writtenAbove is a folder, dir or one above it, that runs could write once; "" when there is none.
func (e *Engine) writtenAbove(dir string) string {
	for ; !e.written(dir); dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
	return dir
}

func (e *Engine) writtenFile(folder string) (string, error) {
	state, err := e.stateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(state, writtenFolder, hex.EncodeToString(sum[:8])), nil
}
