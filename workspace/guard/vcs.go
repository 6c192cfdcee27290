//go:build unix

package guard

import (
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// vcsFile is a file of another version control system whose content its program obeys.
type vcsFile struct {
	path string
	// plain judges one line that is no comment: harmless? Of a folder it is nil, and so is whole.
	plain func(line string) bool
	// whole judges all of it in the place of that.
	whole func(text string) bool
}

func (f vcsFile) isFolder() bool { return f.plain == nil && f.whole == nil }

func never(string) bool { return false }

// vcsFiles are the other systems' files, and what in them is harmless: an allow-list again.
var vcsFiles = map[string][]vcsFile{
	".hg": {lines("hgrc", hgLine), lines("hgrc-not-shared", hgLine), lines("sharedpath", never), {path: histedit, whole: hgHistedit}},
	".jj": {lines("repo/config.toml", never), lines("workspace-config.toml", never), lines("repo/workspace-config.toml", never),
		lines("repo/store/git_target", jjTarget), {path: "repo/store/git"}},
	".sl":     {lines("config", hgLine), lines("sharedpath", never), {path: histedit, whole: hgHistedit}},
	".pijul":  {lines("config", pijulLine)},
	"_darcs":  {lines("prefs/defaults", never), lines("prefs/prefs", never)},
	".bzr":    {lines("branch/branch.conf", bzrLine), lines("branch/location", never)},
	".fossil": nil,
}

func lines(path string, plain func(string) bool) vcsFile { return vcsFile{path: path, plain: plain} }

// histedit is what an unfinished histedit has left. Text of the first version is no pickle; anything else may be one, which
// Mercurial loads, and that executes what it names.
const histedit = "histedit-state"

func hgHistedit(text string) bool { return strings.HasPrefix(text, "v1\n") }

func isVCS(name string) bool { return len(vcsFiles[name]) > 0 }

// isVCSFolder says that another system's folder may have files in this one that are obeyed. What else lies in it is mere data, but for
// repositories.
func isVCSFolder(name string) bool { return name == "repo" || name == "prefs" || name == "branch" }

// jjTarget: the git repository lies beside, or is the work tree's own.
func jjTarget(line string) bool { return line == "git" || line == "../../../.git" }

func hgLine(line string) bool {
	key, value, ok := strings.Cut(line, "=")
	if !ok {
		return line == "[paths]"
	}
	key = strings.TrimSpace(key)
	value = strings.TrimSpace(value)
	return (strings.HasPrefix(key, "default") || key == "origin") && !strings.Contains(key, ":") && plainURL(value)
}

func pijulLine(line string) bool {
	return line == "[hooks]" || line == "record = []" || strings.HasPrefix(line, "default_remote = ")
}

func bzrLine(line string) bool {
	key, _, ok := strings.Cut(line, "=")
	key = strings.TrimSpace(key)
	return ok && (strings.HasSuffix(key, "_location") || key == "bound" || key == "last_revision")
}

func (t *tree) judgeVCS(s *site) []*charge {
	_, name := split(s.path)
	var list []*charge
	for _, f := range vcsFiles[name] {
		if c := t.judgeVCSFile(s.path, f); c != nil && !slices.ContainsFunc(list, func(o *charge) bool { return o.path() == c.path() }) {
			list = append(list, c)
		}
	}
	return list
}

// oddFolder finds what leads a program elsewhere on the way to a folder: something else in a folder's place. Programs may follow
// it when what is there has changed, so it is judged by itself.
func (t *tree) oddFolder(top, path string) *charge {
	at := top
	for name := range strings.SplitSeq(path, "/") {
		up := at
		at = join(up, name)
		st := t.stampAt(at)
		if st.folder() {
			continue
		}
		if !st.exists || name == "repo" && t.isOtherWorkspace(at) {
			return nil
		}
		return &charge{dir: up, name: name, st: st, fresh: st.ctime, doubtful: true, reason: "the version control program takes the repository from where it leads"}
	}
	return nil
}

// isOtherWorkspace says that a `.jj/repo` is a file as "jj workspace add" makes it, and leads to a repository that is judged.
func (t *tree) isOtherWorkspace(path string) bool {
	to, ok := t.textOf(path)
	if !filepath.IsAbs(to) {
		to = filepath.Dir(path) + "/" + to
	}
	real, err := filepath.EvalSymlinks(to)
	if !ok || err != nil || real != filepath.Clean(to) {
		return false
	}
	jj, repo := split(real)
	s := t.sites[jj]
	return repo == "repo" && filepath.Base(jj) == ".jj" && s != nil && s.form == vcsSite && t.stampAt(real).folder()
}

func (t *tree) judgeVCSFile(top string, f vcsFile) *charge {
	folder := filepath.Dir(f.path)
	if f.isFolder() {
		folder = f.path
	}
	if folder != "." {
		if c := t.oddFolder(top, folder); c != nil || f.isFolder() {
			return c
		}
	}
	dir, name, err := t.folderOf(join(top, f.path))
	if err != nil {
		return nil
	}
	defer locked.Close(dir)
	up, _ := split(join(top, f.path))
	c := &charge{dir: up, name: name, st: lookAt(dir, name), reason: "the version control program executes or obeys what it says"}
	c.fresh, c.doubtful = c.st.ctime, f.whole != nil // it may be half written
	if !c.st.exists {
		return nil
	}
	text, _, err := readFile(dir, name)
	if err != nil || c.st.nlink > 1 {
		return c
	}
	if f.whole != nil {
		if f.whole(string(text)) {
			return nil
		}
		return c
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && !f.plain(line) {
			return c
		}
	}
	return nil
}
