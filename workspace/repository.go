package workspace

import (
	"path/filepath"

	"code.sidecar.dev/workspace/gitconfig"
	"code.sidecar.dev/workspace/looks"
)

// open reads the repository that was found at the workspace's root.
func (ws *Workspace) open(f *found) *Repository {
	r := &Repository{DotGit: f.dotGit, DotGitKind: f.kind, GitDir: f.gitDir}
	ws.readRepository(r)
	ws.Notes = append(ws.Notes, r.config.Problems...)
	r.Branch = readBranch(ws.looks, r)
	r.ConfigFiles = append(paths(ws.host), r.ConfigFiles...)
	switch {
	case f.workTree != "":
		r.WorkTree, r.Bare = f.workTree, false
	case f.bare:
		r.WorkTree = configuredTree(r, ws.real)
		r.Bare = r.WorkTree == ""
	default:
		ws.settleTree(r, f.top)
	}
	r.Suspect = ws.suspicion(r, f)
	if r.Suspect != "" {
		ws.note("%s: %s; runs cannot write to it, and git inside them does not find it", r.GitDir, r.Suspect)
	}
	return r
}

// settleTree sets the work tree of a repository whose ".git" lies in top.
func (ws *Workspace) settleTree(r *Repository, top string) {
	r.WorkTree = top
	if r.Linked {
		return // core.bare and core.worktree are the main worktree's (check_repository_format in git's setup.c)
	}
	if r.config.Bool("core.bare") {
		r.WorkTree, r.Bare = "", true
		return
	}
	if tree := configuredTree(r, ws.real); tree != "" && tree != top {
		ws.note("core.worktree of %s names %s as its work tree; the workspace stays %s", r.GitDir, tree, top)
		r.WorkTree = tree
	}
}

// configuredTree is core.worktree, which is relative to the git directory (git-config(1)); "" when not set.
func configuredTree(r *Repository, real func(string) string) string {
	tree, ok := r.config.Last("core.worktree")
	if !ok || tree == "" {
		return ""
	}
	return real(absolute(tree, r.GitDir))
}

// real is realPath, for who knows no looks.
func (ws *Workspace) real(path string) string { return realPath(ws.looks, path) }

// readRepository fills in what the files of r.GitDir say.
func (ws *Workspace) readRepository(r *Repository) {
	r.CommonDir = r.GitDir
	if r.listing == nil || r.listing.has("commondir") {
		r.CommonDir = commonDir(ws.looks, r.GitDir)
	}
	r.Linked = r.CommonDir != r.GitDir && filepath.Dir(r.GitDir) == filepath.Join(r.CommonDir, "worktrees")
	ws.readConfig(r)
}

// readConfig reads the repository's own config: go-git knows neither include nor includeIf, and refuses
// repositories with extensions.worktreeConfig, so this reads the files itself.
func (ws *Workspace) readConfig(r *Repository) {
	opts := gitconfig.Options{Home: ws.home, Read: ws.looks.ReadThrough}
	r.config = gitconfig.Load(filepath.Join(r.CommonDir, "config"), opts)
	r.perWorktree = r.config.Bool("extensions.worktreeconfig")
	if r.perWorktree {
		r.config = gitconfig.Join(r.config, gitconfig.Load(filepath.Join(r.GitDir, "config.worktree"), opts))
	}
	r.ConfigFiles = paths(r.config)
}

func paths(c *gitconfig.Config) []string {
	var out []string
	for _, f := range c.Files {
		out = append(out, f.Path)
	}
	return out
}

// suspicion says why a git directory outside the workspace may not be this workspace's own. A ".git" file or
// link can name any repository of the user; a run that was granted it could rewrite that one's branches.
func (ws *Workspace) suspicion(r *Repository, f *found) string {
	if f.fromEnv || inside(r.GitDir, ws.Root) && inside(r.CommonDir, ws.Root) {
		return ""
	}
	if owner, other := otherOwner(ws.looks, r.CommonDir); other {
		return "it belongs to another user (uid " + itoa(owner) + ")"
	}
	if r.Linked {
		return backPointer(ws.looks, r.GitDir, f.dotGit)
	}
	if r.CommonDir != r.GitDir {
		return "its commondir file sends git to " + r.CommonDir + ", and it is no linked worktree"
	}
	if configuredTree(r, ws.real) == f.top {
		return "" // as in a submodule, or after git init --separate-git-dir by some tools
	}
	if r.Bare {
		return "it is a bare repository of its own"
	}
	if filepath.Base(r.GitDir) == ".git" {
		return "it is the repository of " + filepath.Dir(r.GitDir)
	}
	return ""
}

// backPointer checks that a linked worktree's admin folder names this ".git" file (gitrepository-layout(5),
// "worktrees/<id>/gitdir").
func backPointer(l *looks.Looks, admin, dotGit string) string {
	back := readBackPointer(l, admin)
	if back == "" {
		return "its gitdir file cannot be read, so nothing says that it belongs to this worktree"
	}
	if back != dotGit {
		return "its gitdir file names the worktree at " + filepath.Dir(back) + "; if this one was moved, run \"git worktree repair\""
	}
	return ""
}
