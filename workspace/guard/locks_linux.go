package guard

import (
	"bytes"
	"os"
	"strings"
)

// gitLives says that a git lives which may have made a lock: one that works in the tree, in the work tree that holds the
// lock's git dir, or in a linked one, where its repository is not looked up; or one that was told where its git dir is. It
// reads /proc, and only when a lock was left, which is rare.
func gitLives(root string, locks map[string]stamp) bool {
	folders := []string{root}
	for lock := range locks {
		main, _, _ := strings.Cut(lock, "/.git/")
		folders = append(folders, main)
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if c := e.Name()[0]; c >= '0' && c <= '9' && isGit("/proc/"+e.Name(), folders) {
			return true
		}
	}
	return false
}

// isGit says that a process is a git that may work in one of the folders. git names its parts git-remote-https and so on.
func isGit(proc string, folders []string) bool {
	comm, _ := os.ReadFile(proc + "/comm")
	if !bytes.HasPrefix(comm, []byte("git")) {
		return false
	}
	cwd, err := os.Readlink(proc + "/cwd")
	if err != nil {
		return true
	}
	for _, folder := range folders {
		if cwd == folder || strings.HasPrefix(cwd, strings.TrimSuffix(folder, "/")+"/") {
			return true
		}
	}
	if st, err := os.Lstat(proc + "/cwd/.git"); err == nil && !st.IsDir() {
		return true
	}
	args, _ := os.ReadFile(proc + "/cmdline")
	env, _ := os.ReadFile(proc + "/environ")
	return bytes.Contains(args, []byte("--git-dir")) || bytes.Contains(env, []byte("GIT_DIR="))
}
