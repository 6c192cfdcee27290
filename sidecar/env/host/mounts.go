package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// systemMounts are what programs of /usr need from outside it, whatever the language: the links that Debian's
// alternatives go through, for programs and for libraries, and the loader's list of libraries.
var systemMounts = []string{"/etc/alternatives", "/etc/ld.so.cache"}

// languageMounts are what distributions put outside /usr, by language: settings without which the interpreter
// does not start or not find its packages (Debian's links lead there), and packages installed for all users.
var languageMounts = map[string][]string{
	"python":  {"/etc/%s"}, // the program's name: python3.11
	"ruby":    {"/var/lib/gems", "/etc/gemrc"},
	"perl":    {"/etc/perl"},
	"haskell": {"/var/lib/ghc"},
	"octave":  {"/etc/octave.conf", "/etc/octaverc"},
	"php":     {"/etc/php", "/etc/php.ini", "/etc/php.d"},
	"r":       {"/etc/R"},
	"julia":   {"/etc/julia"},
}

// system are the folders that every sandbox with the host provider has.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// isSystem says whether a path is in every sandbox anyway.
func isSystem(path string) bool {
	return slices.ContainsFunc(system, func(dir string) bool { return within(path, dir) })
}

// nixStore is where all of Nix's programs and libraries are.
const nixStore = "/nix/store"

// selfContained are the programs that are one file, or may be: for these a file is enough to mount.
var selfContained = []string{"node", "nodejs", "bash", "lua", "luajit", "php", "deno", "bun"}

// mountsFor is what the real program of a candidate needs to be mounted.
func (f *finder) mountsFor(c candidate, real string, hops []string) ([]env.Mount, error) {
	switch {
	case f.workspace.holds(real):
		return nil, nil
	case isSystem(real) && !strings.Contains(real, "/Cellar/"):
		return f.languageMounts(c.lang.Name, real), nil
	case within(real, nixStore):
		// The whole store: what a program needs of it is known only to Nix's database. The nix provider is
		// narrower and mounts the closure.
		return []env.Mount{{Path: nixStore}}, nil
	}
	if brew, _, ok := strings.Cut(real, "/Cellar/"); ok {
		return f.brewMounts(brew)
	}
	prefix := f.prefixOf(real, hops)
	why := f.unfit(prefix)
	if why == "" {
		return []env.Mount{{Path: prefix}}, nil
	}
	if slices.Contains(selfContained, stem(c, real)) {
		return []env.Mount{{Path: real}}, nil
	}
	return nil, fmt.Errorf("%s would need %s mounted, which %s", real, prefix, why)
}

// stem is the program's name in the table without a version, when the real one's name begins so, else "".
func stem(c candidate, real string) string {
	name := strings.TrimRight(c.program.Name, "0123456789.")
	if strings.HasPrefix(filepath.Base(real), name) {
		return name
	}
	return ""
}

// languageMounts are the mounts of a language's program below /usr.
func (f *finder) languageMounts(language, real string) []env.Mount {
	var mounts []env.Mount
	for _, path := range languageMounts[language] {
		path = strings.ReplaceAll(path, "%s", filepath.Base(real))
		if f.exists(path) {
			mounts = append(mounts, env.Mount{Path: path})
		}
	}
	return mounts
}

// brewMounts are what a program of Homebrew needs: the kegs, and the links by which they name one another.
func (f *finder) brewMounts(brew string) ([]env.Mount, error) {
	if why := f.forbidden(brew + "/Cellar"); why != "" {
		return nil, fmt.Errorf("%s/Cellar cannot be mounted: it %s", brew, why)
	}
	var mounts []env.Mount
	for _, name := range []string{"Cellar", "lib", "opt"} {
		if path := filepath.Join(brew, name); f.isDir(path) && !isSystem(path) {
			mounts = append(mounts, env.Mount{Path: path})
		}
	}
	return mounts, nil
}

// prefixOf is the folder that a program was installed into: the one that holds its bin, or its own. A program
// within a lib that a link in the bin beside it names (npm's, GHC's) belongs to the folder of both.
func (f *finder) prefixOf(real string, hops []string) string {
	for _, lib := range []string{"/lib/", "/lib64/", "/libexec/"} {
		prefix, _, ok := strings.Cut(real, lib)
		if ok && slices.ContainsFunc(hops, func(hop string) bool { return within(hop, prefix+"/bin") }) {
			return prefix
		}
	}
	dir := filepath.Dir(real)
	if base := filepath.Base(dir); base == "bin" || base == "sbin" {
		return filepath.Dir(dir)
	}
	return dir
}

// shared are folders of the home that hold more than one program's things, or secrets.
var shared = []string{".local", ".local/share", ".local/lib", ".config", ".cache", ".ssh", ".gnupg", ".aws",
	".kube", ".docker", ".mozilla", "Library", "Library/Application Support", "Documents", "Desktop", "Downloads"}

// unfit says why a folder cannot be mounted as a program's prefix, "" if it can. It must look like one, with
// libraries beside bin: ~/work/bin/tool does not make ~/work a prefix.
func (f *finder) unfit(prefix string) string {
	if why := f.forbidden(prefix); why != "" {
		return why
	}
	for _, mark := range []string{"lib", "lib64", "libexec", "pkg/tool", "share/julia"} {
		if f.isDir(filepath.Join(prefix, mark)) && !f.exists(filepath.Join(prefix, ".git/config")) {
			return ""
		}
	}
	return "does not look like the folder of one installed program"
}

// forbidden says why a folder is never mounted, "" if it may be.
func (f *finder) forbidden(dir string) string {
	parent := filepath.Dir(dir)
	switch {
	case parent == "/" || dir == "/":
		return "is a folder of the whole system"
	case within(dir, "/etc") || within(dir, "/proc") || within(dir, "/sys") || within(dir, "/dev"):
		return "is the system's"
	case parent == "/home" || parent == "/Users" || contains(dir, f.home):
		return "holds a home"
	case contains(dir, f.workspace):
		return "holds the workspace"
	case f.home.given != "" && slices.ContainsFunc(shared, func(name string) bool {
		return dir == filepath.Join(f.home.given, name) || dir == filepath.Join(f.home.real, name)
	}):
		return "holds other programs' files too"
	}
	return ""
}

// contains says whether dir is or holds a folder, under either of its names.
func contains(dir string, s spelled) bool {
	return s.given != "" && (within(s.given, dir) || within(s.real, dir))
}

// outermost sorts mounts, parents before children, and leaves out those that another one holds.
func outermost(mounts []env.Mount) []env.Mount {
	sorted := slices.Clone(mounts)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Path < sorted[j].Path })
	var kept []env.Mount
	for _, m := range sorted {
		if !slices.ContainsFunc(kept, func(k env.Mount) bool { return within(m.Path, k.Path) }) {
			kept = append(kept, m)
		}
	}
	return kept
}
