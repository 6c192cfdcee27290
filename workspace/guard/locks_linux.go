package guard

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/plainfile"
)

// gitLives says that a git lives which may have made one of the locks: one that works in the tree, in the work tree that
// holds the lock's git dir, or in that git dir or one beside it, which it was told or found in a .git file. It reads /proc,
// and only when a lock was left, which is rare.
func gitLives(root string, locks map[string]stamp) bool {
	folders := []string{root}
	for lock := range locks {
		main, _, _ := strings.Cut(lock, "/.git/")
		folders = append(folders, main)
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if c := e.Name()[0]; c >= '0' && c <= '9' && isGit("/proc/"+e.Name(), folders, locks) {
			return true
		}
	}
	return false
}

// isGit says that a process is a git that may have made one of the locks. git names its parts git-remote-https and so on.
func isGit(proc string, folders []string, locks map[string]stamp) bool {
	comm, _ := os.ReadFile(proc + "/comm")
	if !bytes.HasPrefix(comm, []byte("git")) {
		return false
	}
	cwd, err := os.Readlink(proc + "/cwd")
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // that one has ended
	}
	for _, folder := range folders {
		if isIn(cwd, folder) {
			return true
		}
	}
	for _, dir := range gitDirs(proc) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(cwd, dir)
		}
		if dir, err = filepath.EvalSymlinks(dir); err == nil && mayLock(dir, locks) {
			return true
		}
	}
	return false
}

// gitDirs are the git dirs that a git was told, and the one that the .git file of its work tree names: git goes to that
// folder. They may be relative to the process's folder.
func gitDirs(proc string) (dirs []string) {
	args, _ := os.ReadFile(proc + "/cmdline")
	env, _ := os.ReadFile(proc + "/environ")
	words := strings.Split(string(args), "\x00")
	for i, word := range words {
		if dir, ok := strings.CutPrefix(word, "--git-dir="); ok {
			dirs = append(dirs, dir)
		} else if word == "--git-dir" && i+1 < len(words) {
			dirs = append(dirs, words[i+1])
		}
	}
	for _, variable := range strings.Split(string(env), "\x00") {
		if dir, ok := strings.CutPrefix(variable, "GIT_DIR="); ok {
			dirs = append(dirs, dir)
		}
	}
	if text, err := plainfile.ReadHead(proc+"/cwd/.git", 4096); err == nil {
		if dir, ok := strings.CutPrefix(string(text), "gitdir: "); ok {
			dirs = append(dirs, strings.TrimRight(dir, "\r\n"))
		}
	}
	return dirs
}

// mayLock says that a git with this git dir may have made one of the locks: it lies in it, or in the repository that the
// git dir belongs to.
func mayLock(dir string, locks map[string]stamp) bool {
	if common, name := filepath.Split(filepath.Dir(dir)); name == "worktrees" {
		dir = filepath.Clean(common)
	}
	for lock := range locks {
		main, _, ok := strings.Cut(lock, "/.git/")
		if isIn(lock, dir) || ok && isIn(dir, main+"/.git") {
			return true
		}
	}
	return false
}

// isIn says that a path is a folder or lies in it.
func isIn(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
