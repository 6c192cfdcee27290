package workspace

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plainLines are those of a repository at p that git has just made.
func plainLines(more ...string) []string {
	out := append([]string{
		`0 placeholder p/.git/commondir ".\n"`,
		"0 ro p/.git/config",
		"0 watch p/.git/config.worktree",
		"0 ro p/.git/hooks/",
	}, more...)
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return out
}

// pathOf is the path in a line of lab.lines.
func pathOf(line string) string {
	path := strings.SplitN(line, " ", 3)[2]
	path, _, _ = strings.Cut(path, ` "`)
	return strings.TrimSuffix(strings.TrimSuffix(path, " link"), "/")
}

// less takes lines away.
func less(lines []string, gone ...string) []string {
	return slices.DeleteFunc(lines, func(l string) bool { return slices.Contains(gone, l) })
}

func TestProtected(t *testing.T) {
	commondir, config, perTree, hooks := `0 placeholder p/.git/commondir ".\n"`, "0 ro p/.git/config", "0 watch p/.git/config.worktree", "0 ro p/.git/hooks/"
	for name, c := range map[string]struct {
		make  func(*lab)
		rules Rules
		want  []string
	}{
		"plain":     {func(l *lab) {}, Rules{}, plainLines()},
		"no hooks":  {func(l *lab) { l.remove("p/.git/hooks") }, Rules{}, append(less(plainLines(), hooks), "0 placeholder p/.git/hooks/")},
		"no config": {func(l *lab) { l.remove("p/.git/config") }, Rules{}, []string{commondir, `0 placeholder p/.git/config "#"`, perTree, hooks}},
		"stand-ins of another run": {func(l *lab) {
			l.remove("p/.git/hooks")
			l.mkdir("p/.git/hooks")
			l.write("p/.git/commondir", ".\n")
		}, Rules{}, append(less(plainLines(), hooks), "0 placeholder p/.git/hooks/")},
		"config.worktree to come": {func(l *lab) { l.git("p", "config", "extensions.worktreeConfig", "true") }, Rules{},
			[]string{commondir, config, `0 placeholder p/.git/config.worktree "#"`, hooks}},
		"config.worktree": {func(l *lab) { l.write("p/.git/config.worktree", "") }, Rules{}, []string{commondir, config, "0 ro p/.git/config.worktree", hooks}},
		"config is a link": {func(l *lab) { mv(l, "p/.git/config", "p/cfg"); l.link("../cfg", "p/.git/config") }, Rules{},
			[]string{commondir, "0 ro p/.git/config link", perTree, hooks, "0 ro p/cfg"}},
		"hooks are a link": {func(l *lab) { l.remove("p/.git/hooks"); l.link("../my/hooks", "p/.git/hooks"); l.mkdir("p/my/hooks/x") }, Rules{},
			[]string{commondir, config, perTree, "0 ro p/.git/hooks link", "0 ro p/my/hooks/"}},
		"hooks are a link that leads nowhere": {func(l *lab) { l.remove("p/.git/hooks"); l.link("../my/hooks", "p/.git/hooks") }, Rules{},
			[]string{commondir, config, perTree, "0 ro p/.git/hooks link", "0 placeholder p/my/"}},
		"hooks link out": {func(l *lab) { l.remove("p/.git/hooks"); l.link(l.at("home"), "p/.git/hooks") }, Rules{},
			[]string{commondir, config, perTree, "0 ro p/.git/hooks link"}},
		"hooksPath": {func(l *lab) {
			l.write("p/tools/hooks/pre-commit", "")
			l.git("p", "config", "core.hooksPath", "tools/hooks")
		}, Rules{}, plainLines("0 ro p/tools/hooks/")},
		"hooksPath, absolute":             {func(l *lab) { l.write("p/h/x", ""); l.git("p", "config", "core.hooksPath", l.at("p/h")) }, Rules{}, plainLines("0 ro p/h/")},
		"hooksPath, absent":               {func(l *lab) { l.mkdir("p/a"); l.git("p", "config", "core.hooksPath", "a/b/c") }, Rules{}, plainLines("0 placeholder p/a/b/")},
		"hooksPath, by the user's config": {func(l *lab) { l.git("p", "config", "--global", "core.hooksPath", ".githooks") }, Rules{}, plainLines("0 placeholder p/.githooks/")},
		"hooksPath is the root":           {func(l *lab) { l.git("p", "config", "core.hooksPath", ".") }, Rules{}, plainLines()},
		"hooksPath through a link": {func(l *lab) {
			l.write("p/real/hooks/pre-push", "")
			l.link("real", "p/tools")
			l.git("p", "config", "core.hooksPath", "tools/hooks")
		}, Rules{}, plainLines("0 watch p/real/bazel", "0 ro p/real/hooks/", "0 ro p/tools link")},
		"husky": {func(l *lab) {
			l.write("p/.husky/_/pre-commit", "")
			l.write("p/.husky/pre-commit", "./scripts/check.sh && node tools/lint.mjs\n")
			l.write("p/scripts/check.sh", "")
			l.write("p/tools/lint.mjs", "")
			l.git("p", "config", "core.hooksPath", ".husky/_")
		}, Rules{}, plainLines("0 ro p/.husky/", "2 ro p/scripts/check.sh", "2 ro p/tools/lint.mjs")},
		"hook scripts": {func(l *lab) {
			l.write("p/.git/hooks/pre-commit", "#!/bin/sh\nexec \"$(git rev-parse --show-toplevel)/scripts/a.sh\" \"$@\"\n. ./b/plain\n./gone.sh\npython3 'q q/c.py' HEAD\ncat docs/text\n")
			l.write("p/scripts/a.sh", "")
			l.write("p/b/plain", "")
			l.write("p/docs/text", "")
			if err := os.Chmod(l.at("p/b/plain"), 0o755); err != nil {
				l.t.Fatal(err)
			}
		}, Rules{}, plainLines("2 ro p/scripts/a.sh", "2 ro p/b/plain", "2 watch p/gone.sh")},
		"hook that is a link": {func(l *lab) {
			l.link("../../scripts/hook", "p/.git/hooks/pre-commit")
			l.write("p/scripts/hook", "#!/bin/sh\nsh scripts/more.sh\n")
			l.write("p/scripts/more.sh", "")
		}, Rules{}, plainLines("2 ro p/scripts/hook", "2 ro p/scripts/more.sh")},
		"includes": {func(l *lab) {
			l.write("p/team.cfg", "[include]\npath = sub/more.cfg\n")
			l.git("p", "config", "include.path", "../team.cfg")
			l.git("p", "config", "includeIf.onbranch:never.path", "../absent.cfg")
			l.git("p", "config", "--add", "include.path", l.at("home/own.cfg"))
		}, Rules{}, plainLines("0 ro p/team.cfg", "0 placeholder p/sub/", `0 placeholder p/absent.cfg "#"`)},
		"commands": {func(l *lab) {
			for _, f := range []string{"fsm.sh", "tools/textconv", "tools/driver", "pager", "my file.py", "cred", "lfs-agent", "smudge.rb", "signers", "README.md"} {
				l.write("p/"+f, "")
			}
			for _, kv := range [][2]string{
				{"core.fsmonitor", "./fsm.sh"}, {"diff.x.textconv", "python3 tools/textconv"}, {"merge.y.driver", "sh -c 'tools/driver %A %B'"},
				{"core.pager", "FOO=1 $PWD/pager --x"}, {"filter.z.clean", `"my file.py" --opt`}, {"credential.https://x.example.helper", "!./cred get"},
				{"lfs.customtransfer.t.path", "lfs-agent"}, {"filter.z.smudge", "ruby smudge.rb"}, {"gpg.ssh.allowedSignersFile", "signers"},
				{"core.editor", "code --wait"}, {"alias.up", "!git rebase HEAD refs/heads/main"}, {"alias.st", "status README.md"},
				{"core.sshCommand", "bin/ssh -F ./ssh.conf"}, {"sendemail.tocmd", "https://example.invalid/a/b"}, {"core.excludesFile", "README.md"},
			} {
				l.git("p", "config", kv[0], kv[1])
			}
		}, Rules{}, plainLines("0 ro p/fsm.sh", "0 ro p/tools/textconv", "0 ro p/tools/driver", "0 ro p/pager", "0 ro p/my file.py", "0 ro p/cred", "0 ro p/lfs-agent",
			"0 ro p/smudge.rb", "0 ro p/signers", "0 watch p/bin/ssh", "0 watch p/ssh.conf")},
		"commands within values": {func(l *lab) {
			l.program("p/t/a", "p/t/b", "p/t/c", "p/t/d", "p/t/e", "p/t/f", "p/t/g", "p/t/h", "p/t/no", "p/ca/x")
			l.write("p/t/i.sh", "")
			for _, kv := range [][2]string{
				{"alias.x", "-c core.sshCommand=./t/a fetch"}, {"alias.y", "difftool --extcmd=./t/b"}, {"alias.z", "-c core.sshCommand='sh t/i.sh' fetch"},
				{"svn.authorsProg", "t/c"}, {"annex.freezecontent-command", "./t/d %path"}, {"remote.r.annex-start-command", "t/e"},
				{"remote.e.url", "ext::./t/f% %S foo"}, {"url.ext::sh -c ./t/g .insteadOf", "foo:"}, {"tig.bind.generic", "P !t/h %(commit)"},
				{"http.sslCAPath", "ca"}, {"remote.o.url", "t/no"}, {"tig.color.cursor", "yellow t/no"},
			} {
				l.git("p", "config", kv[0], kv[1])
			}
		}, Rules{}, plainLines("0 ro p/t/a", "0 ro p/t/b", "0 ro p/t/c", "0 ro p/t/d", "0 ro p/t/e", "0 ro p/t/f", "0 ro p/t/g", "0 ro p/t/h", "0 ro p/t/i.sh", "0 ro p/ca/")},
		"hooks of gitflow": {func(l *lab) { l.program("p/flow/x"); l.git("p", "config", "gitflow.path.hooks", l.at("p/flow")) }, Rules{}, plainLines("0 ro p/flow/")},
		"command that is a link": {func(l *lab) {
			l.link("../real/x", "p/bin/x")
			l.write("p/real/x", "")
			l.git("p", "config", "core.editor", "bin/x")
		}, Rules{},
			plainLines("0 ro p/bin/x link", "0 ro p/real/x")},
		"link loop": {func(l *lab) { l.link("b", "p/a"); l.link("a", "p/b"); l.git("p", "config", "core.hooksPath", "a/x") }, Rules{},
			plainLines("0 ro p/a link", "0 ro p/b link")},
		".git as a link": {func(l *lab) { mv(l, "p/.git", "store"); l.link("../store", "p/.git") }, Rules{},
			[]string{"0 ro p/.git link", `0 placeholder store/commondir ".\n"`, "0 ro store/config", "0 watch store/config.worktree", "0 ro store/hooks/"}},
		".git as a link inside": {func(l *lab) { mv(l, "p/.git", "p/x"); l.link("x", "p/.git") }, Rules{},
			[]string{"0 ro p/.git link", `0 placeholder p/x/commondir ".\n"`, "0 ro p/x/config", "0 watch p/x/config.worktree", "0 ro p/x/hooks/"}},
		".git as a pointer": {func(l *lab) { l.git("p", "init", "-q", "--separate-git-dir", "../store") }, Rules{},
			[]string{"0 ro p/.git", `0 placeholder store/commondir ".\n"`, "0 ro store/config", "0 watch store/config.worktree", "0 ro store/hooks/"}},
		"suspect":       {func(l *lab) { l.repo("q"); l.remove("p/.git"); l.write("p/.git", "gitdir: ../q/.git\n") }, Rules{}, []string{"0 ro p/.git"}},
		"dangling":      {func(l *lab) { l.remove("p/.git"); l.write("p/.git", "gitdir: x/y\n") }, Rules{}, []string{"0 ro p/.git", "0 placeholder p/x/"}},
		"no repository": {func(l *lab) { l.remove("p/.git") }, Rules{}, []string{"0 watch p/.git/"}},
		"no repository, but a global hooksPath": {func(l *lab) { l.remove("p/.git"); l.git("p", "config", "--global", "core.hooksPath", "hk") }, Rules{},
			[]string{"0 watch p/.git/", "0 placeholder p/hk/"}},
		"alternates":     {func(l *lab) { l.write("p/.git/objects/info/alternates", "/x\n") }, Rules{}, plainLines("0 ro p/.git/objects/info/alternates")},
		"remotes of old": {func(l *lab) { l.write("p/.git/remotes/origin", "URL: /x\n") }, Rules{}, plainLines("0 ro p/.git/remotes/")},
		"links in a folder that is obeyed": {func(l *lab) {
			l.write("p/conf/tasks.json", "")
			l.write("p/conf/cmds/real.md", "")
			l.link("real.md", "p/conf/cmds/c.md")
			l.link("../conf/tasks.json", "p/.vscode/tasks.json")
			l.link("../../conf/cmds", "p/.claude/x/commands")
			l.link("../..", "p/.claude/up/here")
			l.link("/etc/hosts", "p/.claude/out")
			l.link("nowhere", "p/.claude/nothing")
		}, Rules{}, plainLines("0 ro p/.claude/", "0 ro p/.vscode/", "0 ro p/conf/cmds/", "0 ro p/conf/tasks.json")},
		"names": {func(l *lab) {
			l.write("p/.vscode/tasks.json", "")
			l.write("p/x.code-workspace", "")
			l.write("p/.mcp.json", "")
			l.write("p/.github/hooks/x.json", "")
			l.write("p/CLAUDE.md", "")
			l.write("p/package.json", "")
			l.write("p/flake.nix", "")
			l.write("p/lefthook.yml", "")
			l.link("dotclaude", "p/.claude")
			l.mkdir("p/dotclaude")
		}, Rules{}, plainLines("0 ro p/.vscode/", "0 ro p/x.code-workspace", "0 ro p/.mcp.json", "0 ro p/.github/hooks/", "0 ro p/lefthook.yml", "0 ro p/.claude link", "0 ro p/dotclaude/")},
		"rules": {func(l *lab) {
			l.write("p/.vscode/tasks.json", "")
			l.write("p/.npmrc", "")
			l.write("p/.sidecar.yaml", "")
			l.write("p/eslint.config.js", "")
			l.write("p/tools/a.nix", "")
		}, Rules{Also: []string{"eslint.config.js", "tools/*.nix", "deploy/", "../x", "gone"}, Except: []string{".npmrc", ".vscode", ".sidecar.yaml", "config", ".git"}},
			plainLines("0 ro p/.sidecar.yaml", "0 ro p/eslint.config.js", "0 ro p/tools/a.nix", "0 watch p/deploy/", "0 watch p/gone")},
		"envrc": {func(l *lab) {
			l.write("p/.envrc", "use flake ./nix#dev\nsource_env sub\nsource scripts/env.sh\n. \"$PWD/lib.sh\"\ndotenv\n[ -f x ] && dotenv_if_exists .env.local # use nix\n")
			for _, f := range []string{"flake.nix", "nix/flake.nix", "sub/.envrc", "scripts/env.sh", "lib.sh", ".env"} {
				l.write("p/"+f, "")
			}
		}, Rules{}, plainLines("0 ro p/.envrc", "0 ro p/flake.nix", "0 watch p/flake.lock", "0 ro p/nix/flake.nix", "0 watch p/nix/flake.lock", "0 ro p/sub/.envrc",
			"0 ro p/scripts/env.sh", "0 ro p/lib.sh", "0 ro p/.env", "0 watch p/.env.local", "0 watch p/shell.nix", "0 watch p/default.nix")},
		"other controls": {func(l *lab) {
			l.remove("p/.git")
			l.write("p/.hg/hgrc", "")
			l.write("p/.hg/requires", "")
			l.mkdir("p/.jj/repo/store")
			l.mkdir("p/_darcs/prefs")
		}, Rules{}, []string{"0 watch p/.git/", "0 ro p/.hg/hgrc", `0 placeholder p/.hg/hgrc-not-shared "#"`, "0 ro p/.hg/requires", "0 watch p/.hg/sharedpath", "0 watch p/.hg/store/requires",
			"0 watch p/.jj/repo/config-id", `0 placeholder p/.jj/repo/config.toml "#"`, "0 watch p/.jj/repo/store/git_target", "0 watch p/.jj/repo/store/type",
			"0 watch p/.jj/workspace-config-id", `0 placeholder p/.jj/workspace-config.toml "#"`, "0 ro p/_darcs/prefs/"}},
		"jj, a second workspace": {func(l *lab) { l.remove("p/.git"); l.write("p/.jj/repo", "../../q/.jj/repo") }, Rules{},
			[]string{"0 watch p/.git/", "0 ro p/.jj/repo", "0 watch p/.jj/workspace-config-id", `0 placeholder p/.jj/workspace-config.toml "#"`}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.repo("p")
			c.make(l)
			want := slices.Clone(c.want)
			slices.SortFunc(want, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
			got := l.discover("p").Protected(c.rules)
			if diff := cmp.Diff(want, l.lines(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkList(t, got)
		})
	}
}

// checkList holds what is true of every list.
func checkList(t *testing.T, list []Protected) {
	t.Helper()
	for i, p := range list {
		if i > 0 && list[i-1].Path >= p.Path {
			t.Errorf("not sorted, or twice: %s", p.Path)
		}
		if p.Reason == "" || !filepath.IsAbs(p.Path) || filepath.Clean(p.Path) != p.Path {
			t.Errorf("malformed: %+v", p)
		}
		if dir := filepath.Dir(p.Path); p.Hold != Watch && realPath(nil, dir) != dir {
			t.Errorf("a link leads to %s", p.Path)
		}
		info, err := os.Lstat(p.Path)
		if p.Hold == ReadOnly && (err != nil || info.IsDir() != p.Folder || (info.Mode()&os.ModeSymlink != 0) != p.Link) {
			t.Errorf("not what is there: %+v", p)
		}
		if p.Hold == Placeholder && err != nil && !isFolder(nil, filepath.Dir(p.Path)) {
			t.Errorf("a placeholder without a folder to be in: %+v", p)
		}
	}
}

func TestProtectedLinked(t *testing.T) {
	l := newLab(t)
	l.repo("main")
	l.repo("lib")
	l.git("main", "submodule", "--quiet", "add", l.at("lib"), "lib")
	l.git("main", "commit", "-qm", "sub")
	l.git("main", "worktree", "add", "-q", "../p")
	l.git("main", "worktree", "add", "-q", "../sib")
	l.git("main", "worktree", "add", "-q", "inner")
	l.git("p", "submodule", "--quiet", "update", "--init")
	l.write("main/.git/MERGE_HEAD", "")
	l.write("main/.git/info/sparse-checkout", "")
	l.write("main/.git/rebase-merge/done", "")
	linked := []string{
		"0 ro main/.git/COMMIT_EDITMSG", "0 ro main/.git/HEAD", "0 ro main/.git/MERGE_HEAD", `0 placeholder main/.git/commondir ".\n"`, "0 ro main/.git/config", "0 watch main/.git/config.worktree", "0 ro main/.git/hooks/", "0 ro main/.git/index",
		"0 ro main/.git/info/sparse-checkout", "0 ro main/.git/modules/", "0 ro main/.git/rebase-merge/", "0 ro main/.git/worktrees/", "0 rw main/.git/worktrees/p/", "0 ro main/.git/worktrees/p/commondir", "0 watch main/.git/worktrees/p/config.worktree",
		"0 ro main/.git/worktrees/p/gitdir", `3 placeholder main/.git/worktrees/p/modules/lib/commondir ".\n"`, "1 ro main/.git/worktrees/p/modules/lib/config",
		"1 watch main/.git/worktrees/p/modules/lib/config.worktree", "2 ro main/.git/worktrees/p/modules/lib/hooks/", "0 ro p/.git", "2 ro p/lib/.git",
	}
	got := l.discover("p").Protected(Rules{})
	if diff := cmp.Diff(linked, l.lines(got)); diff != "" {
		t.Errorf("in the linked worktree (-want +got):\n%s", diff)
	}
	checkList(t, got)
	main := []string{
		`0 placeholder main/.git/commondir ".\n"`, "0 ro main/.git/config", "0 watch main/.git/config.worktree", "0 ro main/.git/hooks/",
		`3 placeholder main/.git/modules/lib/commondir ".\n"`, "1 ro main/.git/modules/lib/config", "1 watch main/.git/modules/lib/config.worktree", "2 ro main/.git/modules/lib/hooks/",
		"0 ro main/.git/worktrees/inner/", "0 ro main/.git/worktrees/p/", "0 ro main/.git/worktrees/sib/", "2 ro main/inner/.git", "2 ro main/lib/.git",
	}
	got = l.discover("main").Protected(Rules{})
	if diff := cmp.Diff(main, l.lines(got)); diff != "" {
		t.Errorf("in the main worktree (-want +got):\n%s", diff)
	}
}

func TestProtectedNested(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.repo("p/vendor/x")
	l.write("p/vendor/x/.vscode/tasks.json", "")
	l.git("p", "init", "-q", "--bare", "data")
	l.mkdir("p/plain")
	l.link("vendor", "p/alias")
	ws := l.discover("p")
	ws.AddNested([]string{l.at("p/.git"), l.at("p/vendor/x/.git"), l.at("p/vendor/x/.git"), l.at("p/data"), l.at("p/plain"), l.at("p/alias/x/.git"), l.at("home"), "vendor"})
	want := plainLines(`3 placeholder p/data/commondir ".\n"`, "1 ro p/data/config", "1 watch p/data/config.worktree", "2 ro p/data/hooks/",
		`3 placeholder p/vendor/x/.git/commondir ".\n"`, "1 ro p/vendor/x/.git/config", "1 watch p/vendor/x/.git/config.worktree", "2 ro p/vendor/x/.git/hooks/", "2 ro p/vendor/x/.vscode/")
	got := ws.Protected(Rules{})
	if diff := cmp.Diff(want, l.lines(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkList(t, got)
}

func TestProtectedManySubmodules(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.repo("template")
	addSubmodules(l, 0, manyRepositories+1)
	l.write("p/.git/modules/vendor/lib7/hooks/pre-commit", "#!/bin/sh\n")
	l.remove("p/.git/modules/vendor/lib8/hooks")
	got := l.lines(l.discover("p").Protected(Rules{}))
	for _, want := range []string{
		"3 watch p/.git/modules/vendor/lib3/commondir", "1 ro p/.git/modules/vendor/lib3/config", "3 watch p/.git/modules/vendor/lib3/hooks/", "2 ro p/vendor/lib3/.git",
		"2 ro p/.git/modules/vendor/lib7/hooks/", "3 watch p/.git/modules/vendor/lib8/hooks/", `0 placeholder p/.git/commondir ".\n"`, "0 ro p/.git/hooks/",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
}

func TestProtectedHome(t *testing.T) {
	l := newLab(t)
	l.write("home/.bashrc", "")
	l.mkdir("home/.ssh")
	l.mkdir("home/.config/fish")
	l.write("home/.gitconfig", "[include]\npath = more.cfg\n")
	got := l.lines(l.discover("home").Protected(Rules{}))
	for _, want := range []string{"0 ro home/.bashrc", "0 ro home/.ssh/", "0 ro home/.config/", "0 ro home/.gitconfig", `0 placeholder home/more.cfg "#"`} {
		if !slices.Contains(got, want) {
			t.Errorf("missing: %s in %q", want, got)
		}
	}
	l.mkdir("home/p/bin")
	if got := l.lines(l.discover("home/p").Protected(Rules{})); slices.Contains(got, "0 ro home/p/bin/") {
		t.Error("a project's bin counts as the home's")
	}
}

func TestProtectedSocket(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	s, err := net.Listen("unix", l.at("p/.git/fsmonitor--daemon.ipc"))
	if err != nil {
		t.Skip("the folder's name is too long for a socket: ", err)
	}
	defer s.Close()
	if got := l.lines(l.discover("p").Protected(Rules{})); !slices.Contains(got, "0 hidden p/.git/fsmonitor--daemon.ipc") {
		t.Errorf("%q", got)
	}
}

func anyStore(string) bool { return true }

func TestReadableOutside(t *testing.T) {
	l := newLab(t)
	l.repo("src")
	l.git(".", "clone", "-q", "--shared", "src", "p")
	if got := l.discover("p").ReadableOutside(anyStore); !cmp.Equal(got, []string{l.at("src/.git/objects")}) {
		t.Errorf("%q", got)
	}
	l.write("secret/objects/pack/x", "")
	l.write("secret/objects/keys/id", "")
	l.write("p/.git/objects/info/alternates", l.at("secret/objects")+"\n"+l.at("secret")+"\n/\n../..\n# x\n\n")
	if got := l.discover("p").ReadableOutside(anyStore); len(got) != 0 {
		t.Errorf("%q", got)
	}
	l.write("src/.git/objects/info/alternates", l.at("p/.git/objects")+"\n"+l.at("src/.git/objects")+"\n")
	l.write("p/.git/objects/info/alternates", l.at("src/.git/objects")+"\n")
	if got := l.discover("p").ReadableOutside(anyStore); !cmp.Equal(got, []string{l.at("src/.git/objects")}) {
		t.Errorf("in a circle: %q", got)
	}
	l.repo("more")
	l.write("src/.git/objects/info/alternates", l.at("more/.git/objects")+"\n")
	notOf := func(untrusted string) func(string) bool {
		return func(objects string) bool { return objects != l.at(untrusted+"/.git/objects") }
	}
	for untrusted, want := range map[string]int{"-": 2, "src": 1, "p": 0} {
		if got := l.discover("p").ReadableOutside(notOf(untrusted)); len(got) != want {
			t.Errorf("with an untrusted %s: %q", untrusted, got)
		}
	}
}

// Where nothing is borrowed nothing can be named, not even while a run lasts: another one would be shown it.
func TestAlternatesAreHeld(t *testing.T) {
	l := newLab(t)
	l.repo("p")
	l.git("p", "commit", "-q", "--allow-empty", "-m", "one")
	l.git("p", "worktree", "add", "-q", "../w")
	want := Protected{Path: l.at("p/.git/objects/info/alternates"), Hold: Placeholder, Content: stub, Reason: "runs may read the object stores that it names"}
	for range 2 { // and while another run holds it
		for _, dir := range []string{"p", "w"} {
			ws := l.discover(dir)
			if !slices.Contains(ws.Protected(Rules{}), want) {
				t.Errorf("%s: %v", dir, ws.Protected(Rules{}))
			}
			if got := ws.ReadableOutside(anyStore); len(got) > 0 {
				t.Errorf("%q", got)
			}
		}
		l.write("p/.git/objects/info/alternates", stub)
		l.git("p", "log", "-1")
	}
}
