package workspace

import (
	"slices"

	"code.sidecar.dev/workspace/gitconfig"
)

// harmless are the keys of the host's git config that runs see: who commits, and tastes. None of them names a
// program, a file, a host or a secret. Not here, though harmless: core.excludesFile and core.attributesFile
// (the files are not there), url.*.insteadOf (often holds a token), user.signingKey.
var harmless = []string{
	"user.name", "user.email", "user.useconfigonly", "author.name", "author.email", "committer.name", "committer.email",
	"apply.whitespace", "blame.date", "branch.sort", "checkout.defaultremote", "checkout.guess", "color.ui", "column.ui",
	"commit.cleanup", "commit.status", "commit.verbose", "core.abbrev", "core.autocrlf", "core.commentchar", "core.commentstring",
	"core.eol", "core.quotepath", "core.safecrlf", "core.whitespace", "diff.algorithm", "diff.colormoved", "diff.context",
	"diff.indentheuristic", "diff.mnemonicprefix", "diff.noprefix", "diff.renamelimit", "diff.renames", "diff.submodule",
	"diff.wserrorhighlight", "fetch.prune", "fetch.prunetags", "grep.linenumber", "grep.patterntype", "i18n.commitencoding",
	"i18n.logoutputencoding", "init.defaultbranch", "init.defaultobjectformat", "log.abbrevcommit", "log.date", "log.decorate",
	"log.follow", "merge.conflictstyle", "merge.ff", "merge.log", "merge.renamelimit", "merge.renames", "merge.stat", "pull.ff",
	"pull.rebase", "push.default", "push.followtags", "rebase.abbreviatecommands", "rebase.autosquash", "rebase.autostash",
	"rebase.missingcommitscheck", "rebase.stat", "rebase.updaterefs", "rerere.autoupdate", "rerere.enabled", "stash.showpatch",
	"status.branch", "status.short", "status.showstash", "status.showuntrackedfiles", "status.submodulesummary", "submodule.recurse",
	"tag.sort", "versionsort.suffix",
}

// lfsFilter is what "git lfs install" writes. Without it git would commit whole files in place of pointers; any
// other value could name any program and is left out.
var lfsFilter = map[string]string{
	"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f",
	"filter.lfs.process": "git-lfs filter-process", "filter.lfs.required": "true",
}

// always stands in every run's config, above the host's.
var always = [][2]string{
	// The workspace may belong to another user; what git is protected from there is the sandbox's work.
	{"safe.directory", "*"},
	// The keys, and the agent that holds them, are not in the sandbox: a commit would fail.
	{"commit.gpgsign", "false"}, {"tag.gpgsign", "false"}, {"tag.forcesignannotated", "false"}, {"push.gpgsign", "false"},
	// These write to the repository's config, which is read-only.
	{"branch.autosetupmerge", "false"}, {"branch.autosetuprebase", "never"}, {"push.autosetupremote", "false"},
	// A collection in the background would end with the run and leave its lock.
	{"gc.autodetach", "false"}, {"maintenance.autodetach", "false"},
}

// HarmlessGlobal is the text of the git config that stands for the user's and the system's in a run: identity
// and harmless settings of the host's effective config, with conditional includes judged for this workspace;
// never credentials, helpers, aliases, includes or keys.
func HarmlessGlobal(ws *Workspace, env func(string) string) string {
	home := ws.home
	if h := env("HOME"); h != "" {
		home = realPath(ws.looks, h)
	}
	host := loadHost(env, gitconfig.Options{Home: home, Condition: ws.holds, Read: ws.looks.ReadThrough})
	var out [][2]string
	for _, key := range harmless {
		if value, ok := host.Last(key); ok {
			out = append(out, [2]string{key, value})
		}
	}
	for _, key := range []string{"filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process", "filter.lfs.required"} {
		if value, ok := host.Last(key); ok && value == lfsFilter[key] {
			out = append(out, [2]string{key, value})
		}
	}
	slices.SortStableFunc(out, func(a, b [2]string) int { return compare(a[0], b[0]) })
	return gitconfig.Text(append(out, always...))
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// RunSettings are keys and values to pass through GIT_CONFIG_COUNT (git-config(1), "ENVIRONMENT"), above the
// repository's own config: SubmoduleSettings, and what must be off in a run although the repository's config
// turns it on: signing, and the file system monitor, which would start a daemon in each run.
func RunSettings(ws *Workspace) [][2]string {
	out := SubmoduleSettings(ws)
	if ws.Repo == nil {
		return out
	}
	for _, key := range []string{"commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated", "push.gpgsign", "core.fsmonitor"} {
		if value, ok := ws.Repo.config.Last(key); ok && value != "false" {
			out = append(out, [2]string{key, "false"})
		}
	}
	return out
}
