package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

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

// borrows are the object stores outside that a run is shown, since the repository borrows from them. Where the workspace lies
// in a folder that runs could write, one of those may have made it borrow: it gets none.
func (e *Engine) borrows(ws *workspace.Workspace) []string {
	stores := ws.ReadableOutside()
	if len(stores) == 0 {
		return nil
	}
	for dir := filepath.Dir(ws.Root); ; dir = filepath.Dir(dir) {
		if e.written(dir) {
			ws.Notes = append(ws.Notes, "objects that this repository borrows (objects/info/alternates) are not there: runs could write in "+dir+", so that one of them may have named the store")
			return nil
		}
		if dir == filepath.Dir(dir) {
			return stores
		}
	}
}

func (e *Engine) writtenFile(folder string) (string, error) {
	state, err := e.stateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(state, writtenFolder, hex.EncodeToString(sum[:8])), nil
}
