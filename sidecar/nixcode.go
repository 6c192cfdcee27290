package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"code.sidecar.dev/workspace/plainfile"
)

// Bounds of the search for Nix code.
const (
	mostTrusted  = 500
	mostSearched = 500_000
)

// notSearched are folders that no project keeps its Nix code in. What the code names in them is found all the same.
var notSearched = map[string]bool{"node_modules": true, "target": true, "vendor": true, ".venv": true, ".direnv": true}

// codeSearch finds what evaluation can read. It need not find all: Nix gets a copy of what was found, in which nothing else is.
type codeSearch struct {
	root *os.Root
	// files are their hashes by path; seen counts what was looked at.
	files map[string]string
	seen  int
}

// nixCode hashes the project's Nix code: every .nix file and its flake.lock, the files that these name by their paths, and
// those that the person named. Nothing outside of the root is read, also where a link leads there.
func nixCode(root string, named []string) (map[string]string, error) {
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	s := &codeSearch{root: opened, files: map[string]string{}}
	err = s.walk(".", func(rel string) bool { return strings.HasSuffix(rel, ".nix") || path.Base(rel) == "flake.lock" })
	for _, rel := range named {
		if err == nil {
			err = s.walk(rel, func(string) bool { return true })
		}
	}
	return s.files, err
}

// walk adds the files below a folder, or a file, that are wanted.
func (s *codeSearch) walk(top string, wanted func(rel string) bool) error {
	return fs.WalkDir(s.root.FS(), top, func(rel string, d fs.DirEntry, err error) error {
		if s.seen++; errors.Is(err, fs.ErrNotExist) && rel == top {
			return nil // what was named is gone
		}
		if err != nil || s.seen > mostSearched {
			return errors.Join(err, tooLarge(s.seen > mostSearched))
		}
		if d.IsDir() && rel != top && (notSearched[d.Name()] || d.Name() == ".git") {
			return fs.SkipDir
		}
		if d.IsDir() || !wanted(rel) {
			return nil
		}
		return s.add(rel)
	})
}

// add hashes a file, and what it names in its turn.
func (s *codeSearch) add(rel string) error {
	for queue := []string{rel}; len(queue) > 0; queue = queue[1:] {
		if s.files[queue[0]] != "" {
			continue
		}
		text, err := readWithin(s.root, queue[0])
		if err != nil {
			return err
		}
		s.files[queue[0]] = hashed(text)
		if err := tooLarge(len(s.files) > mostTrusted); err != nil {
			return err
		}
		for _, name := range namedIn(queue[0], text) {
			if file := s.fileOf(name); file != "" && s.files[file] == "" {
				queue = append(queue, file)
			}
		}
	}
	return nil
}

// fileOf is the file that a path in the code means: itself, a folder's default.nix, or "".
func (s *codeSearch) fileOf(rel string) string {
	info, err := s.root.Stat(rel)
	if err == nil && info.IsDir() {
		rel = path.Join(rel, "default.nix")
		info, err = s.root.Stat(rel)
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > plainfile.Limit {
		return ""
	}
	return rel
}

// readWithin reads a small regular file of the project.
func readWithin(root *os.Root, rel string) ([]byte, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO would wait for a writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &os.PathError{Op: "read", Path: rel, Err: plainfile.ErrNotRegular}
	}
	text, err := io.ReadAll(io.LimitReader(f, plainfile.Limit+1))
	if err == nil && len(text) > plainfile.Limit {
		err = &os.PathError{Op: "read", Path: rel, Err: plainfile.ErrTooLarge}
	}
	return text, err
}

func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func tooLarge(is bool) error {
	if !is {
		return nil
	}
	return fmt.Errorf("more than %d files, or %d of them Nix code", mostSearched, mostTrusted)
}

// namedIn are the paths, from the root, that a file of Nix code names. Of others than .nix files only those without any
// ending may be code.
func namedIn(rel string, text []byte) (names []string) {
	if ending := path.Ext(rel); ending != ".nix" && ending != "" || bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	for _, literal := range nixPaths(string(text)) {
		bases := []string{path.Dir(rel)}
		if strings.HasPrefix(literal, "/") { // of "${self}/x", or of ./. + "/x"
			bases = append(bases, ".")
		}
		for _, base := range bases {
			if name := path.Join(base, literal); filepath.IsLocal(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
