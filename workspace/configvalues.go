package workspace

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/gitconfig"
)

// valueKind tells what git does with a config value.
type valueKind int

const (
	plainValue   valueKind = iota
	commandValue           // a command line
	bangValue              // a command line if it begins with "!"; else words for git, some of which may be commands
	urlValue               // a URL, or what is put in the place of one: a command line if it begins with "ext::"
	bindValue              // a key, and a command line behind signs of how tig shows it
	fileValue              // a file whose content is executed or trusted
	hooksValue             // a folder of programs
)

// valueKinds are the config variables of git-config(1) that name programs or files that are trusted, by
// section and name, whatever the subsection; "*" is every name. Left out on purpose: core.attributesFile,
// core.excludesFile, commit.template, blame.ignoreRevsFile (data, and a run may change .gitattributes as well).
var valueKinds = map[string]valueKind{
	"alias.*": bangValue, "alias.command": bangValue,
	"branch.remote": urlValue, "branch.pushremote": urlValue, "remote.pushdefault": urlValue, "remote.url": urlValue, "remote.pushurl": urlValue,
	"url.insteadof": urlValue, "url.pushinsteadof": urlValue,
	"browser.cmd": commandValue, "browser.path": commandValue,
	"core.alternaterefscommand": commandValue, "core.askpass": commandValue, "core.editor": commandValue,
	"core.fsmonitor": commandValue, "core.gitproxy": commandValue, "core.pager": commandValue, "core.sshcommand": commandValue,
	"core.hookspath":    hooksValue,
	"credential.helper": commandValue,
	"diff.command":      commandValue, "diff.external": commandValue, "diff.textconv": commandValue,
	"difftool.cmd": commandValue, "difftool.path": commandValue,
	"filter.clean": commandValue, "filter.process": commandValue, "filter.smudge": commandValue,
	"gc.recentobjectshook": commandValue,
	"gitflow.hooks":        hooksValue, // gitflow.path.hooks
	"gpg.program":          commandValue, "gpg.defaultkeycommand": commandValue,
	"gpg.allowedsignersfile": fileValue, "gpg.revocationfile": fileValue,
	"guitool.cmd": commandValue, "hook.command": commandValue,
	"http.proxysslcainfo": fileValue, "http.proxysslcert": fileValue, "http.proxysslkey": fileValue, "http.sslcapath": fileValue,
	"http.sslcainfo": fileValue, "http.sslcert": fileValue, "http.sslkey": fileValue, "http.cookiefile": fileValue,
	"imap.tunnel": commandValue, "init.templatedir": hooksValue, "instaweb.httpd": commandValue,
	"interactive.difffilter": commandValue,
	"lfs.args":               commandValue, "lfs.clean": commandValue, "lfs.path": commandValue, "lfs.smudge": commandValue,
	"man.cmd": commandValue, "man.path": commandValue,
	"merge.driver": commandValue, "mergetool.cmd": commandValue, "mergetool.path": commandValue,
	"pager.*":      commandValue,
	"remote.proxy": commandValue, "remote.receivepack": commandValue, "remote.uploadpack": commandValue,
	"sendemail.*":      commandValue,
	"sequence.editor":  commandValue,
	"submodule.update": bangValue, "svn.authorsprog": commandValue,
	"tar.command": commandValue, "tig.*": bindValue, "trailer.cmd": commandValue, "trailer.command": commandValue,
	"uploadpack.packobjectshook": commandValue,
	"web.browser":                commandValue,
}

func kindOfValue(e gitconfig.Entry) valueKind {
	if k, ok := valueKinds[e.Section()+"."+e.Name()]; ok {
		return k
	}
	// git-annex(1): annex.freezecontent-command, remote.NAME.annex-start-command, annex.NAME-store-hook …
	if s, name := e.Section(), e.Name(); (s == "annex" || s == "remote") && (strings.HasSuffix(name, "-command") || strings.HasSuffix(name, "-hook")) {
		return commandValue
	}
	return valueKinds[e.Section()+".*"]
}

// value protects what one config value makes git execute or trust.
func (p *protector) value(r *Repository, e gitconfig.Entry, k ranks) {
	kind := kindOfValue(e)
	if kind == plainValue || e.Bare || e.Value == "" && e.Section() != "url" {
		return
	}
	w := claim{rank: k.config, reason: "git executes it: " + e.Key + " in " + e.File, absent: Watch}
	switch kind {
	case bangValue:
		if line, ok := strings.CutPrefix(e.Value, "!"); ok {
			p.command(r, line, w)
		} else { // -c core.sshCommand=…, --extcmd=…, --upload-pack=…
			p.pieces(reader{claim: w, repo: r, given: true}, e.Value)
		}
	case urlValue, bindValue:
		p.command(r, hiddenCommand(kind, e), w)
	case commandValue:
		p.command(r, strings.TrimPrefix(e.Value, "!"), w)
	case fileValue:
		w.path = p.valuePath(r, e.Value)
		w.reason = "git trusts what it says: " + e.Key + " in " + e.File
		p.add(w)
	case hooksValue:
		p.hooksPath(r, e, k)
	}
}

// hiddenCommand is the command line in a value that is none by itself; "" when there is none.
func hiddenCommand(kind valueKind, e gitconfig.Entry) string {
	value := e.Value
	if kind == bindValue {
		_, action, _ := strings.Cut(value, " ")
		action = strings.TrimLeft(action, " ")
		if line := strings.TrimLeft(action, "!@?<+>"); line != action {
			return line
		}
		return ""
	}
	if e.Section() == "url" {
		value = e.Subsection()
	}
	line, isCommand := strings.CutPrefix(value, "ext::")
	if !isCommand {
		return ""
	}
	return strings.ReplaceAll(line, "% ", " ") // git-remote-ext(1)
}

// hooksPath protects the folder that core.hooksPath names, and the scripts its hooks call. Husky's folder
// "_" holds only launchers of the scripts in the folder above it.
func (p *protector) hooksPath(r *Repository, e gitconfig.Entry, k ranks) {
	dir := p.valuePath(r, e.Value)
	if dir == "" || inside(p.ws.Root, dir) {
		return // the whole workspace cannot be held
	}
	p.hooks(r, dir, k)
	if filepath.Base(dir) == "_" {
		p.hookScripts(r, filepath.Dir(dir))
		p.add(claim{path: filepath.Dir(dir), reason: whyHooks, rank: k.pointer, absent: nothing})
	}
}

// valuePath is the path of a pathname value; git runs at the top of the work tree, or in a bare repository.
func (p *protector) valuePath(r *Repository, value string) string {
	path, err := gitconfig.Expand(value, p.ws.home)
	if err != nil {
		return ""
	}
	return absolute(path, topOf(r))
}

func topOf(r *Repository) string {
	if r.WorkTree != "" {
		return r.WorkTree
	}
	return r.GitDir
}

// command protects the files of the workspace that a command line names.
func (p *protector) command(r *Repository, line string, w claim) {
	for i, word := range shellWords(line) {
		if !p.more() {
			return
		}
		p.word(r, word, i == 0, w)
	}
	p.pieces(reader{claim: w, repo: r, any: true, given: true, folders: true}, line)
}

func (p *protector) word(r *Repository, word string, first bool, w claim) {
	if path := p.fileOf(r, word); path != "" {
		w.path = path
		p.add(w)
		return
	}
	if strings.Contains(word, "://") || strings.ContainsAny(word, "%*{}[]\\^") || strings.HasPrefix(word, "-") {
		return // a URL, a pattern, an option: no program's path
	}
	// A first word without a slash is looked for on the PATH, not here; another one with a slash is as often a
	// branch or a pattern.
	if first && strings.Contains(word, "/") || !first && isScriptName(word) || strings.HasPrefix(word, "./") {
		w.path = p.valuePath(r, word)
		if w.path != "" && p.kind(w.path) == kindAbsent && !p.isGitData(r, w.path) {
			p.add(w)
		}
	}
}

// fileOf is the existing file that a word names, as an absolute path or from the places git runs commands in; ""
// when it names none. A word like "/tools/x", left over from "$TOP/tools/x", is tried from there too.
func (p *protector) fileOf(r *Repository, word string, more ...string) string {
	if word == "" || strings.ContainsRune(word, 0) || len(word) > 4096 {
		return ""
	}
	expanded, err := gitconfig.Expand(word, p.ws.home)
	if err != nil {
		return ""
	}
	var candidates []string
	if filepath.IsAbs(expanded) {
		candidates = append(candidates, filepath.Clean(expanded))
	}
	for _, base := range append([]string{r.WorkTree, r.GitDir}, more...) {
		if base != "" {
			candidates = append(candidates, filepath.Join(base, expanded))
		}
	}
	for _, path := range candidates {
		if p.scope(path) != "" && p.isFile(path) && !p.isGitData(r, path) {
			return path
		}
	}
	return ""
}

// isFile tells whether path is a file, also through links.
func (p *protector) isFile(path string) bool {
	switch p.kind(path) {
	case kindFile:
		return true
	case kindLink:
		return isRegular(p.looks, path)
	}
	return false
}

// isGitData tells whether path is one of the files in a git directory that git itself must write: a word like
// HEAD or refs/heads/main in an alias must not make them read-only.
func (p *protector) isGitData(r *Repository, path string) bool {
	for _, dir := range []string{r.GitDir, r.CommonDir} {
		if dir == "" || !inside(path, dir) || path == dir {
			continue
		}
		top, _, deeper := strings.Cut(path[len(dir)+1:], "/")
		switch top {
		case "refs", "objects", "logs", "rr-cache", "worktrees", "modules", "lfs", "annex":
			return true
		}
		if !deeper && !isScriptName(top) && !isExecutable(p.looks, path) {
			return true
		}
	}
	return false
}
