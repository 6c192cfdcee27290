package nix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Built is an environment in the store.
type Built struct {
	Key string `json:"key"`
	// Out is its store path.
	Out string `json:"out"`
	// Closure are Out and all store paths that it refers to; a sandbox needs these and no others.
	Closure []string `json:"-"`
	// Variables are what a dev shell exports, and Hook is the code that it would execute at its start; empty for others.
	Variables map[string]string `json:"variables,omitempty"`
	Hook      string            `json:"hook,omitempty"`
	// Spec is what was asked, Nixpkgs what its packages come from, At when it was built.
	Spec    Spec      `json:"spec"`
	Nixpkgs Source    `json:"nixpkgs,omitzero"`
	At      time.Time `json:"at"`
	// root is the store of one's own that it is in.
	root string
}

// Bin is the folder with its programs; a dev shell has them in the PATH of its Variables.
func (b Built) Bin() string {
	if b.Spec.Output.Shell {
		return ""
	}
	return b.Out + "/bin"
}

// Real is where a store path is on this machine: elsewhere than its name says, in a store of one's own.
func (b Built) Real(path string) string {
	return filepath.Join("/", b.root, path)
}

// recordVersion is changed with the form of records; others are built anew.
const recordVersion = 1

// record is the first line of a record file; the closure's paths follow, a line each, since thousands of them
// are faster read so than as JSON.
type record struct {
	Version int `json:"version"`
	Paths   int `json:"paths"`
	Built
}

// longestRecord is more than any closure comes to.
const longestRecord = 32 << 20

// touchAfter is how old the mark of the last use may get.
const touchAfter = time.Minute

var errRecord = errors.New("the record cannot be read")

func (s *Store) recordFile(key string) string {
	return filepath.Join(s.options.Dir, "records", key)
}

// read is the environment of a key if it is built and still there. What the store holds is asked of the file
// system: the out path and the root. Nix collects no path that a present one refers to.
func (s *Store) read(key string) (Built, bool) {
	file := s.recordFile(key)
	info, err := os.Stat(file)
	if err != nil || info.Size() > longestRecord {
		return Built{}, false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Built{}, false
	}
	built, err := parseRecord(text)
	built.root = s.options.Root
	if err != nil || built.Key != key || !s.present(built) {
		return Built{}, false
	}
	touch(file, info)
	return built, true
}

// touch marks a file as used now, unless it was just before.
func touch(file string, info os.FileInfo) {
	if time.Since(info.ModTime()) > touchAfter {
		now := time.Now()
		_ = os.Chtimes(file, now, now)
	}
}

// present says whether the store still has an environment, and its root keeps it.
func (s *Store) present(b Built) bool {
	if target, err := os.Readlink(s.rootLink(b.Key)); err != nil || target != b.Out {
		return false
	}
	_, err := os.Lstat(b.Real(b.Out))
	return err == nil
}

// parseRecord reads a record file; half of one, or another's, is an error.
func parseRecord(text []byte) (Built, error) {
	line, rest, ok := bytes.Cut(text, []byte{'\n'})
	var r record
	if !ok || json.Unmarshal(line, &r) != nil || r.Version != recordVersion || !storePath().MatchString(r.Out) {
		return Built{}, errRecord
	}
	body, ended := strings.CutSuffix(string(rest), "\n")
	r.Closure = strings.Split(body, "\n")
	if !ended || len(r.Closure) != r.Paths {
		return Built{}, errRecord
	}
	own := false
	for _, path := range r.Closure {
		name, ok := strings.CutPrefix(path, "/nix/store/")
		if !ok || name == "" || name[0] == '.' || strings.IndexByte(name, '/') >= 0 || strings.IndexByte(name, 0) >= 0 {
			return Built{}, errRecord
		}
		own = own || path == r.Out
	}
	if !own {
		return Built{}, errRecord
	}
	return r.Built, nil
}

// write records an environment, whole or not at all.
func (s *Store) write(b Built) error {
	line, err := json.Marshal(record{Version: recordVersion, Paths: len(b.Closure), Built: b})
	if err != nil {
		return fmt.Errorf("recording an environment: %w", err)
	}
	text := string(line) + "\n" + strings.Join(b.Closure, "\n") + "\n"
	if _, err := parseRecord([]byte(text)); err != nil {
		return fmt.Errorf("bug: what nix built cannot be recorded: %w", err)
	}
	return replace(s.recordFile(b.Key), []byte(text))
}

// replace writes a file so that who reads it sees the old or the new one.
func replace(name string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	_, err = temp.Write(text)
	if err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}
