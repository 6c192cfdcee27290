// Package oddtree makes workspaces of texts, for tests that try many of them: repositories in repositories, links that lead
// anywhere, odd names.
//
//	err := oddtree.Make(dir, "g .\nl a b\nf b/.envrc\nc core.hooksPath=hooks")
//
// Each line is a word and what it makes: d a folder, f a file, l a link and its target, g a repository with its .git, b a
// bare one, p a .git file and where it points, s a submodule by its name and path, w a linked worktree's folder in the git dir
// of the root, c a setting of the root's repository. What cannot be made is passed over, and nothing is made outside of the
// folder, wherever links in it lead (os.Root).
package oddtree

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Seeds are trees to begin with.
var Seeds = []string{
	"g .",
	"g .\nf .envrc\nf .vscode/tasks.json\nf .git/hooks/pre-commit",
	"g .\nc core.hooksPath=tools/hooks\nf tools/hooks/pre-commit\nl tools/link hooks",
	"g .\nl conf conf.d\nd conf.d\nf conf.d/extra\nc include.path=../conf/extra",
	"g .\ns lib vendor/lib\ns a/b deep/er/b\nf vendor/lib/.envrc",
	"g .\ng nested\ng nested/inner\nb bare.git\np pointed nested/.git",
	"g .\nw one\nw two\nl .git/worktrees/three one",
	"d real\ng real\nl .git real/.git",
	"p . store\nb store",
	"g .\nf a b/c\nf \xff\xfe/.envrc\nf new\x01line\nd -rf\ng -rf\nl .mcp.json ../outside\nl .claude .claude",
	"g .\nl up ..\nl loop loop\nl x y\nl y x\nc core.hooksPath=loop/hooks\nc include.path=x",
	"g .\nf .git/commondir\nf .git/config.worktree\nc extensions.worktreeConfig=true\nf .git/objects/info/alternates",
	"g .\nc alias.x=!./run.sh\nf run.sh\nc filter.f.clean=./sub/tool\nl sub other\nf other/tool\nc core.fsmonitor=./mon",
	"f .hg/hgrc\nf .jj/repo/config.toml\nf .sl/config",
	"",
}

// mostLines bounds a tree.
const mostLines = 60

// Make makes the tree of a text in an existing folder.
func Make(dir, text string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	m := maker{root}
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		name, target, _ := strings.Cut(rest, " ")
		if i < mostLines && isName(name) {
			m.make(word, name, target)
		}
	}
	return nil
}

// isName says that something can have this path below the root.
func isName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsRune(name, 0) && len(name) < 200
}

type maker struct{ root *os.Root }

// make makes one thing; it is no fault that it cannot be made, as below a file.
func (m maker) make(word, name, target string) {
	switch word {
	case "d":
		_ = m.root.MkdirAll(name, 0o755)
	case "f":
		m.write(name, target+"\n")
	case "l":
		if target != "" && !strings.ContainsRune(target, 0) {
			_ = m.root.MkdirAll(path.Dir(name), 0o755)
			_ = m.root.Symlink(target, name)
		}
	case "g":
		m.repository(path.Join(name, ".git"))
	case "b":
		m.repository(name)
	case "p":
		m.write(path.Join(name, ".git"), "gitdir: "+target+"\n")
	case "s":
		m.submodule(name, target)
	case "w":
		m.write(path.Join(".git/worktrees", name, "gitdir"), "/nowhere/"+name+"/.git\n")
		m.write(path.Join(".git/worktrees", name, "commondir"), "../..\n")
		m.write(path.Join(".git/worktrees", name, "HEAD"), "ref: refs/heads/"+name+"\n")
	case "c":
		m.setting(name, target)
	}
}

func (m maker) write(name, text string) {
	_ = m.root.MkdirAll(path.Dir(name), 0o755)
	if f, err := m.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err == nil {
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
}

// repository makes what git takes for a git directory.
func (m maker) repository(dir string) {
	if _, err := m.root.Lstat(path.Join(dir, "HEAD")); err == nil {
		return
	}
	m.write(path.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	m.write(path.Join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n")
	for _, name := range []string{"objects/pack", "objects/info", "refs/heads", "hooks"} {
		_ = m.root.MkdirAll(path.Join(dir, name), 0o755)
	}
}

func (m maker) submodule(name, tree string) {
	if !isName(tree) {
		return
	}
	m.repository(path.Join(".git/modules", name))
	up := strings.Repeat("../", strings.Count(path.Clean(tree), "/")+1)
	m.write(path.Join(tree, ".git"), "gitdir: "+up+path.Join(".git/modules", name)+"\n")
	m.write(".gitmodules", "[submodule \""+name+"\"]\n\tpath = "+tree+"\n")
}

// setting writes NAME=VALUE, where the name is a section's and a key's.
func (m maker) setting(name, more string) {
	key, value, _ := strings.Cut(strings.TrimSpace(name+" "+more), "=")
	section, key, _ := strings.Cut(key, ".")
	if at := strings.LastIndexByte(key, '.'); at >= 0 {
		section, key = section+" \""+key[:at]+"\"", key[at+1:]
	}
	m.write(".git/config", "["+section+"]\n\t"+key+" = "+value+"\n")
}
