package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What sidecar itself executes, outside of any sandbox, must not be a run's. Runs write their workspace and what is
// declared for them; PATH may name a folder there (an activated virtual environment), and that of another project, too.
// So each folder that runs were ever let write counts, which the record knows (Machine.Written). It is kept for good: where
// a person removes it nothing is known of the other projects any more. Whether a folder is in a git work tree is no stand-in,
// since Homebrew, pyenv and people's own ~/bin are. What can be known without it counts always: Tools.mine.

// Tools tells which programs of a machine sidecar may execute outside of any sandbox.
type Tools struct {
	*finder
	// mine are, beside the workspace, the folders that belong to it: see belonging.
	mine []string
}

// NewTools looks at the machine's PATH.
func NewTools(m Machine) *Tools {
	f := newFinder(m)
	return &Tools{f, f.belonging()}
}

// Tool finds a program that sidecar itself is to execute ("git", "bwrap").
func Tool(m Machine, name string) (string, bool) {
	t := NewTools(m)
	for _, dir := range t.folders {
		if path := filepath.Join(dir.path, name); t.executable(path) && t.Safe(path) {
			return path, true
		}
	}
	return "", false
}

// PassedOver is the first program of a name on PATH that Tool does not take since runs could put it there, and the folder of the
// record that says so, "" where the project itself does.
func PassedOver(m Machine, name string) (path, folder string) {
	t := NewTools(m)
	for _, dir := range t.folders {
		path := filepath.Join(dir.path, name)
		if !t.executable(path) || !t.Planted(path) {
			continue
		}
		real, _, links, _ := t.walk(path)
		for _, at := range append(links, filepath.Clean(path), real) {
			if list := t.recorded(at); len(list) > 0 {
				return path, list[0]
			}
		}
		return path, ""
	}
	return "", ""
}

// SearchPath is the PATH for a program of the host that itself looks for others (nix starts git): without the folders
// that runs write, and without relative ones.
func SearchPath(m Machine) string {
	t := NewTools(m)
	var dirs []string
	for _, dir := range t.folders {
		if t.Safe(dir.path) {
			dirs = append(dirs, dir.path)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Safe says that neither a run nor another user may have put there what a path leads to.
func (t *Tools) Safe(path string) bool { return !t.Planted(path) && !t.others(path) }

// Planted says whether a run may have put there what a path leads to: the path, a link on its way or its end lies where
// runs write or wrote.
func (t *Tools) Planted(path string) bool {
	real, _, links, err := t.walk(path)
	return err != nil || slices.ContainsFunc(append(links, filepath.Clean(path), real), t.runsWrite)
}

func (t *Tools) runsWrite(path string) bool {
	return t.workspace.holds(path) || len(t.recorded(path)) > 0 || slices.ContainsFunc(t.mine, func(folder string) bool { return within(path, folder) })
}

// nobody is the owner of what belongs to users that a user namespace does not know, root as a rule (user_namespaces(7)).
const nobody = 65534

// others says whether another user could replace a program or, of a folder, any of its programs.
func (t *Tools) others(path string) bool {
	real, _, err := t.real(path)
	if err != nil {
		return true
	}
	for _, at := range []string{real, filepath.Dir(real), filepath.Dir(path)} {
		at, _, err := t.real(at)
		if err != nil {
			return true
		}
		info, err := os.Lstat(t.at(at))
		if err != nil || info.Mode()&0o002 != 0 && (!info.IsDir() || info.Mode()&os.ModeSticky == 0) {
			return true
		}
		if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Uid != 0 && sys.Uid != nobody && int(sys.Uid) != os.Geteuid() {
			return true
		}
	}
	return false
}

// maxCheckouts bounds how many worktrees of a repository are asked for.
const maxCheckouts = 1024

// belonging are the folders that runs of this project write where the record does not say so: the repositories around the
// workspace, all their worktrees with the main one, and the activated virtual environment, which is a project's.
func (f *finder) belonging() []string {
	all := []string{f.getenv("VIRTUAL_ENV")}
	for dir := f.workspace.real; dir != "" && dir != "/" && !contains(dir, f.home); dir = filepath.Dir(dir) {
		if f.exists(filepath.Join(dir, ".git")) {
			all = append(append(all, dir), f.checkouts(filepath.Join(dir, ".git"))...)
		}
	}
	var fit []string
	for _, dir := range all { // files of the project named them
		if s := f.spell(dir); s.given != "" && s.real != "/" && !contains(s.real, f.home) && !isSystem(s.real) && !within(s.real, nixStore) {
			fit = append(fit, s.given, s.real)
		}
	}
	return fit
}

// checkouts are the folders with a work tree of the repository that a .git leads to (gitrepository-layout(5)).
func (f *finder) checkouts(git string) []string {
	common := git
	if named, ok := strings.CutPrefix(f.read(git), "gitdir: "); ok {
		git = against(filepath.Dir(git), named)
		common = git
		if to := f.read(filepath.Join(git, "commondir")); to != "" {
			common = against(git, to)
		}
	}
	var all []string
	if filepath.Base(common) == ".git" {
		all = append(all, filepath.Dir(common))
	}
	names := f.list(filepath.Join(common, "worktrees"))
	for _, name := range names[:min(len(names), maxCheckouts)] {
		folder := filepath.Join(common, "worktrees", name)
		if to := f.read(filepath.Join(folder, "gitdir")); to != "" {
			all = append(all, filepath.Dir(against(folder, to)))
		}
	}
	return all
}

// against is a path that a file of git's in dir names.
func against(dir, named string) string {
	named = strings.TrimSpace(named)
	if filepath.IsAbs(named) {
		return filepath.Clean(named)
	}
	return filepath.Join(dir, named)
}

// recorded are the folders around a path, itself too, that runs could write once.
func (f *finder) recorded(path string) []string {
	var all []string
	for at := path; f.m.Written != nil; at = filepath.Dir(at) {
		known, ok := f.judged[at]
		if !ok {
			known = f.m.Written(at)
			f.judged[at] = known
		}
		if known {
			all = append(all, at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return all
}

// foreign says whether runs of another project could write a folder. One around the home says little: nearly all that a
// person has installed lies in it.
func (f *finder) foreign(path string) bool {
	return !f.workspace.holds(path) && slices.ContainsFunc(f.recorded(path), func(folder string) bool { return !contains(folder, f.home) })
}

// astray says whether a run of another project may have chosen where a program is, which is shown with the folder around it:
// a link of such a run leads to it, and neither stays it in the folder that PATH names, or beside it, nor is it installed.
func (f *finder) astray(c candidate, real string) bool {
	dir, _, atFolder, err := f.walk(filepath.Dir(c.name))
	_, _, links, err2 := f.walk(c.name)
	if err != nil || err2 != nil {
		return true
	}
	if !slices.ContainsFunc(links, func(link string) bool { return f.leadsAway(link, real) }) {
		return false
	}
	named := !slices.ContainsFunc(atFolder, func(link string) bool { return f.leadsAway(link, real) })
	return !(named && within(real, filepath.Dir(dir))) && !f.trusted(c, real)
}

// leadsAway says whether a link is one that runs of another project may have made; of a home where runs wrote, one that leads
// out of it.
func (f *finder) leadsAway(link, real string) bool {
	return !f.workspace.holds(link) && slices.ContainsFunc(f.recorded(link), func(folder string) bool {
		return !contains(folder, f.home) || !within(real, folder)
	})
}
