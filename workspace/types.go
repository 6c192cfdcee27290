// Package workspace goes from a folder to a Workspace: one project root with its git facts, and from
// those to its protected paths, which are what host programs execute or obey and a run must not change.
//
//	ws, err := workspace.Discover("/home/me/project/sub", workspace.Options{})
//	for _, p := range ws.Protected(workspace.DefaultRules()) { … }
//
// It never runs anything that a repository names, never follows a link out of what it was asked to look
// at, and reads no file tree: its cost does not grow with the number of files.
package workspace

import (
	"code.sidecar.dev/workspace/gitconfig"
	"code.sidecar.dev/workspace/looks"
)

// Workspace is one project root and what git makes of it.
type Workspace struct {
	// Root is absolute, with symbolic links resolved.
	Root string
	// Marker is what made Root the root: ".git" (also for a bare repository or GIT_DIR), a marker file's name,
	// or "" for the folder itself.
	Marker string
	// Dir is the folder that was asked about, absolute, links resolved: Root or a folder below it.
	Dir string
	// Repo is the repository that Root lies in, or nil.
	Repo *Repository
	// Nested are other repositories below Root that are known: submodules are not among them.
	Nested []*Repository
	// Notes are sentences about what could not be read, for people.
	Notes []string

	// env and home are the asker's, host is the system's and the user's own git config.
	env  func(string) string
	home string
	host *gitconfig.Config
	// looks takes note of all that is looked at, or is nil.
	looks *looks.Looks
	// broken is a ".git" pointer that leads nowhere.
	broken *found
}

// Repository is one git directory and its work tree.
type Repository struct {
	// WorkTree is the top of the work tree; "" for a bare repository.
	WorkTree string
	// DotGit is the path of the work tree's ".git" entry; "" when there is none (bare, GIT_DIR).
	DotGit string
	// DotGitKind tells what DotGit is.
	DotGitKind DotGitKind
	// GitDir is the git directory, links resolved: for a linked worktree its own admin folder.
	GitDir string
	// CommonDir is where objects, refs, config and hooks are; it equals GitDir except in a linked worktree.
	CommonDir string
	// Linked says that this is a linked worktree.
	Linked bool
	// Bare says that there is no work tree.
	Bare bool
	// Branch is the checked-out branch of Workspace.Repo, or "" (detached, unreadable; another repository's is not read).
	Branch string
	// Worktrees are the linked worktrees that CommonDir knows, this one included when it is one.
	Worktrees []LinkedWorktree
	// Submodules are the submodules below CommonDir/modules, nested ones too, and those whose git dir lies in
	// their own work tree.
	Submodules []*Repository
	// Name is a submodule's name.
	Name string
	// ConfigFiles are the config files git reads for this repository that lie anywhere, in order, included
	// ones too; for Workspace.Repo the system's and the user's are among them. Absent ones that are named are listed too.
	ConfigFiles []string
	// Suspect, when not empty, says why the git directory, which lies outside the workspace, cannot be taken to
	// belong to it: Workspace.Writable then leaves it out, so that git inside a run finds no repository.
	Suspect string

	// config is the repository's own config: the common one, and config.worktree where git reads it.
	config *gitconfig.Config
	// listing is what GitDir holds, if it was listed.
	listing listing
	// perWorktree says that extensions.worktreeConfig is set.
	perWorktree bool
}

// DotGitKind is what a work tree's ".git" is.
type DotGitKind int

// What ".git" can be.
const (
	DotGitNone DotGitKind = iota
	DotGitFolder
	DotGitFile
	DotGitLink
)

// LinkedWorktree is one entry of CommonDir/worktrees.
type LinkedWorktree struct {
	Name string
	// Admin is CommonDir/worktrees/Name.
	Admin string
	// Path is the worktree's folder, "" when it cannot be read.
	Path string
}

// Hold is how a protected path is held.
type Hold int

// Ways to hold a protected path.
const (
	// ReadOnly: it exists; it becomes a read-only mount, and every folder above it is pinned.
	ReadOnly Hold = iota
	// Writable: a folder inside a read-only one, or a border of its own, that stays read-write (the current
	// worktree's admin folder under a read-only "worktrees").
	Writable
	// Placeholder: it does not exist and would be obeyed if it appeared; a harmless stand-in (Content, or a
	// folder when Folder) is made before the run, mounted read-only, and gone afterwards. It may also be there
	// already, with just that content, as another run's stand-in.
	Placeholder
	// Watch: it does not exist, or cannot be held by a mount; the guard looks at it.
	Watch
	// Hidden: it exists and a run should not see or reach it (a socket of the host): covered by an empty file or folder.
	Hidden
)

// Protected is one path that a run must not change, and why.
type Protected struct {
	// Path is absolute; no symbolic link leads to it, though it may itself be one.
	Path string
	Hold Hold
	// Folder says that Path is (or, for a placeholder, becomes) a folder.
	Folder bool
	// Link says that Path is itself a symbolic link. A backend that can mount over a link does; one that cannot
	// holds it by pinning its parent, and by the guard. What it points to is a Protected of its own.
	Link bool
	// Content is what a placeholder file holds.
	Content string
	// Reason says which host program obeys it and how, for people.
	Reason string
	// Rank orders paths when there are more than mounts can hold cheaply: 0 is held first. Ranks above the
	// budget turn into Watch.
	Rank int
}
