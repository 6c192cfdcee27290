package workspace

import (
	"path/filepath"

	"code.sidecar.dev/workspace/gitconfig"
)

// loadHost reads the system's and the user's own git config with every include.
func (ws *Workspace) loadHost() *gitconfig.Config {
	return loadHost(ws.env, gitconfig.Options{Home: ws.home, Read: ws.looks.ReadThrough})
}

// loadHost reads the files that git-config(1) names under "FILES", in their order.
func loadHost(env func(string) string, opts gitconfig.Options) *gitconfig.Config {
	var all []*gitconfig.Config
	for _, path := range hostFiles(env, opts.Home) {
		all = append(all, gitconfig.Load(path, opts))
	}
	return gitconfig.Join(all...)
}

func hostFiles(env func(string) string, home string) []string {
	var out []string
	switch system := env("GIT_CONFIG_SYSTEM"); {
	case env("GIT_CONFIG_NOSYSTEM") != "" && env("GIT_CONFIG_NOSYSTEM") != "0":
	case filepath.IsAbs(system):
		out = append(out, system)
	default:
		out = append(out, "/etc/gitconfig")
	}
	if global := env("GIT_CONFIG_GLOBAL"); global != "" {
		if filepath.IsAbs(global) {
			out = append(out, filepath.Clean(global))
		}
		return out
	}
	if xdg := env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		out = append(out, filepath.Join(xdg, "git", "config"))
	} else if home != "" {
		out = append(out, filepath.Join(home, ".config", "git", "config"))
	}
	if home != "" {
		out = append(out, filepath.Join(home, ".gitconfig"))
	}
	return out
}
