package workspace

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/companions"
	"code.sidecar.dev/workspace/gitconfig"
)

// Reasons that several paths share.
const (
	whyConfig    = "git executes programs that its config names"
	whyHooks     = "git executes hooks"
	whyCommonDir = "git takes config and hooks from where commondir points"
	whyOther     = "it belongs to another worktree"
)

// gitDir protects what git reads from a repository's own git directory (gitrepository-layout(5)).
func (p *protector) gitDir(r *Repository, k ranks) {
	at := func(name string) string { return filepath.Join(r.GitDir, name) }
	// "." sends git to where it is: harmless. An empty file would make git fail.
	p.add(claim{path: at("commondir"), reason: whyCommonDir, rank: k.absent, absent: p.absentHold(k.absent), content: ".\n"})
	p.worktreeConfig(r.GitDir, r.perWorktree, k)
	if r.Linked {
		p.add(claim{path: at("gitdir"), reason: "git takes from it where the worktree is", rank: k.pointer, absent: nothing})
	}
	if socket := at("fsmonitor--daemon.ipc"); p.kind(socket) == kindOther && p.scope(socket) != "" {
		p.keep(Protected{Path: socket, Hold: Hidden, Rank: k.pointer, Reason: "git's file system monitor on the host listens there"})
	}
	// Not here: info/attributes and .gitattributes, which choose among drivers that config names, and
	// .gitmodules, whose update commands git has not obeyed since 2.20.1 (CVE-2019-19604).
}

func (p *protector) worktreeConfig(gitDir string, perWorktree bool, k ranks) {
	w := claim{path: filepath.Join(gitDir, "config.worktree"), reason: whyConfig, rank: k.config, absent: Watch, content: stub}
	if perWorktree {
		w.absent = Placeholder
	}
	p.add(w)
}

// commonDir protects what all worktrees of a repository share.
func (p *protector) commonDir(r *Repository, k ranks) {
	at := func(name string) string { return filepath.Join(r.CommonDir, name) }
	config := claim{path: at("config"), reason: whyConfig, rank: k.config, absent: Placeholder, content: stub}
	if len(r.config.Entries) > 0 {
		config.absent = nothing // it is there, and no stand-in: spares a read
	}
	p.add(config)
	p.hooks(r, at("hooks"), k)
	for _, name := range []string{"remotes", "branches"} { // (git-fetch(1), "Named file in $GIT_DIR/remotes")
		if p.kind(at(name)) == kindFolder && len(p.list(at(name))) > 0 { // else the guard looks whether something came
			p.add(claim{path: at(name), folder: true, reason: "git fetches from and pushes to where it says", rank: k.pointer, absent: nothing})
		}
	}
	p.companions(r, k)
	if r == p.ws.Repo { // no program, but ReadableOutside grants what it names, also to a run that begins while this one lasts
		p.add(claim{path: at("objects/info/alternates"), reason: "runs may read the object stores that it names", absent: Placeholder, content: stub})
	}
	if !r.Linked {
		return
	}
	p.add(claim{path: at("commondir"), reason: whyCommonDir, rank: k.absent, absent: p.absentHold(k.absent), content: ".\n"})
	p.worktreeConfig(r.CommonDir, r.perWorktree, k)
	if r != p.ws.Repo {
		return
	}
	for _, name := range mainsOwn {
		p.add(claim{path: at(name), reason: whyOther, rank: k.pointer, absent: nothing})
	}
}

// mainsOwn are what the main worktree has in the common dir and others have in their own folder (gitrepository-layout(5)), where it
// is there: nothing can be put in the place of what is not, since the main worktree's git makes it when it is needed. Not logs/HEAD,
// which git gc writes wherever it runs.
var mainsOwn = []string{"HEAD", "index", "modules", "ORIG_HEAD", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE",
	"SQUASH_MSG", "COMMIT_EDITMSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "rebase-merge", "rebase-apply", "sequencer", "info/sparse-checkout",
	"BISECT_LOG", "BISECT_START", "BISECT_NAMES", "BISECT_TERMS", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT", "BISECT_RUN"}

// companions protects what other programs keep in a git directory, and obey.
func (p *protector) companions(r *Repository, k ranks) {
	absent := Watch
	if r != p.ws.Repo && p.many {
		absent = nothing
	}
	for _, c := range companions.All {
		p.add(claim{path: filepath.Join(r.CommonDir, c.Name), folder: c.Folder, reason: c.Reason, rank: k.pointer, absent: absent})
	}
}

// worktrees protects the admin folders of linked worktrees: each has a commondir and a config of its own.
func (p *protector) worktrees(r *Repository, k ranks) {
	dir := filepath.Join(r.CommonDir, "worktrees")
	if r != p.ws.Repo {
		p.add(claim{path: dir, reason: whyOther, rank: k.pointer, absent: nothing})
		return
	}
	if r.Linked {
		p.add(claim{path: dir, reason: whyOther, rank: k.pointer, absent: nothing})
		if p.scope(r.GitDir) != "" {
			p.keep(Protected{Path: r.GitDir, Hold: Writable, Folder: true, Rank: k.pointer, Reason: "the current worktree's own folder"})
		}
	}
	for _, w := range r.Worktrees {
		if w.Admin != r.GitDir {
			p.add(claim{path: w.Admin, reason: whyOther, rank: k.pointer, absent: nothing})
		}
		if w.Path != "" && w.Path != p.ws.Root && inside(w.Path, p.ws.Root) {
			p.add(claim{path: filepath.Join(w.Path, ".git"), rank: rankPointer, absent: Watch,
				reason: "git takes from it where the worktree's repository is"})
		}
	}
}

// includes protects the config files that others include; one that is not there yet is obeyed when it appears.
func (p *protector) includes(c *gitconfig.Config, rank int) {
	for _, f := range c.Files {
		if f.By != "" {
			p.add(claim{path: f.Path, reason: whyConfig + "; " + f.By + " includes this file", rank: rank, absent: Placeholder, content: stub})
		}
	}
}

// hostConfig protects the user's own and the system's config files when they lie where a run can write.
func (p *protector) hostConfig() {
	p.includes(p.ws.host, rankRoot)
	for _, f := range p.ws.host.Files {
		if f.By == "" {
			p.add(claim{path: f.Path, reason: "it is git's config for all your repositories", rank: rankRoot, absent: Watch})
		}
	}
	if p.ws.Repo != nil {
		return
	}
	// A repository that a run makes here, or one not known yet, would obey relative values of the user's config.
	for _, e := range p.ws.host.Entries {
		p.value(&Repository{WorkTree: p.ws.Root}, e, ranks{})
	}
}

// hooks protects a hooks folder, what links in it lead to, and the scripts that its hooks call.
func (p *protector) hooks(r *Repository, dir string, k ranks) {
	w := claim{path: dir, folder: true, reason: whyHooks, rank: k.pointer, absent: p.absentHold(k.absent)}
	path, missing, ok := p.reach(w)
	if !ok {
		return
	}
	if missing != "" || p.kind(path) != kindFolder {
		w.rank = k.absent
		p.add(w)
		p.hookScripts(r, dir)
		return
	}
	if len(p.list(path)) > 0 {
		w.absent = nothing // no stand-in
	}
	scripts := p.hookScripts(r, path)
	if scripts == 0 && k.absent >= rankAbsent && p.many {
		// Only samples: as good as an absent one.
		p.keep(Protected{Path: path, Hold: Watch, Folder: true, Rank: k.absent, Reason: whyHooks})
		return
	}
	p.present(w, path)
}

// hookScripts looks at the hooks in a folder and returns how many there are.
func (p *protector) hookScripts(r *Repository, dir string) int {
	n := 0
	for name, kind := range p.list(dir) {
		if kind == kindFolder || strings.HasSuffix(name, ".sample") {
			continue
		}
		n++
		hook := filepath.Join(dir, name)
		p.add(claim{path: hook, reason: whyHooks, rank: rankPointer, absent: nothing}) // for where a link leads
		p.script(r, hook)
	}
	return n
}
