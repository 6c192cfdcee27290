package guard

import (
	"regexp"
	"strings"
)

// setting is one line of a git config.
type setting struct {
	section, sub, key, value string
}

// name is the setting's full name, as `git config` prints it.
func (s setting) name() string {
	if s.sub == "" {
		return s.section + "." + s.key
	}
	return s.section + "." + s.sub + "." + s.key
}

var (
	sectionLine = regexp.MustCompile(`^\[([A-Za-z][A-Za-z0-9-]*)(?: "([^"\\]*)")?\]$`)
	settingLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*) *= *([^"\\#;]*|"[^"\\]*")$`)
)

// parseConfig reads the plain part of git's config language, which is all that git itself writes: one header
// or one setting a line, no continuation, no escapes. Its author is not trusted, so what is not plain is not
// understood rather than guessed at.
func parseConfig(text []byte) (settings []setting, ok bool) {
	var section, sub string
	for line := range strings.Lines(string(text)) {
		line = strings.Trim(line, " \t\n")
		if !printable(line) {
			return nil, false
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			section, sub = strings.ToLower(m[1]), m[2]
			continue
		}
		m := settingLine.FindStringSubmatch(strings.ReplaceAll(line, "\t", " "))
		if m == nil || section == "" {
			return nil, false
		}
		value := strings.Trim(strings.Trim(m[2], " "), `"`)
		settings = append(settings, setting{section, sub, strings.ToLower(m[1]), value})
	}
	return settings, true
}

func printable(line string) bool {
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// formatConfig writes settings that parseConfig read.
func formatConfig(settings []setting) string {
	var b strings.Builder
	last := ""
	for _, s := range settings {
		head := "[" + s.section + "]\n"
		if s.sub != "" {
			head = "[" + s.section + ` "` + s.sub + "\"]\n"
		}
		if head != last {
			b.WriteString(head)
			last = head
		}
		b.WriteString("\t" + s.key + " = " + quoteValue(s.value) + "\n")
	}
	return b.String()
}

func quoteValue(v string) string {
	if strings.ContainsAny(v, "#;") || strings.TrimSpace(v) != v {
		return `"` + v + `"`
	}
	return v
}

// check judges a setting's value.
type check func(value string) bool

func anyValue(string) bool { return true }

func oneOf(words ...string) check {
	return func(v string) bool {
		for _, w := range words {
			if strings.EqualFold(v, w) {
				return true
			}
		}
		return false
	}
}

// plainURL refuses what git takes for a remote helper ("ext::sh -c …") or ssh for an option.
func plainURL(v string) bool {
	host := v
	if _, after, ok := strings.Cut(v, "://"); ok {
		host = after
	}
	_, user, _ := strings.Cut(host, "@")
	return v != "" && !strings.Contains(v, "::") && v[0] != '-' && !strings.HasPrefix(host, "-") && !strings.HasPrefix(user, "-")
}

// harmless are the settings that make git run nothing and read nothing from elsewhere, "*" for any
// subsection. It is an allow-list, as the content is an attacker's: what is missing here is armed.
var harmless = map[string]check{
	"advice.*": anyValue,

	"branch.*.description": anyValue, "branch.*.merge": anyValue, "branch.*.pushremote": plainURL,
	"branch.*.rebase": anyValue, "branch.*.remote": plainURL, "branch.*.vscode-merge-base": anyValue,
	"branch.*.github-pr-owner-number": anyValue, "branch.*.gh-merge-base": anyValue,
	"branch.autosetupmerge": anyValue, "branch.autosetuprebase": anyValue,

	"clone.defaultremotename": anyValue,

	"core.abbrev": anyValue, "core.autocrlf": anyValue, "core.bare": anyValue, "core.bigfilethreshold": anyValue,
	"core.checkstat": anyValue, "core.commitgraph": anyValue, "core.compression": anyValue,
	"core.eol": anyValue, "core.filemode": anyValue, "core.fsmonitor": oneOf("false"),
	"core.ignorecase": anyValue, "core.ignorestat": anyValue, "core.logallrefupdates": anyValue,
	"core.longpaths": anyValue, "core.loosecompression": anyValue, "core.multipackindex": anyValue,
	"core.precomposeunicode": anyValue, "core.preloadindex": anyValue, "core.quotepath": anyValue,
	"core.repositoryformatversion": anyValue, "core.safecrlf": anyValue, "core.sharedrepository": anyValue,
	"core.sparsecheckout": anyValue, "core.sparsecheckoutcone": anyValue, "core.splitindex": anyValue,
	"core.symlinks": anyValue, "core.trustctime": anyValue, "core.untrackedcache": anyValue,
	"core.warnambiguousrefs": anyValue,

	"extensions.noop": anyValue, "extensions.objectformat": anyValue, "extensions.partialclone": anyValue,
	"extensions.preciousobjects": anyValue, "extensions.refstorage": anyValue,
	"extensions.relativeworktrees": anyValue, "extensions.worktreeconfig": anyValue,

	"feature.manyfiles": anyValue, "fetch.prune": anyValue, "fetch.recursesubmodules": anyValue,
	"fetch.writecommitgraph": anyValue,

	// git-lfs itself is the host's own program; the exact lines that `git lfs install --local` writes
	"filter.lfs.clean": oneOf("git-lfs clean -- %f"), "filter.lfs.smudge": oneOf("git-lfs smudge -- %f"),
	"filter.lfs.process": oneOf("git-lfs filter-process"), "filter.lfs.required": anyValue,

	"gc.auto": anyValue, "gc.autodetach": anyValue, "gc.pruneexpire": anyValue, "index.sparse": anyValue,
	"index.threads": anyValue, "index.version": anyValue, "init.defaultbranch": anyValue,
	"init.defaultobjectformat": anyValue, "lfs.repositoryformatversion": anyValue,
	"maintenance.auto": anyValue, "maintenance.strategy": anyValue, "merge.conflictstyle": anyValue,
	"merge.ff": anyValue, "merge.renames": anyValue,
	"pack.threads": anyValue, "pull.ff": anyValue, "pull.rebase": anyValue, "push.autosetupremote": anyValue,
	"push.default": anyValue, "push.followtags": anyValue, "rebase.autosquash": anyValue,
	"rebase.autostash": anyValue, "rebase.updaterefs": anyValue, "receive.denycurrentbranch": anyValue,
	"receive.denynonfastforwards": anyValue, "receive.denydeletes": anyValue,

	"remote.pushdefault": plainURL,
	"remote.*.fetch":     anyValue, "remote.*.mirror": anyValue, "remote.*.partialclonefilter": anyValue,
	"remote.*.promisor": anyValue, "remote.*.prune": anyValue, "remote.*.prunetags": anyValue,
	"remote.*.push": anyValue, "remote.*.pushurl": plainURL, "remote.*.skipdefaultupdate": anyValue,
	"remote.*.skipfetchall": anyValue, "remote.*.tagopt": anyValue, "remote.*.url": plainURL,
	"remote.*.gh-resolved": anyValue,

	"rerere.enabled": anyValue, "rerere.autoupdate": anyValue, "status.showuntrackedfiles": anyValue,
	"status.submodulesummary": anyValue, "submodule.active": anyValue, "submodule.recurse": anyValue,
	"submodule.fetchjobs": anyValue,
	"submodule.*.active":  anyValue, "submodule.*.branch": anyValue,
	"submodule.*.fetchrecursesubmodules": anyValue, "submodule.*.ignore": anyValue,
	"submodule.*.update": oneOf("checkout", "rebase", "merge", "none"), "submodule.*.url": plainURL,

	"user.email": anyValue, "user.name": anyValue, "user.useconfigonly": anyValue,
}

// isHarmless judges one setting by the list. core.worktree depends on where it leads: see site.
func (s setting) isHarmless() bool {
	key := s.section + "." + s.key
	if s.sub != "" {
		key = s.section + ".*." + s.key
		if s.section == "filter" {
			key = s.name()
		}
	} else if s.section == "advice" {
		key = "advice.*"
	}
	ok, known := harmless[key]
	return known && ok(s.value)
}
