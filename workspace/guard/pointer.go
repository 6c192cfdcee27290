//go:build unix

package guard

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var errNoPointer = errors.New("no pointer to a git directory")

// pointsTo reads a `.git` link or file: where it leads as written, made absolute.
func (t *tree) pointsTo(path string) (target string, st stamp, err error) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return "", stamp{}, err
	}
	defer unix.Close(dir)
	st = lookAt(dir, name)
	switch {
	case st.link():
		target = readLink(dir, name)
	case st.file():
		text, _, err := readFile(dir, name)
		if err != nil {
			return "", st, err
		}
		target, _ = strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if target == strings.TrimRight(string(text), "\r\n") {
			target = ""
		}
	}
	if target == "" || strings.ContainsRune(target, 0) {
		return "", st, errNoPointer
	}
	if !filepath.IsAbs(target) {
		up, _ := split(path)
		target = up + "/" + target
	}
	return target, st, nil
}

// follow gives the git directory that a `.git` entry of any kind is or leads to, links resolved.
func (t *tree) follow(path string) (string, error) {
	if t.stampAt(path).folder() {
		return path, nil
	}
	target, _, err := t.pointsTo(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(target)
}

// judgePointer judges a `.git` that is a file or a link. One that git cannot read is harmless.
func (t *tree) judgePointer(path string) *charge {
	target, st, err := t.pointsTo(path)
	if err != nil {
		return nil
	}
	dir, name := split(path)
	if st.ino == t.own[path] {
		return nil // put back by the guard
	}
	c := &charge{dir: dir, name: name, st: st, fresh: st.ctime}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		c.reason, c.doubtful = "it leads git to a directory that does not exist, where anything may appear", true
		return c
	}
	if _, _, inside := t.locate(real); !inside {
		c.reason = "it leads git to a directory outside the workspace"
		return c
	}
	if t.leadsBack(real, path) {
		return nil
	}
	if reason := t.targetArmed(real); reason != "" {
		c.reason, c.doubtful = "it leads git to a directory whose config is not harmless here: "+reason, true
		return c
	}
	return nil
}

// leadsBack says that a git directory is where git itself puts it for a worktree or a submodule, and names
// this `.git` as its own.
func (t *tree) leadsBack(real, path string) bool {
	up, _ := split(real)
	common, dir := split(up)
	if dir == "worktrees" && (t.gitDirs[common] || t.sites[common] != nil) {
		back, ok := t.readLine(join(real, "gitdir"))
		if ok && !filepath.IsAbs(back) {
			back = filepath.Join(real, back)
		}
		return ok && back == path
	}
	return t.isModule(real) && t.ownWorktree(real) == filepath.Dir(path)
}

// readLine reads a file of one line.
func (t *tree) readLine(path string) (string, bool) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return "", false
	}
	defer unix.Close(dir)
	text, _, err := readFile(dir, name)
	return strings.TrimRight(string(text), "\r\n"), err == nil
}

// ownWorktree is the folder that a git directory's core.worktree names.
func (t *tree) ownWorktree(gitDir string) string {
	dir, name, err := t.folderOf(join(gitDir, "config"))
	if err != nil {
		return ""
	}
	defer unix.Close(dir)
	text, _, err := readFile(dir, name)
	settings, _ := parseConfig(text)
	for _, s := range settings {
		if err == nil && s.name() == "core.worktree" {
			if filepath.IsAbs(s.value) {
				return filepath.Clean(s.value)
			}
			return filepath.Join(gitDir, s.value)
		}
	}
	return ""
}

// nothing spares nothing.
func nothing(string) bool { return false }

// targetArmed judges what a pointer leads to, whoever made it; "" when it is harmless.
func (t *tree) targetArmed(real string) string {
	up, _ := split(real)
	isAdmin := filepath.Base(up) == "worktrees"
	list := t.judgeGitDir(real, isAdmin, false, nothing)
	if common := filepath.Dir(up); isAdmin {
		list = append(list, t.judgeGitDir(common, false, false, nothing)...)
	}
	if len(list) == 0 {
		return ""
	}
	return list[0].reason
}
