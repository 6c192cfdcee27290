package host

import (
	"path/filepath"
	"slices"
	"strings"
)

// given are the folders of the PATH that macOS gives to what is not started from a shell: an editor, or an agent's app, and
// all that these start (launchd, path_helper(8)).
var given = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}

// usual are folders that shells of macOS add in their start-up files, in the order in which they are usually found: those
// of Nix and of nix-darwin, of Homebrew on both processors, of MacPorts.
var usual = []string{"~/.nix-profile/bin", "/etc/profiles/per-user/*/bin", "/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin",
	"/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"}

// Wider is an environment whose PATH is not poorer than a terminal's: on macOS, where it names nothing but the system's own
// folders, those come first that a shell would have added. A person's own PATH is left as it is.
func Wider(system string, getenv func(string) string, home string) func(string) string {
	if system != "darwin" {
		return getenv
	}
	return func(name string) string {
		value := getenv(name)
		if name != "PATH" || slices.ContainsFunc(filepath.SplitList(value), func(dir string) bool { return !slices.Contains(given, filepath.Clean(dir)) }) {
			return value
		}
		var dirs []string
		for _, dir := range usual {
			if rest, ok := strings.CutPrefix(dir, "~/"); ok {
				dir = filepath.Join(home, rest)
			}
			dirs = append(dirs, strings.ReplaceAll(dir, "*", filepath.Base(home)))
		}
		return strings.Join(append(dirs, given...), ":")
	}
}
