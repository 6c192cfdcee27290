package sidecar

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/env"
)

// waits are the ways in which a run's program can be started ahead, the best first, and the interpreter that then waits. What a request gives by its variables is
// often secret, and its own: it shall not stay in a program that waits for another run.
func (j job) waits(p sandbox.Policy) (env.Interpreter, []sandbox.Wait) {
	lang, err := env.Lookup(j.params.Language)
	if err != nil || len(j.params.Command) > 0 || len(j.params.Env) > 0 {
		return env.Interpreter{}, []sandbox.Wait{{}}
	}
	interp, err := j.env.Interpreter(lang)
	file := filepath.Join(codeDir, env.FileName(lang, j.params.Code))
	w, ok := env.Wait(interp, file, env.Source(lang, j.params.Code), j.dir, p.Env)
	if late := p.Late(); err != nil || !ok || j.needs(interp, late) || tellsOf(p.Env, late) {
		return interp, []sandbox.Wait{{}}
	}
	return interp, []sandbox.Wait{{Fifo: w.Fifo, Release: w.Release, Env: w.Env}, {}}
}

// needs says that an interpreter lies in a run's own mounts, or that Python's user site, for which it looks once, at its
// start (site(3) of its library), may.
func (j job) needs(interp env.Interpreter, late []string) bool {
	site := filepath.Join(j.account.home, ".local/lib")
	return slices.ContainsFunc(late, func(path string) bool {
		return sandbox.Inside(interp.Program, path) ||
			interp.Language.Name == "python" && (sandbox.Inside(path, site) || sandbox.Inside(site, path))
	})
}

// tellsOf says that a variable names something of a run's own mounts that a program might look for at its start.
func tellsOf(vars, late []string) bool {
	return slices.ContainsFunc(vars, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		known := name == "PWD" || name == "PATH" || name == "SIDECAR_WORKSPACE" || name == "VIRTUAL_ENV" || strings.HasPrefix(name, "GIT_")
		return !known && slices.ContainsFunc(late, func(path string) bool { return strings.Contains(value, path) })
	})
}

// interpreterPaths are what an interpreter reads at its start, outside of a store: itself, and the folders and files that say
// which libraries there are.
func interpreterPaths(i env.Interpreter) []string {
	out := []string{i.Program}
	if i.Language.Name != "python" {
		return out
	}
	patterns := []string{"/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/dist-packages/*.pth"}
	for _, program := range programs(i.Program) { // of a virtual environment, and of what it was made of
		prefix := filepath.Dir(filepath.Dir(program))
		patterns = append(patterns, prefix+"/pyvenv.cfg", prefix+"/lib/python3*", prefix+"/lib/python3*/*-packages", prefix+"/lib/python3*/*-packages/*.pth")
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		out = append(out, found...)
	}
	return out
}

// programs are a program and what it is a link to.
func programs(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}

// namesLate says that Python's path files name a folder of a run's own mounts: a project installed as editable, say. Python
// takes a folder into sys.path only if it is there at its start.
func namesLate(files, late []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		return filepath.Ext(file) == ".pth" && slices.ContainsFunc(folders(file), func(dir string) bool {
			return slices.ContainsFunc(late, func(path string) bool { return sandbox.Inside(dir, path) })
		})
	})
}

// folders are those that a path file names, by their names and by where they are.
func folders(file string) (out []string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		dir := strings.TrimSpace(lines.Text())
		if dir == "" || strings.HasPrefix(dir, "#") || strings.HasPrefix(dir, "import ") {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		}
		out = append(out, filepath.Clean(dir))
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	return out
}
