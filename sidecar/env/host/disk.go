package host

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// maxFile bounds a version file; what is longer is none.
	maxFile = 64 << 10
	// maxLinks bounds a chain of symbolic links, as the kernel does.
	maxLinks = 40
)

// disk reads the file system below root, and notes what its answers depended on.
type disk struct {
	root string
	seen map[string]stamp
}

// stamp tells whether a file or folder changed; the zero value is an absent one.
type stamp struct {
	mtime, size int64
	mode        fs.FileMode
	inode       uint64
}

// at is where path really lies.
func (d *disk) at(path string) string {
	if d.root == "" {
		return path
	}
	return filepath.Join(d.root, path)
}

// stampOf reads the stamp of path.
func (d *disk) stampOf(path string) stamp {
	info, err := os.Stat(d.at(path))
	if err != nil {
		return stamp{}
	}
	return stampFrom(info)
}

// stampFrom is the stamp of a file whose facts are known.
func stampFrom(info fs.FileInfo) stamp {
	s := stamp{mtime: info.ModTime().UnixNano(), size: info.Size(), mode: info.Mode()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}

// note records that the answer depends on path.
func (d *disk) note(path string) {
	if _, ok := d.seen[path]; !ok {
		d.seen[path] = d.stampOf(path)
	}
}

// real resolves every symbolic link of path, below root. hops are the paths that it leads through, each as a
// link spells it, path itself first.
func (d *disk) real(path string) (resolved string, hops []string, err error) {
	resolved, hops, _, err = d.walk(path)
	return resolved, hops, err
}

// walk is real, and where the links lie that it followed.
func (d *disk) walk(path string) (resolved string, hops, links []string, err error) {
	resolved, rest := "/", strings.TrimPrefix(filepath.Clean(path), "/")
	hops = []string{filepath.Clean(path)}
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := filepath.Join(resolved, name)
		target, err := os.Readlink(d.at(next))
		switch {
		case err == nil:
			if links = append(links, next); len(links) > maxLinks {
				return "", nil, nil, &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
			}
			d.note(resolved)
			resolved, rest = step(resolved, target, rest)
			hops = append(hops, filepath.Join(resolved, rest))
		case errors.Is(err, syscall.EINVAL): // no link
			resolved = next
		default:
			return "", nil, nil, err
		}
	}
	return resolved, hops, links, nil
}

// step is where a link in dir leads: the folder to go on from, and the rest of the path.
func step(dir, target, rest string) (string, string) {
	if filepath.IsAbs(target) {
		dir = "/"
	}
	// The target is not cleaned lexically: its ".." is taken after its links, as the kernel does, since
	// Join(resolved, "..") goes up from a resolved folder.
	return dir, strings.Trim(strings.Trim(target, "/")+"/"+rest, "/")
}

// executable says whether path is a regular file that may be executed.
func (d *disk) executable(path string) bool {
	if d.root == "" {
		if syscall.Access(path, 1) != nil { // X_OK
			return false
		}
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}
	real, _, err := d.real(path)
	if err != nil {
		return false
	}
	info, err := os.Lstat(d.at(real))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// isDir says whether path is a folder.
func (d *disk) isDir(path string) bool {
	real, _, err := d.real(path)
	if err != nil {
		return false
	}
	info, err := os.Lstat(d.at(real))
	return err == nil && info.IsDir()
}

// exists says whether something is at path.
func (d *disk) exists(path string) bool {
	_, _, err := d.real(path)
	return err == nil
}

// read gives the text of a small regular file, "" if it is none. The file may come from a hostile project: a
// pipe must not block, a device must not be touched, a huge one must not be read.
func (d *disk) read(path string) string {
	d.note(path)
	real, _, err := d.real(path)
	if err != nil {
		return ""
	}
	if info, err := os.Lstat(d.at(real)); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return ""
	}
	file, err := os.OpenFile(d.at(real), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// list gives the names in a folder.
func (d *disk) list(path string) []string {
	d.note(path)
	real, _, err := d.real(path)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(d.at(real))
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}
