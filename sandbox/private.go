package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// make makes the private folder of a run. It must not be there: whoever made it could have put anything into it.
func (p *Private) make() (err error) {
	if err := os.Mkdir(p.Dir, 0o700); err != nil {
		return fmt.Errorf("making the private folder of a run: %w", err)
	}
	defer func() {
		if err != nil {
			p.remove()
		}
	}()
	for _, f := range p.Folders {
		if err := p.folder(f); err != nil {
			return err
		}
	}
	for _, f := range p.Files {
		if err := p.file(f); err != nil {
			return err
		}
	}
	for _, l := range p.Links {
		if err := p.link(l); err != nil {
			return err
		}
	}
	return nil
}

// isOurs says that a path lies in the folder, whose entries nobody else has made.
func (p *Private) isOurs(path string) bool { return path != p.Dir && Inside(path, p.Dir) }

func (p *Private) folder(f Folder) error {
	err := os.Mkdir(f.Path, fs.FileMode(f.Mode))
	if errors.Is(err, fs.ErrExist) && !p.isOurs(f.Path) {
		info, lost := os.Lstat(f.Path)
		if lost == nil && info.IsDir() {
			return nil // of a home that is kept
		}
	}
	if err != nil {
		return fmt.Errorf("making a private folder of a run: %w", err)
	}
	return nil
}

func (p *Private) file(f File) error {
	if !p.isOurs(f.Target) {
		return fmt.Errorf("%s lies outside of the run's private folder", f.Target)
	}
	file, err := os.OpenFile(f.Target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(f.Mode)) //nolint:gosec // in our own folder
	if err != nil {
		return fmt.Errorf("making a file of a run: %w", err)
	}
	_, err = file.Write(f.Data)
	return errors.Join(err, file.Close())
}

// link makes a link. In a home that is kept an earlier run may have put anything in its place: then what is meant is not
// shown, which is said, and nothing is followed.
func (p *Private) link(l Link) error {
	err := os.Symlink(l.To, l.Target)
	if errors.Is(err, fs.ErrExist) && !p.isOurs(l.Target) {
		if to, lost := os.Readlink(l.Target); lost == nil && to == l.To {
			return nil
		}
		return &StartError{Step: StepBase, Path: l.Target, Err: err}
	}
	if err != nil {
		return fmt.Errorf("making a link of a run: %w", err)
	}
	return nil
}

// remove takes the folder away, whatever rights the run has left on what is in it. os.RemoveAll follows no link.
func (p *Private) remove() {
	if os.RemoveAll(p.Dir) == nil {
		return
	}
	_ = filepath.WalkDir(p.Dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // ours
		}
		return nil
	})
	_ = os.RemoveAll(p.Dir)
}
