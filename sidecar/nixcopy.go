package sidecar

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// copyFolder is where the copy of what was trusted is evaluated: it has a name of its own for each content, which is never
// changed, so that what is built of it is found again.
func (e *Engine) copyFolder(t Trust) (string, error) {
	file, err := e.trustFile(t.Root)
	if err != nil {
		return "", err
	}
	var all bytes.Buffer
	for _, rel := range slices.Sorted(maps.Keys(t.Files)) {
		all.WriteString(t.Files[rel] + " " + rel + "\x00")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file)) // as Nix compares what may be read
	return filepath.Join(dir, copiesOf(filepath.Base(file)), hashed(all.Bytes())[:32]), err
}

// copiesOf is the folder of all copies of a project, beside the record of its trust.
func copiesOf(trustFile string) string { return strings.TrimSuffix(trustFile, ".json") }

// copyTrust makes the copy that Nix evaluates. It has what was trusted and nothing else, whatever a run writes meanwhile.
func (e *Engine) copyTrust(t Trust) error {
	dir, err := e.copyFolder(t)
	if err != nil || isFolder(dir) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(made) }()
	if err := copyTrusted(t, made); err != nil {
		return err
	}
	if err := os.Rename(made, dir); err != nil && !isFolder(dir) { // another process may have been first
		return err
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// copyTrusted copies the trusted files into a new folder, and makes the folders that they name.
func copyTrusted(t Trust, dir string) error {
	from, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	for _, rel := range slices.Sorted(maps.Keys(t.Files)) {
		if err := copyFile(from, to, rel, t.Files[rel]); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies one file that is as it was trusted.
func copyFile(from, to *os.Root, rel, hash string) error {
	text, err := readWithin(from, rel)
	if err != nil {
		return err
	}
	if hashed(text) != hash {
		return untrusted("has changed since it was trusted (" + rel + ")")
	}
	mode := fs.FileMode(0o600)
	if info, err := from.Stat(rel); err == nil && info.Mode()&0o100 != 0 {
		mode = 0o700 // a builder of the project's own
	}
	return errors.Join(to.MkdirAll(filepath.Dir(rel), 0o700), to.WriteFile(rel, text, mode), copyFolders(from, to, namedIn(rel, text)))
}

// copyFolders makes those folders that there are, empty: code may name its sources without needing one of them.
func copyFolders(from, to *os.Root, names []string) error {
	for _, rel := range names {
		if info, err := from.Stat(rel); err != nil || !info.IsDir() {
			continue
		}
		if err := to.MkdirAll(rel, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// copiedAddresses are the addresses that the code in a copy names: evaluation may fetch from these alone.
func copiedAddresses(dir string, t Trust) (addresses []string) {
	for _, rel := range slices.Sorted(maps.Keys(t.Files)) {
		text, _ := os.ReadFile(filepath.Join(dir, rel))
		addresses = append(addresses, nixAddresses(string(text))...)
	}
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	return addresses[:min(len(addresses), mostFetched)]
}

// missed are words of Nix for what a copy, or evaluation without the rest of the machine, lacks.
var missed = []string{"No such file or directory", "does not exist", "restricted mode", "pure eval"}

// onlyTrusted makes the words of an error of the copy those of the project, and says, where it may come of that, that Nix sees
// no more than was trusted.
func onlyTrusted(err error, copied, root string) error {
	known := *protocol.AsError(err)
	known.Message = strings.ReplaceAll(known.Message, copied, root)
	if !slices.ContainsFunc(missed, func(words string) bool { return strings.Contains(known.Message, words) }) {
		return &known
	}
	known.Hint = strings.TrimLeft(known.Hint+"\nNix sees nothing but the files that `sidecar trust` lists: a file that is not trusted is not there; name others with `sidecar trust --with FILE`, in a terminal of your own", "\n")
	return &known
}
