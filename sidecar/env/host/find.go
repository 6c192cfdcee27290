package host

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// standard is PATH's end inside every sandbox. The folders of programs for the administrator come last: they
// hold little that a run can use, but some tools (ldconfig, sysctl) are only there.
var standard = []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"}

// finder is one search.
type finder struct {
	disk
	m Machine
	// variables are those read of the user's environment, with their values.
	variables map[string]string
	// workspace and home, as given and with links resolved; "" if there is none.
	workspace, home spelled
	folders         []*folder
	found           map[string]env.Interpreter
	// origin is the folder of PATH, or of VIRTUAL_ENV, in which a language's program was found.
	origin map[string]string
	// reasons say, by language, why programs that were found cannot be used.
	reasons map[string]string
	// installs remembers the versions in a folder.
	installs map[string][]string
	// judged remembers what Machine.Written said of a folder.
	judged map[string]bool
}

// spelled is a folder under both of its names.
type spelled struct{ given, real string }

// holds says whether path is the folder, or lies in it, under either name.
func (s spelled) holds(path string) bool {
	return s.given != "" && (within(path, s.given) || within(path, s.real))
}

// within reports whether path is root or below it; both are clean.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// Find finds the interpreters that the machine's PATH names: for each language the first program of its
// table that some folder of PATH has and that a sandbox can run.
func Find(m Machine) env.Environment {
	e, _ := search(m)
	return e
}

// search is Find, and the search with what it depended on.
func search(m Machine) (env.Environment, *finder) {
	f := newFinder(m)
	for _, lang := range env.Languages {
		if interp, ok := f.language(lang); ok {
			f.found[lang.Name] = interp
		}
	}
	return f.environment(), f
}

// newFinder prepares a search: PATH is split and its folders judged once for all languages.
func newFinder(m Machine) *finder {
	if m.Getenv == nil {
		m.Getenv = func(string) string { return "" }
	}
	f := &finder{
		disk:      disk{root: m.Root, seen: map[string]stamp{}},
		m:         m,
		variables: map[string]string{},
		found:     map[string]env.Interpreter{},
		origin:    map[string]string{},
		reasons:   map[string]string{},
		installs:  map[string][]string{},
		judged:    map[string]bool{},
	}
	f.workspace, f.home = f.spell(m.Dir), f.spell(m.Home)
	f.folders = f.pathFolders()
	return f
}

// spell resolves a folder's name; a relative one is none.
func (f *finder) spell(path string) spelled {
	if !filepath.IsAbs(path) {
		return spelled{}
	}
	path = filepath.Clean(path)
	real, _, err := f.real(path)
	if err != nil {
		real = path
	}
	return spelled{path, real}
}

// getenv reads a variable, and notes that the answer depends on it.
func (f *finder) getenv(name string) string {
	value, ok := f.variables[name]
	if !ok {
		value = f.m.Getenv(name)
		f.variables[name] = value
	}
	return value
}

// language finds the interpreter of one language.
func (f *finder) language(lang env.Language) (env.Interpreter, bool) {
	for _, program := range lang.Programs {
		for _, dir := range f.foldersFor(lang) {
			if interp, ok := f.look(lang, program, dir); ok {
				return interp, true
			}
		}
	}
	return env.Interpreter{}, false
}

// look tries one program in one folder of PATH.
func (f *finder) look(lang env.Language, program env.Program, dir *folder) (env.Interpreter, bool) {
	name := filepath.Join(dir.path, program.Name)
	if !f.executable(name) {
		return env.Interpreter{}, false
	}
	c := candidate{lang: lang, program: program, name: name, dir: dir, via: dir.via}
	if !f.throughShim(&c) {
		return env.Interpreter{}, false
	}
	interp, err := f.settle(c)
	if err == nil {
		err = f.usable(interp)
	}
	if err != nil {
		f.reject(lang, err.Error())
		return env.Interpreter{}, false
	}
	f.origin[lang.Name] = dir.path
	return interp, true
}

// reject keeps the first reason why a language's program cannot be used.
func (f *finder) reject(lang env.Language, reason string) {
	if f.reasons[lang.Name] == "" {
		f.reasons[lang.Name] = reason
	}
}

// environment puts the answer together.
func (f *finder) environment() env.Environment {
	e := env.Environment{ID: "host", Provider: "host", Interpreters: f.found, Path: f.sandboxPath()}
	system := f.distribution()
	for _, lang := range env.Languages {
		if interp, ok := f.found[lang.Name]; ok {
			e.Mounts = append(e.Mounts, interp.Mounts...)
			continue
		}
		e.Missing = append(e.Missing, env.Missing{Language: lang, Hint: hint(f.reasons[lang.Name], lang.Name, system)})
	}
	for _, path := range systemMounts {
		if f.exists(path) {
			e.Mounts = append(e.Mounts, env.Mount{Path: path})
		}
	}
	e.Mounts = outermost(e.Mounts)
	return e
}
