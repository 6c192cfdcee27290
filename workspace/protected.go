package workspace

import (
	"path/filepath"

	"code.sidecar.dev/workspace/gitconfig"
)

// manyRepositories is the number of submodules and nested repositories above which what is merely absent in
// them is watched and not held: each mount costs, and 200 submodules would be some 800.
const manyRepositories = 32

// Ranks of protected paths: what is held first.
const (
	rankRoot    = 0 // the root's own repository and names
	rankConfig  = 1 // the config of a submodule or nested repository
	rankPointer = 2 // its ".git" pointer, hooks that exist, names at its top
	rankAbsent  = 3 // what is not there: hooks, commondir
)

// Protected lists the paths that a run must not make, change, move or replace, since git, another version
// control, an editor, an agent client or a shell on the host would execute or obey them. The list is sorted by
// path and has each path once; what a read-only folder in it covers is left out. Deep are files and folders further down the
// tree, as a walk found them, that the rules name.
func (ws *Workspace) Protected(rules Rules, deep ...string) []Protected {
	all := ws.repositories()
	p := &protector{
		claims: newClaims(append([]string{ws.Root}, ws.Writable()...), ws.looks),
		ws:     ws,
		rules:  rules,
		many:   len(all) > manyRepositories+1,
	}
	for _, e := range ws.host.Entries {
		if kindOfValue(e) != plainValue {
			p.hostValues = append(p.hostValues, e)
		}
	}
	p.listAhead(all)
	p.rootEntry()
	for _, r := range all {
		p.repository(r)
	}
	p.hostConfig()
	p.otherControls()
	p.names(ws.Root, rankRoot, Watch)
	for _, r := range all {
		if r != ws.Repo && r.WorkTree != "" && r.WorkTree != ws.Root {
			p.names(r.WorkTree, rankPointer, nothing)
		}
	}
	for _, path := range deep {
		if e, top, ok := rules.MatchPath(path); ok {
			p.add(claim{path: path, folder: e.Folder, followed: e.Folder, reason: e.Reason, absent: nothing, top: topOfText(top, e)})
		}
	}
	p.environmentFiles(deep)
	p.settingsFiles()
	p.also()
	return p.result()
}

// protector gathers the claims of one workspace.
type protector struct {
	*claims
	ws    *Workspace
	rules Rules
	many  bool
	// words is how many words of commands and scripts were looked at.
	words int
	// tries is how often a piece of a text was joined to a folder.
	tries int
	// hostValues are those of the host's git config that name programs or files.
	hostValues []gitconfig.Entry
	listings   map[string]listing
}

// maxWords bounds how many words of commands, hooks, settings and .envrc are looked at: each costs some looks at files.
const maxWords = 20_000

// more says whether another word is to be looked at.
func (p *protector) more() bool {
	if p.words++; p.words == maxWords+1 {
		p.ws.note("the commands, hooks, settings and .envrc of this workspace have more than %d words: files that the rest of them names are not held", maxWords)
	}
	return p.words <= maxWords
}

// listAhead lists the hooks and the work trees of submodules side by side.
func (p *protector) listAhead(all []*Repository) {
	var dirs []string
	for _, r := range all {
		if r.listing["hooks"] == kindFolder {
			dirs = append(dirs, filepath.Join(r.GitDir, "hooks"))
		}
		if r.WorkTree != "" {
			dirs = append(dirs, r.WorkTree)
		}
	}
	lists := make([]listing, len(dirs))
	together(len(dirs), func(i int) { lists[i] = list(p.looks, dirs[i]) })
	p.listings = map[string]listing{}
	for i, dir := range dirs {
		p.listings[dir] = lists[i]
		if lists[i] != nil {
			p.kinds[dir] = kindFolder // only a real folder is listed
		}
	}
}

// list is what a folder holds, remembered from listAhead.
func (p *protector) list(dir string) listing {
	if l, ok := p.listings[dir]; ok {
		return l
	}
	return list(p.looks, dir)
}

// takeOver spares looks at what the search for submodules has listed.
func (p *protector) takeOver(r *Repository) {
	if r.listing == nil || r.listing.partial() {
		return
	}
	p.kinds[r.GitDir] = kindFolder
	for _, name := range []string{"config", "config.worktree", "commondir", "hooks", "worktrees", "fsmonitor--daemon.ipc"} {
		p.kinds[filepath.Join(r.GitDir, name)] = r.listing[name]
	}
	if r.DotGitKind == DotGitFile {
		p.kinds[r.DotGit] = kindFile
	}
}

// rootEntry protects the root's ".git" where there is no repository: one that appears is obeyed at once.
func (p *protector) rootEntry() {
	if p.ws.Repo != nil {
		return
	}
	p.add(claim{path: filepath.Join(p.ws.Root, ".git"), folder: true, absent: Watch,
		reason: "git obeys a repository that appears at the root"})
	if b := p.ws.broken; b != nil && b.target != "" {
		p.add(claim{path: b.target, folder: true, absent: Placeholder,
			reason: "the .git file points there: git obeys a repository that appears"})
	}
}

// absentHold is how something absent of this rank is held.
func (p *protector) absentHold(rank int) Hold {
	if rank >= rankAbsent && p.many {
		return Watch
	}
	return Placeholder
}

// repository protects one repository's files, whichever it is.
func (p *protector) repository(r *Repository) {
	p.takeOver(r)
	ranks := p.ranksOf(r)
	p.pointer(r, ranks)
	p.gitDir(r, ranks)
	p.commonDir(r, ranks)
	p.includes(r.config, ranks.config)
	for _, e := range p.hostValues {
		p.value(r, e, ranks)
	}
	for _, e := range r.config.Entries {
		p.value(r, e, ranks)
	}
	p.worktrees(r, ranks)
}

// ranks are the ranks of one repository's paths.
type ranks struct{ config, pointer, absent int }

func (p *protector) ranksOf(r *Repository) ranks {
	if r == p.ws.Repo {
		return ranks{}
	}
	return ranks{rankConfig, rankPointer, rankAbsent}
}

// pointer protects the ".git" file or link. A ".git" folder needs nothing of its own: it is pinned, as every
// folder above a protected path.
func (p *protector) pointer(r *Repository, k ranks) {
	if r.DotGitKind == DotGitFile || r.DotGitKind == DotGitLink {
		p.addLinkOnly(claim{path: r.DotGit, rank: k.pointer, reason: "git takes from it where the repository is"})
	}
}

// addLinkOnly claims a path whose target, when it is a link to a folder, is not to become read-only: the git
// directory that ".git" links to has its own claims.
func (p *protector) addLinkOnly(w claim) {
	path, missing, ok := p.reach(w)
	if !ok || missing != "" {
		return
	}
	if p.kind(path) == kindLink {
		p.keep(Protected{Path: path, Hold: ReadOnly, Link: true, Reason: w.reason, Rank: w.rank})
		w.path = p.linkTarget(path)
		p.reachLinks(w)
		return
	}
	p.present(w, path)
}

// reachLinks keeps the links on the way to a folder, at its end too, and a pointer file that they end in.
func (p *protector) reachLinks(w claim) {
	for range maxLinks {
		path, missing, ok := p.reach(w)
		if !ok || missing != "" || w.path == "" {
			return
		}
		switch p.kind(path) {
		case kindFolder:
			return
		case kindLink:
			p.keep(Protected{Path: path, Hold: ReadOnly, Link: true, Reason: w.reason, Rank: w.rank})
			w.path = p.linkTarget(path)
		default:
			p.present(w, path)
			return
		}
	}
}
