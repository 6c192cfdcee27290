package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/session"
)

// Where in the state folder sessions meet their interpreters. Each name has a folder, in which each of its sessions has
// one, named after the process that keeps it: what is left there by a process that is gone says that a session was lost.
const sessionsFolder = "sessions"

// recordAge is how long it is remembered that a session was lost.
const recordAge = 7 * 24 * time.Hour

// sessionFolder makes the folder of a session; lost says that an earlier one's was left behind.
func (e *Engine) sessionFolder(k *kept) (f *session.Folder, lost bool, err error) {
	state, err := e.stateDir()
	if err != nil {
		return nil, false, err
	}
	all := filepath.Join(state, sessionsFolder)
	forgetRecords(all, time.Now())
	sum := sha256.Sum256([]byte(k.key.root + "\x00" + k.key.language + "\x00" + k.key.name))
	dir := filepath.Join(all, hex.EncodeToString(sum[:12]))
	lost = clearRecords(dir)
	f, err = session.Make(filepath.Join(dir, strconv.Itoa(os.Getpid())+"-"+k.id))
	if err != nil {
		err = &protocol.Error{Kind: protocol.Internal, Message: err.Error(), Err: err, Hint: fmt.Sprintf("sidecar's state folder %q must be writable for you, and have room", state)}
	}
	return f, lost, err
}

// clearRecords takes away what processes that are gone have left in a name's folder, and says whether there was any.
func clearRecords(dir string) (found bool) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !isKeeping(entry.Name()) {
			found = true
			_ = os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
	return found
}

// isKeeping says that the process lives that a session's folder is named after.
func isKeeping(name string) bool {
	number, _, _ := strings.Cut(name, "-")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return false
	}
	err = syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// keepRecord leaves a folder, empty and of no process, for who asks for the session the next time.
func keepRecord(dir string) {
	_, id, _ := strings.Cut(filepath.Base(dir), "-")
	_ = os.Mkdir(filepath.Join(filepath.Dir(dir), "0-"+id), 0o700)
}

// forgetRecords takes away folders of names that nobody has asked for in long.
func forgetRecords(all string, now time.Time) {
	names, _ := os.ReadDir(all)
	for _, name := range names {
		info, err := name.Info()
		if err != nil || now.Sub(info.ModTime()) < recordAge {
			continue
		}
		dir := filepath.Join(all, name.Name())
		clearRecords(dir)
		_ = os.Remove(dir) // stays while a session lives in it
	}
}
