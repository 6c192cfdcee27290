//go:build unix

package guard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// obeyedNames stand for the table of package workspace.
func obeyedNames(base string) (string, bool, bool) {
	switch base {
	case ".vscode", ".claude":
		return "the editor obeys " + base, true, true
	case ".envrc", ".mcp.json":
		return "a host program executes " + base, false, true
	}
	return "", false, false
}

// place is a workspace with a guard, and what a test does in it.
type place struct {
	t    *testing.T
	root string
	g    *Guard
}

// both runs a test with events and with walks alone: the result must be the same.
func both(t *testing.T, f func(t *testing.T, p *place, o Options)) {
	t.Run("events", func(t *testing.T) { f(t, newPlace(t), Options{Obeyed: obeyedNames}) })
	t.Run("walks", func(t *testing.T) { f(t, newPlace(t), Options{Obeyed: obeyedNames, NoNotify: true}) })
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, "ws")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return &place{t: t, root: root}
}

// guard opens the guard, waits for its walk and begins a run. A file changed within the clock's last tick
// could be either's, so a tick passes first.
func (p *place) guard(o Options, b BeginOptions) *Watch {
	p.t.Helper()
	time.Sleep(10 * time.Millisecond)
	var err error
	if p.g, err = Open(p.root, o); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { p.g.Close() })
	if err := p.g.Ready(context.Background()); err != nil {
		p.t.Fatal(err)
	}
	if b.RunID == "" {
		b.RunID = "R"
	}
	return p.g.Begin(b)
}

// sh is what a run, or the host, does.
func (p *place) sh(script string) {
	p.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = p.root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "ROOT=" + p.root,
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=T", "GIT_CONFIG_KEY_1=user.email",
		"GIT_CONFIG_VALUE_1=t@example.com", "GIT_CONFIG_KEY_2=protocol.file.allow", "GIT_CONFIG_VALUE_2=always"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
}

func (p *place) end(w *Watch) []Finding {
	p.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	rep := w.End(ctx)
	if rep.Rest != nil {
		p.t.Fatal("the audit is not complete")
	}
	return rep.Findings
}

// brief prints findings as "action path", relative and sorted.
func (p *place) brief(list []Finding) []string {
	var out []string
	for _, f := range list {
		rel, _ := filepath.Rel(p.root, f.Path)
		out = append(out, fmt.Sprintf("%s %s", f.Action, rel))
	}
	slices.Sort(out)
	return slices.Compact(out) // while the run lasts a thing may be moved aside several times
}

func (p *place) want(list []Finding, want ...string) {
	p.t.Helper()
	if got := p.brief(list); !slices.Equal(got, want) {
		p.t.Errorf("findings:\n%s\nwant:\n%s\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"), list)
	}
}

func (p *place) exists(rel string) bool {
	_, err := os.Lstat(filepath.Join(p.root, rel))
	return err == nil
}

// canary runs git status on the host in each folder and tells whether anything of the run was executed.
func (p *place) canary(dirs ...string) {
	p.t.Helper()
	for _, d := range dirs {
		cmd := exec.Command("git", "status")
		cmd.Dir = filepath.Join(p.root, d)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
		cmd.Run()
	}
	if _, err := os.Stat(p.root + "/../canary"); err == nil {
		p.t.Error("the host executed what the run left behind")
	}
}

const armIt = `printf '[core]\n\tfsmonitor = touch %s/../canary; false\n' "$ROOT" >>`

func TestBenignIsLeftWhole(t *testing.T) {
	for name, script := range map[string]string{
		"init":      "git init -q . ; git init -q --bare b",
		"clone":     "git clone -q ../up c",
		"separate":  "git clone -q --separate-git-dir=gd ../up c",
		"filter":    "git clone -q --filter=blob:none --sparse file://$ROOT/../up c",
		"mirror":    "git clone -q --mirror ../up m",
		"recursive": "git clone -q --recurse-submodules ../super c",
		"submodule": "git init -q x; cd x; git submodule --quiet add ../../up lib; git commit -qm s; git submodule --quiet update --init",
		"worktree":  "git clone -q ../up c; cd c; git worktree add -q ../wt; git worktree add -q -b b2 sub/wt2; cd ../wt; git config extensions.worktreeConfig true; git sparse-checkout set d",
		"worked":    "git clone -q ../up c; cd c; git switch -qc new; echo x >y; git add y; git commit -qm y; git branch -u origin/main; git gc -q; git stash list; git rebase -q HEAD~1",
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p *place, o Options) {
				p.sh("git init -q -b main ../up; cd ../up; mkdir d; echo 1 >d/f; git add .; git commit -qm 1; git init -q -b main ../super; cd ../super; git submodule --quiet add $ROOT/../up lib; git commit -qm sub")
				w := p.guard(o, BeginOptions{})
				p.sh(script)
				before := p.tree()
				p.want(p.end(w))
				if after := p.tree(); after != before {
					t.Errorf("changed:\n%s\nwas:\n%s", after, before)
				}
			})
		})
	}
}

// tree is every path with its mode, size and content's hash.
func (p *place) tree() string {
	cmd := exec.Command("bash", "-c", `find . -type f -print0 | sort -z | xargs -0 sha1sum; find . -printf '%p %y %m %l\n' | sort`)
	cmd.Dir = p.root
	out, _ := cmd.Output()
	return string(out)
}

func TestArmed(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"nested":     {"mkdir sub; cd sub; git init -q .; " + armIt + ".git/config", []string{"disarmed sub/.git/config"}},
		"root":       {"git init -q .; " + armIt + ".git/config", []string{"disarmed .git/config"}},
		"bare":       {"git init -q --bare data; cd data; git config core.bare false; git config core.worktree $ROOT; " + armIt + "config", []string{"disarmed data/config"}},
		"hook":       {"git init -q sub; echo evil >sub/.git/hooks/post-checkout", []string{"disarmed sub/.git/hooks"}},
		"hookslink":  {"git init -q sub; rm -r sub/.git/hooks; mkdir h; ln -s ../../h sub/.git/hooks", []string{"disarmed sub/.git/hooks"}},
		"commondir":  {"git init -q sub; cp -r sub/.git evil; " + armIt + "evil/config; echo ../../evil >sub/.git/commondir", []string{"disarmed evil/config", "disarmed sub/.git/commondir"}},
		"headcommon": {"git init -q --bare e; mkdir fake; cp e/HEAD fake/; echo ../e >fake/commondir", []string{"disarmed fake/commondir"}},
		"wtconfig":   {"git init -q sub; git -C sub config extensions.worktreeConfig true; " + armIt + "sub/.git/config.worktree", []string{"disarmed sub/.git/config.worktree"}},
		"moved":      {"git init -q sub; mv sub/.git dot; rm dot/HEAD; " + armIt + "dot/config; echo ref: refs/heads/main >dot/HEAD; mv dot sub/.git", nil},
		"pointer":    {"mkdir sub; git init -q --bare evil; " + armIt + "evil/config; echo gitdir: ../evil >sub/.git", []string{"disarmed evil/config"}},
		"outside":    {"mkdir sub; echo gitdir: /etc >sub/.git", []string{"disarmed sub/.git"}},
		"nowhere":    {"mkdir sub; echo gitdir: ../no >sub/.git", []string{"disarmed sub/.git"}},
		"link":       {"mkdir sub; git init -q x; " + armIt + "x/.git/config; ln -s ../x/.git sub/.git", []string{"disarmed x/.git/config"}},
		"fifo":       {"git init -q sub; rm sub/.git/config; mkfifo sub/.git/config", []string{"disarmed sub/.git/config"}},
		"linked":     {"git init -q sub; ln sub/.git/config plain", []string{"disarmed sub/.git/config"}},
		"deep":       {"mkdir -p a/b/node_modules/c; cd a/b/node_modules/c; git init -q .; " + armIt + ".git/config", []string{"disarmed a/b/node_modules/c/.git/config"}},
		"objects":    {"git init -q sub; cd sub/.git/objects; git init -q evil; " + armIt + "evil/.git/config", []string{"disarmed sub/.git/objects/evil/.git/config"}},
		"ext":        {"git init -q sub; git -C sub config remote.o.url 'ext::sh -c x'", []string{"disarmed sub/.git/config"}},
		"hg":         {"mkdir .hg; printf '[hooks]\\nupdate = x\\n' >.hg/hgrc", []string{"disarmed .hg/hgrc"}},
		"jj":         {"mkdir -p .jj/repo; echo x >.jj/repo/config.toml", []string{"disarmed .jj/repo/config.toml"}},
		"obeyed":     {"mkdir -p a/.vscode; echo 1 >.envrc; echo 1 >a/.vscode/tasks.json || true; ln -s a .claude", []string{"disarmed .claude", "disarmed .envrc", "disarmed a/.vscode"}},
		"vendor":     {"mkdir -p node_modules/x/.vscode; echo >node_modules/x/.envrc", nil},
		"newline":    {"mkdir $'a\\nb'; cd $'a\\nb'; git init -q .; " + armIt + ".git/config; touch .envrc", []string{"disarmed a\nb/.envrc", "disarmed a\nb/.git/config"}},
		"exec":       {"git init -q sub; cd sub; for i in 1 2; do echo $i >f; git add f; git commit -qm $i; done; GIT_SEQUENCE_EDITOR='sed -i 1iedit\\ HEAD' git rebase -qi HEAD~1 -x 'touch ../../canary' || true; mkdir -p .git/rebase-merge; echo 'exec touch ../canary' >>.git/rebase-merge/git-rebase-todo", []string{"disarmed sub/.git/rebase-merge/git-rebase-todo"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p *place, o Options) {
				w := p.guard(o, BeginOptions{})
				p.sh("umask 022\n" + strings.ReplaceAll(c.script, "touch ../../canary", "true"))
				list := p.end(w)
				if name == "moved" {
					p.armedMoved(list)
				} else {
					p.want(list, c.want...)
				}
				p.canary(".", "sub", "data", "a/b/node_modules/c", "evil")
			})
		})
	}
}

func (p *place) armedMoved(list []Finding) {
	p.t.Helper()
	if len(list) == 0 {
		p.t.Error("not noticed")
	}
}
