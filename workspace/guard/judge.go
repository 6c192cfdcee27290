//go:build unix

package guard

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/companions"
	"code.sidecar.dev/workspace/locked"
	"code.sidecar.dev/workspace/plainfile"
)

// charge is one thing that host programs would execute or obey.
type charge struct {
	site      *site
	dir, name string
	reason    string
	// doubtful may be a state that passes: it counts at the end of a run only.
	doubtful bool
	st       stamp
	// text is a config's; parsed says that settings and bad are a config's.
	text          string
	parsed        bool
	settings, bad []setting
	// lines are what executes of an unfinished operation's file.
	lines []string
	// fresh is the newest ctime of what makes the site a repository.
	fresh int64
}

func (c *charge) path() string { return join(c.dir, c.name) }

// key is what a snapshot of the site has the charge's file as.
func (c *charge) key() string {
	if c.site.form == vcsSite {
		return strings.TrimPrefix(c.path(), c.site.path+"/")
	}
	return c.name
}

// judge tells what is armed in a site, whoever did it; whole, also what is read at the end of a run only.
func (t *tree) judge(s *site, whole bool) []*charge {
	var list []*charge
	switch s.form {
	case pointerSite:
		if c := t.judgePointer(s.path); c != nil {
			list = append(list, c)
		}
	case vcsSite:
		list = t.judgeVCS(s)
	default:
		list = t.judgeGitDir(s.path, s.form == adminSite, whole, t.heldByAll)
	}
	for _, c := range list {
		c.site = s
	}
	return list
}

// judgeGitDir judges a git directory's own files, but for the configs that spare says are of no interest: the
// host's own may be long.
func (t *tree) judgeGitDir(path string, isAdmin, whole bool, spare func(path string) bool) []*charge {
	b, rel, ok := t.locate(path)
	if !ok {
		return nil
	}
	fd, err := b.folder(rel)
	if err != nil {
		return nil
	}
	defer locked.Close(fd)
	var list []*charge
	add := func(c *charge) {
		if c != nil {
			c.dir = path
			list = append(list, c)
		}
	}
	if !spare(join(path, "config")) {
		add(t.judgeConfig(fd, path, "config"))
	}
	add(judgeHooks(fd)) // a linked worktree's folder has neither, but git obeys both where the commondir is gone
	add(t.judgeConfig(fd, path, "config.worktree"))
	add(judgeCommondir(fd, path, isAdmin))
	for _, l := range leftovers {
		add(l.judge(fd))
	}
	if isAdmin {
		add(t.judgeBackPointer(fd, path))
	} else {
		for _, name := range oldRemotes {
			add(judgeOldRemotes(fd, name))
		}
	}
	for _, c := range companions.All {
		add(judgeCompanion(fd, c))
	}
	asBefore := func(name string, st stamp) bool { return t.nobodyChanged(path, name, st) }
	if whole && !spare(join(path, indexFile)) {
		for _, c := range judgeIndexes(fd, t.sharedOf(path), asBefore) {
			add(c)
		}
	}
	if whole && !isAdmin {
		add(judgePackedRefs(fd, asBefore))
		for _, c := range judgePackIndexes(fd, asBefore) {
			add(c)
		}
	}
	if len(list) > 0 {
		fresh := freshness(fd)
		for _, c := range list {
			c.fresh = max(fresh, c.st.ctime)
		}
	}
	return list
}

// freshness is when the newest of the entries that make a folder a git directory came about.
func freshness(fd int) int64 {
	var newest int64
	for name := range markOf {
		newest = max(newest, lookAt(fd, name).ctime)
	}
	return newest
}

func (t *tree) judgeConfig(fd int, dir, name string) *charge {
	st := lookAt(fd, name)
	if !st.exists {
		return nil
	}
	c := &charge{name: name, st: st}
	text, read, err := readFile(fd, name)
	if err != nil {
		c.reason = "a git config that is no plain file"
		return c
	}
	c.st, c.text = read, string(text)
	if c.settings, c.parsed = parseConfig(text); !c.parsed {
		c.reason = "a git config that is not written the way git writes it, so that what it makes git do is not known"
		return c
	}
	for _, s := range c.settings {
		if !s.isHarmless() && !t.worktreeIsOwn(dir, s) {
			c.bad = append(c.bad, s)
		}
	}
	switch {
	case len(c.bad) > 0:
		c.reason = "git executes or obeys its " + names(c.bad)
		c.doubtful = c.reason == "git executes or obeys its core.worktree" // the .git there may be about to come
	case read.nlink > 1:
		c.reason = "a git config that can be changed under another name"
	default:
		return nil
	}
	return c
}

func names(list []setting) string {
	var out []string
	for _, s := range list {
		if n := clip(s.name()); !slices.Contains(out, n) && len(out) < 5 {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// isModule says that a git directory lies where submodules' do.
func (t *tree) isModule(dir string) bool {
	for up, name := split(dir); up != "/"; up, name = split(up) {
		if base := filepath.Base(up); name != "" && base == "modules" {
			parent, _ := split(up)
			if t.gitDirs[parent] || t.sites[parent] != nil {
				return true
			}
		}
	}
	return false
}

// oldRemotes are folders of remotes as git had them before its config did: what a push without further words goes to, where
// the config names no remote (git-fetch(1), "Named file in $GIT_DIR/remotes").
var oldRemotes = []string{"remotes", "branches"}

// judgeOldRemotes: git init makes an empty "branches".
func judgeOldRemotes(fd int, name string) *charge {
	c := &charge{name: name, st: lookAt(fd, name), reason: "git fetches from and pushes to where it says"}
	if !c.st.folder() {
		return nil // a link is a charge of its own
	}
	for range entriesOf(fd, name, 1) {
		return c
	}
	return nil
}

// judgeCompanion judges what another program keeps in a git directory, and obeys: git makes none.
func judgeCompanion(fd int, c companions.Companion) *charge {
	st := lookAt(fd, c.Name)
	if !st.exists || st.folder() != c.Folder && !st.link() {
		return nil
	}
	return &charge{name: c.Name, st: st, reason: c.Reason}
}

// judgeBackPointer judges the gitdir of a linked worktree's folder: "git worktree repair" writes to where it leads, and
// "git worktree remove" removes what is there.
func (t *tree) judgeBackPointer(fd int, path string) *charge {
	c := &charge{name: "gitdir", st: lookAt(fd, "gitdir"), reason: "git worktree writes and removes where it leads, outside the workspace", doubtful: true}
	if !c.st.exists {
		return nil
	}
	text, st, err := readFile(fd, "gitdir")
	if err != nil {
		c.reason = "a pointer that is no plain file"
		return c
	}
	c.st = st
	to := strings.TrimRight(string(text), "\r\n")
	if !filepath.IsAbs(to) {
		to = path + "/" + to
	}
	up, name := split(to)
	real, ok := wouldBe(up) // a worktree may be gone
	if !ok || strings.ContainsRune(to, 0) {
		return c
	}
	if _, _, inside := t.locate(real); inside && name == ".git" || leadsTo(join(real, name), path) {
		return nil
	}
	return c
}

// leadsTo says that a .git file outside, where no run can write, names a folder: then a git of the host made both.
func leadsTo(file, folder string) bool {
	text, err := plainfile.ReadHead(file, unix.PathMax+10)
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	real, err := filepath.EvalSymlinks(to)
	return err == nil && real == folder
}

// judgeHooks: git's own samples are harmless, as nothing runs a name that ends so.
func judgeHooks(fd int) *charge {
	c := &charge{name: "hooks", st: lookAt(fd, "hooks")}
	switch {
	case c.st.link():
		c.reason = "a hooks folder that is a symbolic link"
		return c
	case !c.st.folder():
		return nil
	}
	for name, st := range armedHooks(fd) {
		c.reason = "git executes its hook " + clip(name)
		c.st.ctime = max(c.st.ctime, st.ctime)
		return c
	}
	return nil
}

// armedHooks lists a hooks folder's entries that git may execute.
func armedHooks(gitDir int) map[string]stamp {
	fd, err := folderIn(gitDir, "hooks")
	if err != nil {
		return nil
	}
	defer locked.Close(fd)
	out := map[string]stamp{}
	_ = readFolder(fd, make([]byte, 4096), func(name []byte, _ uint8) bool {
		n := string(name)
		if !strings.HasSuffix(n, ".sample") && !isAside(n) {
			out[n] = lookAt(fd, n)
		}
		return len(out) < 1000
	})
	return out
}

// judgeCommondir: only a linked worktree's folder has one, and it leads to the git directory around it.
func judgeCommondir(fd int, dir string, isAdmin bool) *charge {
	c := &charge{name: "commondir", st: lookAt(fd, "commondir"), reason: "it sends git to another directory for its config and hooks"}
	if !c.st.exists {
		return nil
	}
	text, st, err := readFile(fd, "commondir")
	if err != nil {
		return c
	}
	c.st = st
	to := strings.TrimRight(string(text), "\r\n")
	if !isAdmin {
		if to == "." {
			return nil
		}
		return c
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	if to == filepath.Dir(filepath.Dir(dir)) && st.nlink == 1 {
		return nil
	}
	c.doubtful = to == dir // empty while git writes it
	return c
}
