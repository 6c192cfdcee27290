package linked

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/workspace"
)

// lab is a folder with a home of its own, in which git runs with nothing of this machine's settings.
type lab struct {
	t   testing.TB
	dir string
	env map[string]string
	// later is config for the end of a set-up, inSession what a session does in the worktree.
	later     [][2]string
	inSession func(*Tree)
}

func newLab(t testing.TB) *lab {
	t.Helper()
	gitPath(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir, env: map[string]string{"HOME": filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM": "1"}}
	l.write("home/.gitconfig", "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n") // nothing goes on while files are compared
	return l
}

func gitPath(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	return path
}

func (l *lab) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(l.dir, name)
}

// git runs git as the person would and returns what it prints.
func (l *lab) git(dir string, args ...string) string {
	l.t.Helper()
	out, err := l.tryGit(dir, args...)
	if err != nil {
		l.t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSpace(out)
}

func (l *lab) tryGit(dir string, args ...string) (string, error) { return l.pipeGit(dir, "", args...) }

func (l *lab) pipeGit(dir, input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = l.at(dir), strings.NewReader(input)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}
	for k, v := range l.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repo makes a repository with one commit of a file.
func (l *lab) repo(name string, args ...string) {
	l.t.Helper()
	l.mkdir(name)
	l.git(name, append([]string{"init", "-q", "-b", "main"}, append(args, ".")...)...)
	l.write(name+"/file", "one\n")
	l.commit(name, "one")
}

func (l *lab) commit(dir, subject string) {
	l.t.Helper()
	l.git(dir, "add", "-A")
	l.git(dir, "commit", "-q", "--allow-empty", "-m", subject)
}

func (l *lab) mkdir(name string) {
	l.t.Helper()
	if err := os.MkdirAll(l.at(name), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) write(name, text string) {
	l.t.Helper()
	l.mkdir(filepath.Dir(l.at(name)))
	if err := os.WriteFile(l.at(name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) script(name, text string) {
	l.t.Helper()
	l.write(name, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(l.at(name), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) link(target, name string) {
	l.t.Helper()
	l.mkdir(filepath.Dir(l.at(name)))
	if err := os.Symlink(target, l.at(name)); err != nil {
		l.t.Fatal(err)
	}
}

// read returns a file's text; "" when there is none.
func (l *lab) read(name string) string {
	data, _ := os.ReadFile(l.at(name))
	return string(data)
}

func (l *lab) tryOpen(name string) (*Trees, error) {
	l.t.Helper()
	ws, err := workspace.Discover(l.at(name), workspace.Options{Env: func(key string) string { return l.env[key] }})
	if err != nil {
		l.t.Fatal(err)
	}
	return Open(ws, Options{Folder: l.at("state"), Git: gitPath(l.t)})
}

func (l *lab) open(name string) *Trees {
	l.t.Helper()
	trees, err := l.tryOpen(name)
	if err != nil {
		l.t.Fatal(err)
	}
	return trees
}

func (l *lab) make(dir, name, base string) *Tree {
	l.t.Helper()
	tree, err := l.open(dir).Make(context.Background(), name, base)
	if err != nil {
		l.t.Fatal(err)
	}
	return tree
}

// clean fails unless git, as the person has it, finds nothing changed in a worktree and all of its objects in order.
func (l *lab) clean(tree *Tree) {
	l.t.Helper()
	if out := l.git(tree.Path, "status", "--porcelain"); out != "" {
		l.t.Errorf("git status in the new worktree says:\n%s", out)
	}
	if out := l.git(tree.Path, "symbolic-ref", "HEAD"); out != "refs/heads/"+tree.Name {
		l.t.Errorf("HEAD is %s", out)
	}
	l.git(tree.Path, "fsck", "--no-dangling")
}

// files is what is below a folder: each path with its mode, and its content or where it leads.
func (l *lab) files(dir string, skip ...string) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	root := l.at(dir)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		for _, s := range skip {
			if name == s && d.IsDir() {
				return filepath.SkipDir
			} else if name == s {
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text += " " + l.read(path)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			text += " -> " + target
		}
		out[name] = text
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}
