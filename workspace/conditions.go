package workspace

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/gitconfig"
)

// holds tells whether the condition of an includeIf in the file named is true for this workspace
// (git-config(1), "Conditional includes").
func (ws *Workspace) holds(condition, file string) bool {
	kind, pattern, ok := strings.Cut(condition, ":")
	if !ok || ws.Repo == nil {
		return false
	}
	switch kind {
	case "gitdir":
		return ws.inGitDir(pattern, file, false)
	case "gitdir/i":
		return ws.inGitDir(pattern, file, true)
	case "onbranch":
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		return ws.Repo.Branch != "" && gitconfig.Wildmatch(pattern, ws.Repo.Branch, false)
	case "hasconfig":
		rest, ok := strings.CutPrefix(pattern, "remote.*.url:")
		return ok && ws.hasRemote(rest)
	}
	return false
}

// inGitDir is git's include_by_gitdir.
func (ws *Workspace) inGitDir(pattern, file string, ignoreCase bool) bool {
	prefix := ""
	switch {
	case strings.HasPrefix(pattern, "./"):
		// What "." stands for is not a pattern, even if it has a "*".
		prefix, pattern = realPath(ws.looks, filepath.Dir(file))+"/", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		pattern = ws.home + pattern[1:]
	case !filepath.IsAbs(pattern):
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") || pattern == "" {
		pattern += "**"
	}
	dir := ws.Repo.GitDir
	if len(dir) < len(prefix) || !equal(dir[:len(prefix)], prefix, ignoreCase) {
		return false
	}
	return gitconfig.Wildmatch(pattern, dir[len(prefix):], ignoreCase)
}

func equal(a, b string, ignoreCase bool) bool {
	return a == b || ignoreCase && strings.EqualFold(a, b)
}

func (ws *Workspace) hasRemote(pattern string) bool {
	for _, e := range ws.Repo.config.Entries {
		if e.Section() == "remote" && e.Name() == "url" && gitconfig.Wildmatch(pattern, e.Value, false) {
			return true
		}
	}
	return false
}
