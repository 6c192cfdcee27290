//go:build unix

package guard

import (
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// from gives the path that a setting names, which is relative to its git directory, as it is written: what ".." comes to is
// decided by the links before it.
func (s setting) from(gitDir string) string {
	if filepath.IsAbs(s.value) {
		return s.value
	}
	return gitDir + "/" + s.value
}

// worktreeIsOwn lets core.worktree pass when it leads to a folder of the workspace whose `.git` leads back here, or to where a
// submodule's folder may come again.
func (t *tree) worktreeIsOwn(dir string, s setting) bool {
	if s.section != "core" || s.key != "worktree" || s.sub != "" {
		return false
	}
	real, ok := wouldBe(s.from(dir))
	if !ok || !t.mayBeTree(real) {
		return false
	}
	if !t.stampAt(real).exists {
		return t.isModule(dir)
	}
	back, err := t.follow(join(real, ".git"))
	return err == nil && back == dir
}

// gitFolders are a git directory's own: in a bare one the work trees may lie beside them.
var gitFolders = map[string]bool{"hooks": true, "info": true, "logs": true, "modules": true, "objects": true, "refs": true, "worktrees": true,
	"lfs": true, "rr-cache": true, "remotes": true, "branches": true, "rebase-merge": true, "rebase-apply": true, "sequencer": true}

// mayBeTree says that nothing is obeyed by its name where a checkout into the folder writes: git, at the word of whoever works in another
// folder, would write hooks for a repository and tasks for an editor.
func (t *tree) mayBeTree(path string) bool {
	rel, inside := t.root.within(path)
	if !inside {
		return false
	}
	for r := range t.runs {
		if r.holds(path) || r.watchedAbove(path) {
			return false
		}
	}
	at := t.root.path
	for name := range strings.SplitSeq(rel, "/") {
		if _, _, isObeyed := t.isObeyed(filepath.Base(at), name); isObeyed || isVCS(name) || strings.EqualFold(name, ".git") || gitFolders[name] && t.isGitDir(at) {
			return false
		}
		at = join(at, name)
	}
	return !t.isGitDir(path)
}

// isGitDir says that a folder is known for a git directory.
func (t *tree) isGitDir(path string) bool {
	s := t.sites[path]
	return t.gitDirs[path] || s != nil && (s.form == folderSite || s.form == adminSite)
}

// mostAbsent is how many folders of a path may be missing.
const mostAbsent = 32

// wouldBe resolves the links of a path of which the end need not exist. It is not ok where that cannot be told: at a link
// that leads nowhere, behind a folder that is locked, or where ".." comes behind what is missing.
func wouldBe(path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	for rest, missing := "", 0; err != nil; missing++ {
		up, name := split(path)
		if _, there := os.Lstat(path); there == nil || locked.Refused(err) || name == ".." || up == path || missing > mostAbsent {
			return "", false
		}
		if name != "" && name != "." {
			rest = "/" + name + rest
		}
		path = up
		if real, err = filepath.EvalSymlinks(path); err == nil {
			return strings.TrimSuffix(real, "/") + rest, true
		}
	}
	return real, true
}

// isRepository is git's own test of a git directory (is_git_directory in its setup.c), but for links in the place of its parts.
func (t *tree) isRepository(path string) bool {
	common := path
	if up := filepath.Dir(path); filepath.Base(up) == "worktrees" && t.stampAt(join(path, "commondir")).exists {
		common = filepath.Dir(up) // any other commondir is a charge
	}
	head, _ := t.readLine(join(path, "HEAD"))
	ref, isRef := strings.CutPrefix(head, "ref:")
	isHash := len(head) >= 40 && strings.Trim(head[:40], "0123456789abcdefABCDEF") == ""
	return (isHash || isRef && strings.HasPrefix(strings.TrimLeft(ref, " \t\r\n"), "refs/")) &&
		t.stampAt(join(common, "objects")).folder() && t.stampAt(join(common, "refs")).folder()
}
