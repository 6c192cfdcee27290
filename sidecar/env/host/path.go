package host

import (
	"os"
	"path/filepath"
	"slices"

	"code.sidecar.dev/sidecar/env"
)

// folder is a folder of the user's PATH.
type folder struct {
	// path as PATH spells it; real with links resolved.
	path, real string
	// manager is whose shims it holds, if any; managed is the manager's root.
	manager manager
	managed string
	// via says how programs here were found.
	via string
}

// pathFolders are the usable folders of PATH, in order, each once, and last the one that nvm's shell function
// would put there: an editor that was not started from a shell does not have it.
func (f *finder) pathFolders() []*folder {
	var all []*folder
	seen := map[string]bool{}
	for _, path := range filepath.SplitList(f.m.Path) {
		path = filepath.Clean(path)
		if seen[path] {
			continue
		}
		seen[path] = true
		if dir := f.folder(path, "PATH"); dir != nil {
			all = append(all, dir)
		}
	}
	if path, via := f.nvmFolder(); path != "" && !seen[path] {
		if dir := f.folder(path, via); dir != nil {
			all = append(all, dir)
		}
	}
	return all
}

// folder judges a folder of PATH; nil is one not to use. A relative one means another thing in each working
// folder, and one that everybody may write to holds anybody's programs.
func (f *finder) folder(path, via string) *folder {
	if !filepath.IsAbs(path) {
		return nil
	}
	f.note(path)
	real, _, err := f.real(path)
	if err != nil || !f.private(real) {
		return nil
	}
	dir := &folder{path: path, real: real, via: via}
	dir.manager, dir.managed = f.managerOf(path)
	return dir
}

// private says whether path is a folder in which not everybody may replace programs.
func (f *finder) private(path string) bool {
	info, err := os.Lstat(f.at(path))
	return err == nil && info.IsDir() && (info.Mode()&0o002 == 0 || info.Mode()&os.ModeSticky != 0)
}

// foldersFor are the folders in which a language's programs are looked for. VIRTUAL_ENV comes first for
// Python: an editor sets it without PATH.
func (f *finder) foldersFor(lang env.Language) []*folder {
	if root := f.getenv("VIRTUAL_ENV"); lang.Name == "python" && filepath.IsAbs(root) {
		if dir := f.folder(filepath.Join(root, "bin"), "VIRTUAL_ENV"); dir != nil {
			return append([]*folder{dir}, f.folders...)
		}
	}
	return f.folders
}

// sandboxPath is PATH inside: the user's order, with the folders of the found interpreters in the places
// where the user's PATH names them, and then what the standard one has besides. So a name means inside what
// it means outside, and nothing else of the user's PATH is there.
func (f *finder) sandboxPath() []string {
	bins := map[string][]string{}
	for _, lang := range env.Languages {
		if interp, ok := f.found[lang.Name]; ok && interp.Bin != "" {
			bins[f.origin[lang.Name]] = append(bins[f.origin[lang.Name]], interp.Bin)
		}
	}
	var path []string
	add := func(dirs ...string) {
		for _, dir := range dirs {
			if !slices.Contains(path, dir) {
				path = append(path, dir)
			}
		}
	}
	if root := f.getenv("VIRTUAL_ENV"); root != "" {
		add(bins[filepath.Join(root, "bin")]...)
	}
	for _, dir := range f.folders {
		add(bins[dir.path]...)
		if slices.Contains(standard, dir.path) {
			add(dir.path)
		}
	}
	add(standard...)
	return path
}
