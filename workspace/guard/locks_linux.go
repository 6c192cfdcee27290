package guard

import (
	"os"
	"strings"
)

// gitLives says that a git works in the tree now: a lock may be its own. It reads /proc, and only when a lock
// was left, which is rare.
func gitLives(root string) bool {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if c := e.Name()[0]; c < '0' || c > '9' {
			continue
		}
		comm, _ := os.ReadFile("/proc/" + e.Name() + "/comm")
		if !strings.HasPrefix(string(comm), "git") {
			continue
		}
		cwd, err := os.Readlink("/proc/" + e.Name() + "/cwd")
		if err == nil && (cwd == root || strings.HasPrefix(cwd, strings.TrimSuffix(root, "/")+"/")) {
			return true
		}
	}
	return false
}
