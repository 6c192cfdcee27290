package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	// maxProject bounds a project's file, maxOwn the person's.
	maxProject = 64 << 10
	maxOwn     = 1 << 20
)

// readOwn reads a file of the person or the machine; it may be a link, as dotfile managers make them. One that leads to
// nothing is a mistake: who made it has settings, which may narrow what runs may do.
func readOwn(path string) ([]byte, error) {
	text, err := readBounded(path, 0, maxOwn)
	if err == nil && text == nil {
		err = dangling(path)
	}
	return text, err
}

// dangling is the error for a path that a symbolic link leads to nothing: its own, or that of a folder above it.
func dangling(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case err != nil && at == filepath.Dir(at):
			return nil
		case err != nil:
			continue
		case info.Mode()&fs.ModeSymlink == 0:
			return nil
		}
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return unreadable(at, err)
		}
		return &Error{File: path, Problem: fmt.Sprintf("the symbolic link %s leads to %q, which does not exist", at, to), Hint: "make what it leads to, or remove the link"}
	}
}

// readProject reads a file that came with a clone: it must be a regular file itself, or it could name a secret
// whose text an error would show, or a pipe that never ends.
func readProject(path string) ([]byte, error) {
	text, err := readBounded(path, syscall.O_NOFOLLOW, maxProject)
	if errors.Is(err, syscall.ELOOP) {
		return nil, &Error{File: path, Problem: "a symbolic link, which sidecar does not follow; want a regular file"}
	}
	return text, err
}

// readBounded gives nil, nil when there is no file.
func readBounded(path string, flags int, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|flags, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{File: path, Problem: "no regular file (" + info.Mode().Type().String() + ")"}
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if int64(len(text)) > most {
		return nil, &Error{File: path, Problem: fmt.Sprintf("have more than %s, want at most that", Size(most))}
	}
	if text == nil {
		text = []byte{}
	}
	return text, nil
}

// unreadable drops the path that fs.PathError repeats.
func unreadable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &Error{File: path, Problem: "reading settings: " + err.Error(), Err: err}
}
