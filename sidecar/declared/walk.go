package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxHops is how many links are followed, as many as the kernel does (path_resolution(7)).
const maxHops = 40

// way is how a path was walked.
type way struct {
	// end is the path without links.
	end string
	// links are those that were followed, where they lie without links, and what each says.
	links []link
	// absent is where the last name would lie, if that is all that does not exist.
	absent string
	info   fs.FileInfo
}

type link struct{ at, to string }

// errMissing says that something on the way does not exist.
var errMissing = errors.New("does not exist")

// walk follows a path from the root, component by component, as the kernel does; .. in a link's text is that of the
// folder that was reached, not of the text.
func (h Host) walk(path string) (way, error) {
	w := way{end: "/"}
	rest := parts(path)
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			w.end = filepath.Dir(w.end)
			continue
		}
		next := filepath.Join(w.end, name)
		info, err := h.lstat(next)
		if err != nil {
			if len(rest) == 0 && errors.Is(err, errMissing) {
				w.absent = next
			}
			return w, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			w.end, w.info = next, info
			continue
		}
		to, err := h.follow(&w, next, info)
		if err != nil {
			return w, err
		}
		if filepath.IsAbs(to) {
			w.end = "/"
		}
		rest = append(parts(to), rest...)
	}
	return h.arrived(w)
}

// arrived looks at the end itself, which a link's .. or / may have moved.
func (h Host) arrived(w way) (way, error) {
	info, err := h.lstat(w.end)
	w.info = info
	return w, err
}

// parts are the names in a path; "." is none.
func parts(path string) []string {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return slices.DeleteFunc(names, func(name string) bool { return name == "." })
}

func (h Host) lstat(path string) (fs.FileInfo, error) {
	look := h.Lstat
	if look == nil {
		look = os.Lstat
	}
	info, err := look(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be looked at: %w", err)
	}
	return info, nil
}

// follow reads a link, and records it.
func (h Host) follow(w *way, at string, info fs.FileInfo) (string, error) {
	if len(w.links) == maxHops {
		return "", fmt.Errorf("leads through more than %d symbolic links", maxHops)
	}
	if err := h.foreign(w.end, at, info); err != nil {
		return "", err
	}
	read := h.Readlink
	if read == nil {
		read = os.Readlink
	}
	to, err := read(at)
	if err != nil {
		return "", fmt.Errorf("cannot be looked at: %w", err)
	}
	w.links = append(w.links, link{at, to})
	return to, nil
}

// foreign refuses a link of another user in a folder where everybody writes, as the kernel does where
// fs.protected_symlinks is set (proc_sys_fs(5)).
func (h Host) foreign(folder, at string, info fs.FileInfo) error {
	above, err := h.lstat(folder)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || above.Mode().Perm()&0o002 == 0 || st.Uid == 0 || int(st.Uid) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("the symbolic link %s is another user's (%d), in a folder where everybody writes", at, st.Uid)
}

// inside says whether a path is a folder or lies in it.
func inside(path, folder string) bool {
	return path == folder || below(path, folder)
}

func below(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/") && path != folder
}
