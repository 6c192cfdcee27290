package linked

import (
	"errors"
	"io/fs"
	"os"
)

// removeTree removes a folder that a run could write, by descriptors, so that no link in it leads elsewhere. Folders
// that may not be written (Go's module cache makes them) are opened up first.
func removeTree(parent, name string) error {
	root, err := os.OpenRoot(parent)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	err = root.RemoveAll(name)
	if errors.Is(err, os.ErrPermission) {
		openUp(root, name)
		err = root.RemoveAll(name)
	}
	return err
}

// openUp makes all folders below name readable and writable for their owner.
func openUp(root *os.Root, name string) {
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return
	}
	_ = root.Chmod(name, 0o700)
	_ = fs.WalkDir(root.FS(), name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = root.Chmod(path, 0o700)
		}
		return nil
	})
}
