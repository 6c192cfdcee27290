package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/adrg/xdg"

	"code.sidecar.dev/sidecar/protocol"
)

// The folders follow the XDG base directories. adrg/xdg reads the environment once, at start; a test that
// changes it calls xdg.Reload.

// ConfigFile is the person's file; it need not exist.
func ConfigFile() string {
	return filepath.Join(xdg.ConfigHome, "sidecar", "config.yaml")
}

// StateDir is the folder for what outlives a run (history, outputs, what was disarmed). It is made when it is
// missing, and it is ours alone: mode 0700, our user, no link.
func StateDir() (string, error) { return privateDir(filepath.Join(xdg.StateHome, "sidecar")) }

// NoState is StateDir's error as clients are told of it.
func NoState(err error) *protocol.Error {
	return &protocol.Error{Kind: protocol.Denied, Message: "the state folder: " + err.Error(), Hint: "set XDG_STATE_HOME to a folder of your own", Err: err}
}

// CacheDir is the folder for what can be made again, private like StateDir.
func CacheDir() (string, error) { return privateDir(filepath.Join(xdg.CacheHome, "sidecar")) }

// RuntimeDir is the folder for sockets, private like StateDir: in /run/user/UID where the session has that, else
// in StateDir; never in the shared /tmp. XDG_RUNTIME_DIR is not asked: many MCP clients start their servers without
// it, and those must come to the same socket as a terminal that has it.
func RuntimeDir() (string, error) {
	session := filepath.Join(sessions, strconv.Itoa(os.Geteuid()))
	if checkOwner(session) == nil {
		return privateDir(filepath.Join(session, "sidecar"))
	}
	state, err := StateDir()
	if err != nil {
		return "", err
	}
	return privateDir(filepath.Join(state, "run"))
}

// sessions is where login managers make a folder for each user; tests replace it.
var sessions = "/run/user"

// privateDir makes sure that path is a folder of ours that nobody else can enter. Only its last part may not be
// a link; those above are the person's.
func privateDir(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("making the folder above %s: %w", path, err)
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making a private folder: %w", err)
	}
	if err := checkOwner(path); err != nil {
		return "", err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("looking at a private folder: %w", err)
	}
	if info.Mode().Perm() == 0o700 {
		return path, nil
	}
	return path, tighten(path)
}

// tighten sets mode 0700 through a descriptor that follows no link.
func tighten(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("opening a private folder: %w", err)
	}
	defer f.Close()
	if err := f.Chmod(0o700); err != nil {
		return fmt.Errorf("making %s private: %w", path, err)
	}
	return nil
}

// checkOwner says what is wrong with a folder that should be ours.
func checkOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("looking at a private folder: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, _ := os.Readlink(path)
		return fmt.Errorf("%s is a symbolic link to %q; want a folder of its own", path, target)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", path)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d; want user %d", path, st.Uid, os.Geteuid())
	}
	return nil
}
