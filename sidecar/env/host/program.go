package host

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"code.sidecar.dev/sidecar/env"
)

// Program is a program of the user's, as a sandbox can have it.
type Program struct {
	// Path is what the sandbox executes; Bin the folder to put on its PATH, "" when that is there anyway.
	Path, Bin string
	// Mounts are what it needs outside /usr.
	Mounts []env.Mount
}

// Locate finds the program that name means in the user's PATH, or at an absolute path, and what of this machine it
// needs. Unlike an interpreter's, a name in the workspace is as good as any: it is executed inside. The error says why
// the program cannot be had.
func Locate(m Machine, name string) (Program, error) {
	f := newFinder(m)
	if filepath.IsAbs(name) {
		return f.locate(candidate{name: filepath.Clean(name), program: env.Program{Name: filepath.Base(name)}})
	}
	for _, dir := range f.folders {
		c := candidate{name: filepath.Join(dir.path, name), program: env.Program{Name: name}, dir: dir, via: dir.via}
		if f.executable(c.name) && f.throughShim(&c) {
			return f.locate(c)
		}
	}
	return Program{}, fmt.Errorf("no program %q is on PATH", name)
}

// locate says what one found program needs. The link to it stays its name where that is visible: programs look beside it
// and act by it.
func (f *finder) locate(c candidate) (Program, error) {
	real, hops, err := f.real(c.name)
	switch {
	case err != nil:
		return Program{}, fmt.Errorf("%s leads nowhere", c.name)
	case f.workspace.holds(real):
		return Program{Path: real}, nil
	case f.astray(c, real):
		return Program{}, errAstray(c.name, real)
	case isSystem(c.name) && isSystem(real):
		return Program{Path: c.name, Mounts: f.languageMounts("", real)}, nil
	case launchers[filepath.Base(real)] != "":
		return Program{}, fmt.Errorf("%s is %s", c.name, launchers[filepath.Base(real)])
	}
	mounts, err := f.mountsFor(c, real, hops)
	if err != nil && f.isBinary(real) && f.forbidden(real) == "" {
		mounts, err = []env.Mount{{Path: real}}, nil
	}
	if err != nil {
		return Program{}, err
	}
	p := Program{Path: real, Mounts: mounts, Bin: f.binOf(c, real, mounts)}
	if visible(filepath.Dir(c.name), mounts) {
		p.Path = c.name
	}
	return p, nil
}

// isBinary says that a program is one file for the kernel's loader, which needs nothing beside it but libraries.
func (f *finder) isBinary(path string) bool {
	file, err := os.OpenFile(f.at(path), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(file, head)
	return err == nil && bytes.Equal(head, []byte("\x7fELF"))
}
