package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// largest is the size of settings that are read: Claude Code's own grow to some megabytes.
const largest = 64 << 20

// File is a settings file as it was read.
type File struct {
	// Path is where the client looks; Target what is there, after all links.
	Path, Target string
	// Text is nil when there is no file.
	Text []byte
	info fs.FileInfo
}

// Open reads the settings at a path. Links are followed: what is changed is what they lead to, and they stay.
func Open(path string) (File, error) {
	target, err := resolve(path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: path, Target: target}
	f.info, err = os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return File{}, err
	case !f.info.Mode().IsRegular():
		return File{}, fmt.Errorf("%s is not a file", path)
	case f.info.Size() > largest:
		return File{}, fmt.Errorf("%s is larger than 64 MiB", path)
	}
	f.Text, err = os.ReadFile(target)
	return f, err
}

// resolve follows links, also one whose target does not exist yet.
func resolve(path string) (string, error) {
	for range 40 { // as many as Linux follows (path_resolution(7))
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if whole, err := filepath.EvalSymlinks(path); !errors.Is(err, fs.ErrNotExist) {
		return whole, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil // its folder will be made
	}
	return filepath.Join(dir, filepath.Base(path)), err
}

// Within says that what is changed is beneath a folder: a project's own link must not lead out of it.
func (f File) Within(folder string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	dir := filepath.Dir(f.Target)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if whole, err := filepath.EvalSymlinks(dir); err == nil {
			dir = whole
			break
		}
	}
	rel, err := filepath.Rel(folder, dir)
	return err == nil && filepath.IsLocal(rel)
}

// Replace puts another text in the file's place at once, with its mode and owner. A file that somebody changed since it
// was read is left to them. fresh is the mode of a new file, and its folders may be entered by whom that lets read.
func (f File) Replace(text []byte, fresh fs.FileMode) error {
	if err := f.changeable(); err != nil {
		return err
	}
	dir := filepath.Dir(f.Target)
	if err := os.MkdirAll(dir, fresh|fresh>>2&0o111); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".sidecar-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // after the rename there is none
	_, err = tmp.Write(text)
	err = errors.Join(err, f.likeBefore(tmp, fresh), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if now, err := Open(f.Path); err != nil || !bytes.Equal(now.Text, f.Text) || now.Target != f.Target {
		return errors.Join(fmt.Errorf("%s was changed meanwhile; try again", f.Path), err)
	}
	return os.Rename(tmp.Name(), f.Target)
}

// changeable says what a rename would break.
func (f File) changeable() error {
	if f.info == nil {
		return nil
	}
	if s, ok := f.info.Sys().(*syscall.Stat_t); ok && s.Nlink > 1 {
		return fmt.Errorf("%s has %d names (hard links), which would come apart", f.Target, s.Nlink)
	}
	if strings.HasPrefix(f.Target, "/nix/store/") {
		return fmt.Errorf("%s is built by Nix: the entry belongs where that is configured", f.Target)
	}
	w, err := os.OpenFile(f.Target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return w.Close()
}

// likeBefore gives the new file the old one's mode, and its owner when that is another than ours.
func (f File) likeBefore(tmp *os.File, fresh fs.FileMode) error {
	if f.info == nil {
		return tmp.Chmod(fresh)
	}
	was, ok := f.info.Sys().(*syscall.Stat_t)
	if is, err := tmp.Stat(); ok && err == nil {
		if now, ok := is.Sys().(*syscall.Stat_t); ok && (now.Uid != was.Uid || now.Gid != was.Gid) {
			if err := tmp.Chown(int(was.Uid), int(was.Gid)); err != nil {
				return err
			}
		}
	}
	return tmp.Chmod(f.info.Mode().Perm())
}

// Backup keeps the text in a folder, for this person alone, and gives its path. Without a text there is nothing to keep.
func (f File) Backup(folder, name string) (string, error) {
	if f.Text == nil {
		return "", nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	return path, os.WriteFile(path, f.Text, 0o600)
}
