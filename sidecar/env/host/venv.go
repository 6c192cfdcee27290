package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// A virtual environment of Python is a folder whose bin/python leads to another Python, and whose pyvenv.cfg
// names that one's folder. One in the workspace can be changed by any run, so that it might name any folder of
// the host: it may only lead to a Python that the user has installed.

// virtualEnv is the virtual environment that a candidate belongs to, with links resolved.
func (f *finder) virtualEnv(c candidate) (root string, ok bool) {
	if c.lang.Name != "python" {
		return "", false
	}
	bin, _, err := f.real(filepath.Dir(c.name))
	if err != nil {
		return "", false
	}
	root = filepath.Dir(bin)
	return root, f.exists(filepath.Join(root, "pyvenv.cfg"))
}

// settleVirtualEnv makes an interpreter of a virtual environment. Its program is the link in bin, since Python
// finds the environment by the name it is called by.
func (f *finder) settleVirtualEnv(c candidate, root, real string, hops []string) (env.Interpreter, error) {
	if f.leadsOut(c.name, root) {
		return env.Interpreter{}, fmt.Errorf("%s lies in the workspace and leads out of it, to %s", c.name, root)
	}
	mounts, err := f.virtualEnvMounts(root, real, hops)
	if err != nil {
		return env.Interpreter{}, err
	}
	bin := filepath.Join(root, "bin")
	program := filepath.Join(bin, filepath.Base(c.name))
	interp := f.interpreter(c, program, real)
	interp.Mounts, interp.Bin = mounts, bin
	interp.Env = []string{"VIRTUAL_ENV=" + root}
	if c.via == "PATH" || c.via == "VIRTUAL_ENV" {
		interp.Via = "virtual environment " + root
	}
	return interp, nil
}

// virtualEnvMounts are what an environment at root needs: itself, unless it is in the workspace; the prefix of
// the Python it leads to, under the names by which its links and its pyvenv.cfg call it.
func (f *finder) virtualEnvMounts(root, real string, hops []string) ([]env.Mount, error) {
	inside := f.workspace.holds(root)
	strict := inside || f.foreign(root)
	var mounts []env.Mount
	if !inside {
		if why := f.forbidden(root); why != "" {
			return nil, fmt.Errorf("the virtual environment %s cannot be mounted: it %s", root, why)
		}
		mounts = append(mounts, env.Mount{Path: root})
	}
	paths := append(slices.Clone(hops), real)
	if home := configValue(f.read(filepath.Join(root, "pyvenv.cfg")), "home"); filepath.IsAbs(home) {
		paths = append(paths, filepath.Join(home, filepath.Base(real)))
	}
	for _, path := range paths {
		// The program is called by the environment's own resolved name, so other names of it are not needed.
		if dir, _, err := f.real(filepath.Dir(path)); within(path, root) || err == nil && within(dir, root) {
			continue
		}
		more, err := f.baseMounts(path, strict)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, more...)
	}
	return outermost(mounts), nil
}

// baseMounts are the mounts for a base Python under one of its names. strict is for names that
// files gave which runs write.
func (f *finder) baseMounts(name string, strict bool) ([]env.Mount, error) {
	dir, _, err := f.real(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("the virtual environment's Python is to be in %s, which is not there", filepath.Dir(name))
	}
	spelled := filepath.Join(dir, filepath.Base(name))
	real, hops, err := f.real(spelled)
	if err != nil {
		real, hops = spelled, nil
	}
	python := candidate{lang: pythonRow, program: pythonRow.Programs[0]}
	if strict && !f.trusted(python, real) {
		return nil, fmt.Errorf("the virtual environment lies where runs write and leads to %s, which is not among the Pythons "+
			"installed; put its folder on PATH", real)
	}
	mounts, err := f.mountsFor(python, real, hops)
	if err != nil {
		return nil, err
	}
	return append(mounts, f.aliasMounts(name, real, mounts)...), nil
}

// aliasMounts mount the prefix, or the single link, once more under another name that leads to it.
func (f *finder) aliasMounts(name, real string, mounts []env.Mount) []env.Mount {
	if visible(name, mounts) || !f.exists(name) {
		return nil
	}
	prefix := filepath.Dir(filepath.Dir(name))
	if to, _, err := f.real(prefix); err == nil && f.forbidden(prefix) == "" && to == filepath.Dir(filepath.Dir(real)) {
		return []env.Mount{{Path: prefix}}
	}
	return []env.Mount{{Path: name}}
}

// pythonRow is Python's row of the table.
var pythonRow = func() env.Language {
	row, err := env.Lookup("python")
	if err != nil {
		panic(err) // the table lacks python: a bug
	}
	return row
}()

// configValue reads a key of pyvenv.cfg.
func configValue(text, key string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// trusted says whether a resolved program is one that the user has installed: of the system, of a folder of
// PATH where no runs write, or of a folder where a manager keeps what it installs. It must be called like the
// interpreter, since those folders hold other programs too, whose folders are not to be mounted.
func (f *finder) trusted(c candidate, real string) bool {
	if isSystem(real) || within(real, nixStore) {
		return true
	}
	if stem(c, real) == "" && !strings.HasPrefix(filepath.Base(real), "pypy") {
		return false
	}
	if underOpt(real) {
		return true
	}
	for _, dir := range f.folders {
		if !f.workspace.holds(dir.path) && !f.workspace.holds(dir.real) && !f.foreign(dir.path) && !f.foreign(dir.real) && filepath.Dir(real) == dir.real {
			return true
		}
	}
	return slices.ContainsFunc(f.installRoots(), func(root string) bool {
		to, _, err := f.real(root)
		return err == nil && !f.workspace.holds(to) && within(real, to) && filepath.Dir(real) != to
	})
}

// underOpt says whether a program is in a folder of /opt, where only the administrator installs.
func underOpt(real string) bool {
	return within(real, "/opt") && strings.Count(real, "/") > 3
}

// installRoots are the folders in which managers keep one folder for each version.
func (f *finder) installRoots() []string {
	roots := []string{"/home/linuxbrew/.linuxbrew/Cellar"}
	for _, x := range xenvs {
		roots = append(roots, filepath.Join(f.rootOf(x.name), "versions"))
	}
	roots = append(roots, filepath.Join(f.asdfData(), "installs"), filepath.Join(f.miseData(), "installs"))
	for _, below := range []string{"miniconda3", "anaconda3", "miniforge3", "mambaforge"} {
		roots = append(roots, f.variableOr("", below))
	}
	if uv := f.getenv("UV_PYTHON_INSTALL_DIR"); filepath.IsAbs(uv) {
		roots = append(roots, uv)
	}
	return append(roots, f.variableOr("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"))
}
