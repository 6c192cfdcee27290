package nix

import (
	"strings"
)

var (
	// What expr/env.nix throws.
	thrown = compiled(`sidecar:(unknown|no-package|no-set|no-libraries|no-nixpkgs|no-system):([^:\s]*):`)
	// nixpkgs' check-meta.nix, in its older and its newer wording.
	refused = compiled("(?:Package [‘'`\"]?([^’'\"\\s]+)[’'\"]? (?:in [^\\n]*? )?|Refusing to evaluate package [‘'`\"]?([^’'\"\\s]+)[’'\"]? (?:in [^\\n]*? )?because it )" +
		`(has an? unfree licen[sc]e|is marked as insecure|has known vulnerabilities|is marked as broken|is broken|is not available on the requested|is not supported on)[^\n]*`)
	builderFailed = compiled(`(?:builder for|Cannot build|build of) '(?:[^']*\^)?(/nix/store/[^']+\.drv)(?:[^']*)?'`)
	builderReason = compiled(`failed with exit code \d+|failed due to signal [^\n;]*|failed to produce output path[^\n;]*|timed out after \d+ seconds[^\n;]*|Reason: [^\n]*`)
	brokenStore   = compiled(`(?i)(?:opening lock file|could not set permissions on|creating directory|getting status of|cannot connect to|opening a connection to|changing ownership of|cannot open SQLite|acquiring/releasing lock|executing SQLite|attempt to write a readonly|opening file|unable to fork)[^\n]*(?:/nix/|daemon|socket|db\.sqlite|readonly database)[^\n]*|the group '[^'\n]*' specified in 'build-users-group'[^\n]*|the build users group '[^'\n]*' has no members`)
	unfetched     = compiled(`(?i)unable to download|cannot fetch|could not resolve host|couldn't resolve host|hash mismatch|program 'git' failed|failed to fetch|cannot find flake|unable to find a flake|no substituter|does not exist in the store|path '[^']*' does not exist|getting status of '[^']*': No such file|is not valid and cannot be|unsupported flake|cannot be (?:substituted|fetched)|HTTP error|\bunable to (?:check out|open repository)`)
)

// kinds say what nixpkgs' words mean, and the setting that allows such packages.
var kinds = []struct{ words, kind, setting string }{
	{"unfree", "unfree", "nix.allow_unfree: true"},
	{"insecure", "insecure", "nix.allow_insecure: [NAME]"},
	{"vulnerabilities", "insecure", "nix.allow_insecure: [NAME]"},
	{"broken", "broken", "nix.allow_broken: true"},
	{"", "unsupported", ""},
}

// failure makes the error of what a nix that ended badly has said. what names what was asked for.
func (t *transcript) failure(what, logFile string, offline bool, nixpkgs Source) error {
	all := strings.Join(t.errors, "\n")
	if match := thrown().FindStringSubmatch(all); match != nil {
		return missing(match[1], match[2], nixpkgs)
	}
	if match := refused().FindStringSubmatch(all); match != nil {
		return refusal(match, all)
	}
	if match := brokenStore().FindString(all); match != "" {
		return &StoreError{Reason: match, Hint: storeHint(match)}
	}
	if match := builderFailed().FindStringSubmatch(all); match != nil {
		return &BuildError{What: what, Derivation: match[1], Reason: storeName(match[1]) + " " + builderWords(all), Tail: t.tail(match[1]), LogFile: logFile}
	}
	why := reason(all)
	if unfetched().MatchString(all) {
		return &FetchError{What: what, Reason: why, Offline: offline, LogFile: logFile}
	}
	return &EvalError{What: what, Reason: why, LogFile: logFile}
}

// missing is the error of what expr/env.nix has thrown.
func missing(kind, path string, nixpkgs Source) error {
	words := map[string]string{
		"no-package":   "is no package",
		"no-set":       "is no set of packages",
		"no-libraries": "cannot be put together with libraries",
		"no-nixpkgs":   "is missing: it is not like nixpkgs",
		"no-system":    "is no system of it",
	}
	return &UnknownError{Package: path, Why: words[kind], Nixpkgs: nixpkgs}
}

// refusal is the error of nixpkgs' own check.
func refusal(match []string, all string) error {
	e := &RefusedError{Package: match[1] + match[2], Reason: strings.TrimSpace(match[0])}
	for _, row := range kinds {
		if strings.Contains(match[3], row.words) {
			e.Kind, e.Setting = row.kind, strings.ReplaceAll(row.setting, "NAME", e.Package)
			break
		}
	}
	if _, after, ok := strings.Cut(all, "Known issues:"); ok {
		for line := range strings.Lines(after) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "- ") || len(e.Details) == 10 {
				break
			}
			if line != "" {
				e.Details = append(e.Details, line)
			}
		}
	}
	return e
}

// builderWords are how the build ended.
func builderWords(all string) string {
	words := builderReason().FindString(all)
	if words == "" {
		return "failed"
	}
	words = strings.TrimPrefix(strings.TrimPrefix(words, "Reason: "), "builder ")
	return strings.TrimSuffix(words, ".")
}

// reason is the error at the bottom of Nix's account, without the trace above it and the code around it.
func reason(all string) string {
	if at := strings.LastIndex(all, "error: "); at >= 0 {
		all = all[at+len("error: "):]
	}
	var lines []string
	for line := range strings.Lines(all) {
		line = strings.TrimRight(line, " \n")
		if trimmed := strings.TrimSpace(line); trimmed == "" || strings.HasPrefix(trimmed, "(use '--show-trace'") || strings.HasPrefix(trimmed, "… ") {
			continue
		}
		if lines = append(lines, line); len(lines) == 12 {
			break
		}
	}
	if len(lines) == 0 {
		return "nix failed and said nothing"
	}
	return strings.Join(lines, "\n")
}

// groupHint says what to do where root's nix wants a group of build users that this machine does not have, as with Debian's
// nix-bin without its nix-setup-systemd.
const groupHint = "put `build-users-group =` into ~/.config/nix/nix.conf, or make the group (nixbld) and its users, as Nix's own installer does"

// storeHint says what to do about a store that cannot be used.
func storeHint(reason string) string {
	switch {
	case strings.Contains(reason, "build-users-group"), strings.Contains(reason, "build users group"):
		return groupHint
	case strings.Contains(reason, "daemon"), strings.Contains(reason, "socket"):
		return "is the Nix daemon running, and may you use it? (systemctl start nix-daemon; the group nix-users on Debian)"
	case strings.Contains(reason, "readonly"), strings.Contains(reason, "Read-only"):
		return "the store is read-only here; a store of one's own needs the setting nix.store"
	}
	return "you have no right to write it: start the Nix daemon, or set nix.store to a folder of your own"
}
