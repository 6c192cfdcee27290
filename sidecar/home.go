package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/workspace/linked"
)

// mountPoints makes, in a home that is kept, the places at which other things of the machine are shown, such as an agent
// that is installed in the person's home. A link in the way, which an earlier session left, is refused; one that another
// session puts there meanwhile fails in the shim, which follows none.
func mountPoints(p sandbox.Policy, home string) error {
	if len(p.Bases) == 0 {
		return nil
	}
	kept := p.Bases[0].Source
	root, err := os.OpenRoot(kept)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for target, folder := range shownIn(p, home) {
		if at, err := mountPoint(root, target, folder); err != nil {
			return bad(removal(root, at, filepath.Join(kept, at)), "the kept home has something in the place of %s, which is shown there: %v", filepath.Join(home, target), err)
		}
	}
	return nil
}

// shownIn are the targets below a folder, relative to it, and whether each is a folder.
func shownIn(p sandbox.Policy, home string) map[string]bool {
	in := map[string]bool{}
	add := func(target string, folder bool) {
		if name, below := strings.CutPrefix(filepath.Clean(target), home+"/"); below {
			in[name] = folder
		}
	}
	for _, m := range p.Mounts {
		if info, err := os.Stat(m.Source); err == nil {
			add(m.Target, info.IsDir())
		}
	}
	for _, s := range p.Scratch {
		add(s.Target, true)
	}
	for _, k := range p.Picks {
		add(k.Target, true)
	}
	for _, f := range p.Files {
		add(f.Target, false)
	}
	return in
}

// removal is what to do about what is at a path and fits not. It never names what lies beyond a link: that is no session's, but
// may be anything of the person's.
func removal(root *os.Root, at, path string) string {
	path = linked.ShellQuote(path)
	const first = ", while no session uses this home"
	info, err := root.Lstat(at)
	switch {
	case err != nil:
		return "see that " + path + " can be made there"
	case info.Mode().Type() == fs.ModeSymlink:
		return "remove the link itself: rm " + path + first
	case info.IsDir():
		return "look what it has, and remove it: rm -r " + path + first
	}
	return "remove it: rm " + path + first
}

// mountPoint makes one, from folder to folder; at is where it could not.
func mountPoint(root *os.Root, target string, folder bool) (at string, err error) {
	parts := strings.Split(target, "/")
	for i := range parts {
		at = strings.Join(parts[:i+1], "/")
		isFolder := folder || i < len(parts)-1
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = makePoint(root, at, isFolder)
		case err == nil && isFolder && !info.IsDir():
			err = fmt.Errorf("%s is no folder", at)
		case err == nil && !isFolder && !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSocket:
			err = fmt.Errorf("%s is no plain file", at)
		}
		if err != nil {
			return at, err
		}
	}
	return "", nil
}

func makePoint(root *os.Root, at string, folder bool) error {
	if folder {
		return root.Mkdir(at, 0o700)
	}
	f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
