package sidecar

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env/host"
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
	state, err := e.stateDir()
	return err != nil || writtenIn(state, folder)
}

func writtenIn(state, folder string) bool {
	_, err := os.Lstat(noteOf(state, folder))
	return !errors.Is(err, fs.ErrNotExist)
}

// withRecord is a machine that knows which folders runs could write. What is remembered of it holds until another one is noted,
// which changes the time of the folder with the notes: asking for that is all that a run costs.
func withRecord(m host.Machine, state string, err error) host.Machine {
	m.Written = func(folder string) bool { return err != nil || writtenIn(state, folder) }
	if info, err := os.Lstat(filepath.Join(state, writtenFolder)); err == nil {
		m.Record = info.ModTime().UnixNano()
	}
	return m
}

// Machine is this machine for what the program itself executes in the project at root, "" for none.
func Machine(root string) host.Machine {
	m := host.This(root)
	m.Getenv = host.Wider(runtime.GOOS, m.Getenv, m.Home)
	m.Path = m.Getenv("PATH")
	state, err := config.StateDir()
	return withRecord(m, state, err)
}

// programs is the machine in which programs are found that sidecar itself executes.
func (e *Engine) programs(root string) host.Machine {
	state, err := e.stateDir()
	return withRecord(host.Machine{Path: e.getenv("PATH"), Home: e.home, Getenv: e.getenv, Dir: root}, state, err)
}

// refusedProgram says why a program that a setting names is not executed, nil where it may be.
func refusedProgram(m host.Machine, setting, path string) error {
	if !host.NewTools(m).Planted(path) {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // which is said where it is started
	}
	return &protocol.Error{Kind: protocol.Denied, Message: setting + " names " + path + ", which runs can write or once could, and would be started outside of the sandbox",
		Hint: "name one elsewhere, or leave it out for the first on PATH"}
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
	return noteOf(state, folder), nil
}

func noteOf(state, folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(state, writtenFolder, hex.EncodeToString(sum[:8]))
}
