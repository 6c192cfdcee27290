//go:build unix

package guard

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

var (
	errNoPointer  = errors.New("no pointer to a git directory")
	errOddPointer = errors.New("a pointer that git may read in another way")
)

// pointsTo reads a `.git` link or file: where it leads as written, made absolute. It is errNoPointer where git cannot read it.
func (t *tree) pointsTo(path string) (target string, st stamp, err error) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return "", stamp{}, errNoPointer
	}
	defer locked.Close(dir)
	switch st = lookAt(dir, name); {
	case st.link():
		target = readLink(dir, name)
	case st.file():
		target, err = readPointer(dir, name)
	}
	if err == nil && target == "" {
		err = errNoPointer
	}
	if err != nil {
		return "", st, err
	}
	if !filepath.IsAbs(target) {
		up, _ := split(path)
		target = up + "/" + target
	}
	return target, st, nil
}

// readPointer reads what git writes into a `.git` file. Git (read_gitfile_gently in its setup.c) takes its text to end at a NUL,
// and reads longer ones than anybody writes: both are an error here.
func readPointer(dir int, name string) (string, error) {
	text, _, err := readFile(dir, name)
	switch {
	case err != nil:
		return "", err
	case bytes.IndexByte(text, 0) >= 0:
		return "", errOddPointer
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return "", errNoPointer
	}
	return target, nil
}

// isPointer says that a `.git` that is no folder says where it leads, or may say so to git.
func (t *tree) isPointer(path string) bool {
	_, _, err := t.pointsTo(path)
	return !errors.Is(err, errNoPointer)
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
	if errors.Is(err, errNoPointer) || st.ino == t.own[path] { // what the guard put back
		return nil
	}
	dir, name := split(path)
	c := &charge{dir: dir, name: name, st: st, fresh: st.ctime, doubtful: true}
	if err != nil {
		c.reason = "it is not written as git writes where a git directory is, so that what git makes of it is not known"
		return c
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		c.reason = "it leads git to a directory that does not exist, where anything may appear"
		return c
	}
	if _, _, inside := t.locate(real); !inside {
		c.reason, c.doubtful = "it leads git to a directory outside the workspace", false
		return c
	}
	if c.reason = t.oddTarget(path, target, real); c.reason == "" {
		return nil
	}
	return c
}

// oddTarget says what is wrong with where a pointer leads inside, "" when nothing is. What is let pass is held, or judged,
// when it changes in a later run, in which the pointer itself is an old one: so it must be a git directory already, with no link on the way.
func (t *tree) oddTarget(path, target, real string) string {
	if !t.mayBeTree(filepath.Dir(path)) {
		return "it makes a work tree of a folder in which what git writes is obeyed"
	}
	if real != filepath.Clean(target) {
		return "it leads git through a link, which may lead elsewhere later"
	}
	if t.sites[real] != nil && t.leadsBack(real, path) {
		return "" // and is judged by itself
	}
	if !t.isRepository(real) {
		return "it leads git to what is no git directory, and may become one"
	}
	if reason := t.targetArmed(real); reason != "" {
		return "it leads git to a directory whose config is not harmless here: " + reason
	}
	for _, tree := range t.workTrees(real) {
		if tree != filepath.Dir(path) {
			return "it leads git to a directory whose work tree is another folder"
		}
	}
	return ""
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
	if !t.isModule(real) {
		return false
	}
	trees := t.workTrees(real)
	for _, tree := range trees {
		if tree != filepath.Dir(path) {
			return false
		}
	}
	return len(trees) > 0
}

// readLine reads a file of one line.
func (t *tree) readLine(path string) (string, bool) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return "", false
	}
	defer locked.Close(dir)
	text, _, err := readFile(dir, name)
	return strings.TrimRight(string(text), "\r\n"), err == nil && bytes.IndexByte(text, 0) < 0
}

// workTrees are the folders that a git directory's core.worktree names, "" where that cannot be told.
func (t *tree) workTrees(gitDir string) (list []string) {
	for _, name := range []string{"config", "config.worktree"} {
		dir, _, err := t.folderOf(join(gitDir, name))
		if err != nil {
			continue
		}
		text, _, _ := readFile(dir, name)
		locked.Close(dir)
		settings, _ := parseConfig(text) // where that fails, or the reading, the config is charged
		for _, s := range settings {
			if s.name() == "core.worktree" {
				tree, _ := wouldBe(s.from(gitDir))
				list = append(list, tree)
			}
		}
	}
	return list
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
