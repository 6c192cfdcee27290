package linked

import (
	"context"
	"os"
	"strings"
	"testing"
)

// attack is a repository that would have git execute a program, and the person's own git command that does it.
type attack struct {
	setUp   func(l *lab, mark string)
	control []string
	// newer says that only newer versions of git than 2.39 obey it.
	newer bool
}

// attacks each leave a file where mark says, through one thing that git obeys. The control command is run in the
// worktree that we made, or in the repository when it is "worktree".
var attacks = map[string]attack{
	"hook post-checkout": {setUp: func(l *lab, mark string) { l.script("r/.git/hooks/post-checkout", mark) }, control: worktreeAdd},
	"hook reference-transaction": {setUp: func(l *lab, mark string) {
		l.script("r/.git/hooks/reference-transaction", mark)
	}, control: worktreeAdd},
	"hook post-index-change": {setUp: func(l *lab, mark string) { l.script("r/.git/hooks/post-index-change", mark) }, control: worktreeAdd},
	"hook in config": {setUp: func(l *lab, mark string) { // git 2.54 and newer
		l.config("hook.evil.event", "post-checkout")
		l.config("hook.evil.command", mark)
	}, control: worktreeAdd, newer: true},
	"core.hooksPath": {setUp: func(l *lab, mark string) {
		l.script("r/hooks/post-checkout", mark)
		l.config("core.hooksPath", l.at("r/hooks"))
	}, control: worktreeAdd},
	"included config": {setUp: func(l *lab, mark string) {
		l.script("r/hooks/post-checkout", mark)
		l.write("r/more", "[core]\nhooksPath = "+l.at("r/hooks")+"\n")
		l.config("include.path", "../more")
	}, control: worktreeAdd},
	"conditionally included config": {setUp: func(l *lab, mark string) {
		l.script("r/hooks/post-checkout", mark)
		l.write("r/more", "[core]\nhooksPath = "+l.at("r/hooks")+"\n")
		l.config("includeIf.gitdir:**.path", "../more")
	}, control: worktreeAdd},
	"config.worktree": {setUp: func(l *lab, mark string) {
		l.script("r/hooks/post-checkout", mark)
		l.config("extensions.worktreeConfig", "true")
		l.git("r", "config", "--worktree", "core.hooksPath", l.at("r/hooks"))
	}, control: worktreeAdd},
	"filter smudge":  {setUp: func(l *lab, mark string) { l.filter("smudge", mark+"; cat") }, control: worktreeAdd},
	"filter process": {setUp: func(l *lab, mark string) { l.filter("process", mark) }, control: worktreeAdd},
	"filter clean":   {setUp: func(l *lab, mark string) { l.filter("clean", mark+"; cat") }, control: []string{"status"}},
	"filter by info/attributes": {setUp: func(l *lab, mark string) {
		l.config("filter.evil.smudge", mark+"; cat")
		l.write("r/.git/info/attributes", "* filter=evil\n")
	}, control: worktreeAdd},
	"filter by core.attributesFile": {setUp: func(l *lab, mark string) {
		l.config("filter.evil.smudge", mark+"; cat")
		l.write("r/attributes", "* filter=evil\n")
		l.config("core.attributesFile", l.at("r/attributes"))
	}, control: worktreeAdd},
	"core.fsmonitor": {setUp: func(l *lab, mark string) { l.config("core.fsmonitor", mark+"; false") }, control: []string{"status"}},
	"diff.external":  {setUp: func(l *lab, mark string) { l.config("diff.external", mark+"; true") }, control: []string{"diff", "HEAD~"}},
	"diff driver": {setUp: func(l *lab, mark string) {
		l.write("r/.gitattributes", "* diff=evil\n")
		l.commit("r", "attributes")
		l.config("diff.evil.command", mark+"; true")
	}, control: []string{"diff", "HEAD~"}},
	"textconv": {setUp: func(l *lab, mark string) {
		l.write("r/.gitattributes", "* diff=evil\n")
		l.commit("r", "attributes")
		l.config("diff.evil.textconv", mark+"; cat")
	}, control: []string{"diff", "HEAD~"}},
	"gpg.program": {setUp: func(l *lab, mark string) {
		l.script("r/gpg", mark)
		l.config("gpg.program", l.at("r/gpg"))
		l.config("log.showSignature", "true")
		text := l.git("r", "cat-file", "commit", "HEAD")
		text = strings.Replace(text, "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n", 1)
		id, err := l.pipeGit("r", text, "hash-object", "-t", "commit", "-w", "--stdin")
		if err != nil {
			l.t.Fatal(id)
		}
		l.git("r", "reset", "-q", "--hard", strings.TrimSpace(id))
	}, control: []string{"log"}},
	"promisor, upload-pack": {setUp: func(l *lab, mark string) {
		l.promisor(l.at("elsewhere"))
		l.config("remote.origin.uploadpack", mark+"; false")
	}, control: worktreeAdd},
	"promisor, ssh": {setUp: func(l *lab, mark string) {
		l.promisor("ssh://host/elsewhere")
		l.config("core.sshCommand", mark+"; false")
	}, control: worktreeAdd},
	"promisor, ext": {setUp: func(l *lab, mark string) {
		l.script("r/ext", mark)
		l.promisor("ext::" + l.at("r/ext"))
		l.config("protocol.ext.allow", "always")
	}, control: worktreeAdd},
	"submodule's config": {setUp: func(l *lab, mark string) {
		l.repo("lib")
		l.git("r", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", l.at("lib"), "lib")
		l.commit("r", "lib")
		l.inSession = func(tree *Tree) {
			l.git("", "clone", "-q", l.at("lib"), tree.Path+"/lib")
			l.git(tree.Path+"/lib", "config", "core.fsmonitor", mark+"; false")
		}
	}, control: []string{"status"}},
	"a repository in the tree": {setUp: func(l *lab, mark string) {
		l.inSession = func(tree *Tree) {
			l.git("", "init", "-q", tree.Path+"/nested")
			l.git(tree.Path+"/nested", "commit", "-q", "--allow-empty", "-m", "x")
			l.git(tree.Path+"/nested", "config", "core.fsmonitor", mark+"; false")
		}
	}, control: []string{"-C", "nested", "status"}},
}

var worktreeAdd = []string{"worktree", "add", "--detach", "../control"}

// config sets a key in the repository at the end of its set-up, so that the set-up itself does not obey it.
func (l *lab) config(key, value string) { l.later = append(l.later, [2]string{key, value}) }

func (l *lab) filter(what, command string) {
	l.write("r/.gitattributes", "* filter=evil\n")
	l.commit("r", "attributes")
	l.config("filter.evil."+what, command)
}

// promisor makes a partial clone that lacks a blob.
func (l *lab) promisor(url string) {
	l.write("r/lacking", "lacking\n")
	l.commit("r", "lacking")
	blob := l.git("r", "rev-parse", "HEAD:lacking")
	os.Remove(l.at("r/.git/objects/" + blob[:2] + "/" + blob[2:]))
	l.config("core.repositoryFormatVersion", "1")
	l.config("extensions.partialClone", "origin")
	l.config("remote.origin.url", url)
	l.config("remote.origin.promisor", "true")
	l.config("remote.origin.partialCloneFilter", "blob:none")
}

// Nothing that the repository or a session in it says is executed, by whatever is asked of this package. Each attack
// succeeds against the person's own git: else it would prove nothing.
func TestNothingOfTheRepositoryIsExecuted(t *testing.T) {
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.repo("r")
			l.commit("r", "two")
			a.setUp(l, "touch "+l.at("mark"))
			for _, c := range l.later {
				l.git("r", "config", c[0], c[1])
			}
			os.Remove(l.at("mark"))
			dir := l.life()
			if l.marked() {
				t.Fatal("it was executed")
			}
			if a.control[0] == "worktree" {
				dir = "r"
			}
			out, _ := l.tryGit(dir, a.control...)
			if !l.marked() && !a.newer {
				t.Errorf("the attack proves nothing: git itself is not misled\n%s", out)
			}
		})
	}
}

func (l *lab) marked() bool { return exists(l.at("mark")) }

// life goes through all that this package does, and returns the folder of a worktree that is still there.
func (l *lab) life() string {
	l.t.Helper()
	ctx := context.Background()
	trees := l.open("r")
	tree, err := trees.Make(ctx, "topic", "")
	if err != nil { // a partial clone: what lacks is not fetched
		if !strings.Contains(err.Error(), "the clone is partial") {
			l.t.Fatal(err)
		}
		return "r"
	}
	before, err := trees.Look(ctx, tree)
	if err != nil {
		l.t.Fatal(err)
	}
	before.Commit = l.git("r", "rev-parse", "HEAD~") // something to log and to compare
	if l.inSession != nil {
		l.inSession(tree)
	}
	l.write(tree.Path+"/file", "changed\n")
	l.write(tree.Path+"/untracked", "new\n")
	sum, err := trees.Summary(ctx, tree, before)
	if err != nil {
		l.t.Fatal(err)
	}
	if sum.Uncommitted == 0 || sum.Untracked == 0 || sum.CommitCount == 0 || len(sum.Notes) > 0 {
		l.t.Errorf("the summary found not all: %+v", sum)
	}
	if _, err := trees.Reopen(ctx, "topic"); err != nil || len(trees.List()) != 1 {
		l.t.Fatal(err)
	}
	if _, err := trees.Make(ctx, "second", ""); err != nil {
		l.t.Fatal(err)
	}
	if _, err := trees.Drop(ctx, "second", false); err != nil {
		l.t.Fatal(err)
	}
	if _, err := trees.Drop(ctx, "topic", false); err == nil {
		l.t.Fatal("work was lost")
	}
	return tree.Path
}

// What the asker's environment says to git does not reach it either.
func TestTheEnvironmentDoesNotReachGit(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	l.script("evil", "touch "+l.at("mark")+"; cat")
	l.write("r/.gitattributes", "* filter=evil\n")
	l.commit("r", "attributes")
	for key, value := range map[string]string{
		"GIT_EXTERNAL_DIFF": l.at("evil"), "GIT_CONFIG_PARAMETERS": "'filter.evil.smudge'='" + l.at("evil") + "'", "GIT_DIR": l.at("nowhere"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "filter.evil.smudge", "GIT_CONFIG_VALUE_0": l.at("evil"), "GIT_TRACE": l.at("trace"),
		"GIT_OBJECT_DIRECTORY": l.at("nowhere"), "GIT_INDEX_FILE": l.at("nowhere"), "GIT_TEMPLATE_DIR": l.at("nowhere"), "GIT_TRACE2": l.at("trace"),
	} {
		t.Setenv(key, value)
	}
	tree := l.make("r", "topic", "")
	if l.marked() || exists(l.at("trace")) {
		t.Error("it reached git")
	}
	l.clean(tree)
}
