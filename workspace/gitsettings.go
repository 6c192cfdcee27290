package workspace

import (
	"path/filepath"

	"code.sidecar.dev/workspace/gitconfig"
)

// HostSettings is the system's and the user's own git config, with conditional includes judged for this workspace.
func (ws *Workspace) HostSettings() *gitconfig.Config {
	return loadHost(ws.env, gitconfig.Options{Home: ws.home, Condition: ws.holds, Read: ws.looks.ReadThrough})
}

// RepositorySettings is the repository's own config as git would read it here: with the worktree's, where there is
// one, and conditional includes judged. It is what a stranger may have written.
func (ws *Workspace) RepositorySettings() *gitconfig.Config {
	if ws.Repo == nil {
		return &gitconfig.Config{}
	}
	opts := gitconfig.Options{Home: ws.home, Condition: ws.holds, Read: ws.looks.ReadThrough}
	c := gitconfig.Load(filepath.Join(ws.Repo.CommonDir, "config"), opts)
	if ws.Repo.perWorktree {
		c = gitconfig.Join(c, gitconfig.Load(filepath.Join(ws.Repo.GitDir, "config.worktree"), opts))
	}
	return c
}

// HostFile is a data file of the user's git: what key names in the host's config, else name in git's folder of the
// home (git-config(1): core.attributesFile "attributes", core.excludesFile "ignore"); "" when the home is unknown.
func (ws *Workspace) HostFile(c *gitconfig.Config, key, name string) string {
	if value, ok := c.Last(key); ok {
		path, err := gitconfig.Expand(value, ws.home)
		if err != nil || path == "" {
			return ""
		}
		return absolute(path, ws.Root)
	}
	if xdg := ws.env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "git", name)
	}
	if ws.home == "" {
		return ""
	}
	return filepath.Join(ws.home, ".config", "git", name)
}

// Stranger is the other user to whom the repository belongs, as git judges it before it obeys a config
// (safe.directory in git-config(1)); false when it is this user's, or there is none.
func (ws *Workspace) Stranger() (uid uint32, other bool) {
	if ws.Repo == nil {
		return 0, false
	}
	for _, path := range []string{ws.Repo.DotGit, ws.Repo.GitDir, ws.Repo.CommonDir} {
		if path == "" {
			continue
		}
		if uid, other := otherOwner(ws.looks, path); other {
			return uid, true
		}
	}
	return 0, false
}
