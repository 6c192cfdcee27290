package config

import (
	"path"
	"slices"
	"strings"

	"code.sidecar.dev/sandbox/proxy"
)

// kinds are what the items of lists, the names of maps and some texts have to be.
var kinds = map[string]struct {
	one, many string
	ok        func(string) bool
}{
	"text":     {"a text without control characters", "names", isText},
	"inside":   {"a name or a path inside the workspace, without ..", "names or paths inside the workspace", isInside},
	"absolute": {"an absolute path", "absolute paths", func(s string) bool { return isText(s) && path.IsAbs(s) }},
	"id":       {"an id with letters, digits, ., _ and -", "ids", isID},
	"name":     {"a name with letters, digits, _ and -", "names", isName},
	"place":    {"an absolute path, or one that starts with ~, $HOME or another variable", "absolute paths (~ and $HOME are expanded)", isPlace},
	"folders":  {"absolute paths of folders, with : between them", "absolute paths of folders", isSearchPath},
	"machine":  {"a machine as ssh knows it, HOST or USER@HOST", "machines as ssh knows them, each HOST or USER@HOST", isMachine},
	"host":     {"a host's name", "names of hosts", isHost},
	"address":  {"an IP address, or one with a port (10.0.0.7:8443, [fd00::7]:8443)", "addresses", isAddress},
	"variable": {"the name of an environment variable", "names of environment variables", isVariable},
}

func isText(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func isInside(s string) bool {
	clean := path.Clean(s)
	return isText(s) && !path.IsAbs(s) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../")
}

func isID(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters+"._-") == "" && strings.Contains(letters, s[:1])
}

func isVariable(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	return s != "" && strings.Trim(s, letters+"0123456789") == "" && strings.Contains(letters, s[:1])
}

func isName(s string) bool { return isID(s) && !strings.Contains(s, ".") }

func isPlace(s string) bool {
	return isText(s) && (path.IsAbs(s) || s == "~" || strings.HasPrefix(s, "~/") || isExpandable(s))
}

// isExpandable says whether a text starts with $NAME or ${NAME}.
func isExpandable(s string) bool {
	name, ok := strings.CutPrefix(s, "$")
	name, _, _ = strings.Cut(name, "/")
	if inner, braced := strings.CutPrefix(name, "{"); braced {
		name, _, ok = strings.Cut(inner, "}")
	}
	return ok && isVariable(name)
}

// isSearchPath says whether a text can stand in the place of PATH.
func isSearchPath(s string) bool {
	return isText(s) && !slices.ContainsFunc(strings.Split(s, ":"), func(folder string) bool { return folder != "" && !path.IsAbs(folder) })
}

// isMachine says whether ssh would take a text for a machine: package remote looks closer when it asks ssh.
func isMachine(s string) bool {
	_, host, _ := strings.Cut(s, "@")
	return isText(s) && !strings.Contains(s, " ") && s[0] != '-' && !strings.HasPrefix(host, "-")
}

func isHost(s string) bool {
	_, err := proxy.ParseHosts(map[string]string{s: "192.0.2.1"})
	return isText(s) && err == nil
}

func isAddress(s string) bool {
	_, err := proxy.ParseHosts(map[string]string{"name.example": s})
	return isText(s) && err == nil
}
