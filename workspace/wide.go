package workspace

import (
	"slices"
	"strings"
)

// The folders of the system: a run that could write in one would change what the machine itself executes, and the sandbox has its
// own in the place of most (hier(7), file-hierarchy(7)).
var (
	// systemFolders are those that are no project, while one may lie in them.
	systemFolders = []string{"/", "/etc", "/home", "/nix", "/run", "/run/user", "/tmp", "/var", "/var/cache", "/var/lib", "/var/log", "/var/tmp",
		"/usr/local", "/usr/local/bin", "/usr/local/etc", "/usr/local/lib", "/usr/local/sbin", "/usr/local/share", "/usr/src",
		"/Applications", "/Library", "/Network", "/Users", "/Volumes", "/private", "/private/etc", "/private/tmp", "/private/var"}
	// systemTrees are those in which none lies, but for what lies in projectTrees.
	systemTrees  = []string{"/System", "/bin", "/boot", "/dev", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/proc", "/sbin", "/sys", "/usr"}
	projectTrees = []string{"/dev/shm", "/usr/local", "/usr/src"}
)

// IsSystem says that a folder, by its real path, is the system's, and cannot be a project.
func IsSystem(path string) bool {
	below := func(tree string) bool { return strings.HasPrefix(path, tree+"/") }
	return slices.Contains(systemFolders, path) ||
		!slices.ContainsFunc(projectTrees, below) && slices.ContainsFunc(systemTrees, func(tree string) bool { return path == tree || below(tree) })
}

// IsWide says that a folder, by its real path, is too wide to be a project that nobody named: the system's, or one that holds the
// person's whole home.
func IsWide(path, home string) bool {
	return IsSystem(path) || home != "" && inside(home, path)
}
