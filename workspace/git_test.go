package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lab is a folder with a home of its own, in which git runs with nothing of this machine's settings.
type lab struct {
	t   testing.TB
	dir string
	env map[string]string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir, env: map[string]string{"HOME": filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM": "1"}}
	l.mkdir("home")
	return l
}

func (l *lab) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(l.dir, name)
}

// git runs git in a folder of the lab and returns what it prints.
func (l *lab) git(dir string, args ...string) string {
	l.t.Helper()
	out, err := l.tryGit(dir, args...)
	if err != nil {
		l.t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSpace(out)
}

func (l *lab) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = l.at(dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C"}
	for k, v := range l.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repo makes a repository with one commit.
func (l *lab) repo(name string) {
	l.t.Helper()
	l.mkdir(name)
	l.git(name, "init", "-q", "-b", "main", ".")
	l.git(name, "commit", "-q", "--allow-empty", "-m", "one")
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

func (l *lab) link(target, name string) {
	l.t.Helper()
	l.mkdir(filepath.Dir(l.at(name)))
	if err := os.Symlink(target, l.at(name)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) remove(name string) {
	l.t.Helper()
	if err := os.RemoveAll(l.at(name)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) getenv(key string) string { return l.env[key] }

func (l *lab) discover(name string) *Workspace {
	l.t.Helper()
	ws, err := Discover(l.at(name), Options{Env: l.getenv})
	if err != nil {
		l.t.Fatal(err)
	}
	return ws
}

// rel writes a path relative to the lab.
func (l *lab) rel(path string) string {
	if path == l.dir {
		return "."
	}
	return strings.TrimPrefix(path, l.dir+"/")
}

var holdNames = map[Hold]string{ReadOnly: "ro", Writable: "rw", Placeholder: "placeholder", Watch: "watch", Hidden: "hidden"}

// lines writes protected paths one a line, without those of the table that are absent at the root.
func (l *lab) lines(list []Protected) []string {
	out := []string{}
	for _, p := range list {
		if _, ok := Obeyed(filepath.Base(p.Path)); ok && p.Hold == Watch || isPlainAbsence(p) {
			continue
		}
		s := fmt.Sprintf("%d %s %s", p.Rank, holdNames[p.Hold], l.rel(p.Path))
		if p.Folder {
			s += "/"
		}
		if p.Link {
			s += " link"
		}
		if p.Content != "" {
			s += fmt.Sprintf(" %q", strings.ReplaceAll(p.Content, stub, "#"))
		}
		out = append(out, s)
	}
	return out
}

// isPlainAbsence tells paths that are watched, or held, in every workspace.
func isPlainAbsence(p Protected) bool {
	if p.Hold == Placeholder && strings.HasSuffix(p.Path, "/objects/info/alternates") {
		return true
	}
	if p.Hold != Watch {
		return false
	}
	for _, name := range []string{"/.hg", "/.jj", "/.sl", "/.pijul", "/_darcs", "/.bzr", "/.config/mise", "/.config/mise.toml",
		"/mise/config.toml", "/tools/bazel", "/.yarn/releases", "/.yarn/plugins", "/renv/activate.R", "/.github/hooks",
		"/.github/agents", "/.repo/repo", "/.github/lsp.json", "/.github/copilot/settings.json", "/.github/copilot/settings.local.json", "/.config/hk.pkl", "/.lsp/config.edn", "/mise/tasks",
		"/lazygit.yml", "/glab-cli/config.yml", "/sl/config", "/gitweb", "/pid", "/safe", "/refs/replace",
		"/.ai/mcp", "/.beads/hooks", "/.calva/config.edn", "/.config/mill-jvm-opts", "/.config/mill-opts", "/.config/wt.toml", "/.flox/env", "/.github/extensions", "/.github/mcp.json",
		"/.jedi/project.json", "/.serena/project.yml", "/.serena/project.local.yml", "/.swiftpm/configuration", "/_opam/.opam-switch/switch-config", "/gradle/wrapper", "/sorbet/config"} {
		if strings.HasSuffix(p.Path, name) {
			return true
		}
	}
	return false
}

// read returns a file's text; "" when there is none.
func (l *lab) read(name string) string {
	data, _ := os.ReadFile(l.at(name))
	return string(data)
}
