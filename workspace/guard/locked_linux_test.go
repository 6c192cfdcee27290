package guard

import (
	"testing"
	"time"

	"code.sidecar.dev/workspace/oddtree"
)

// owner says that the test is to go on: its process is its files' owner and no more. What it leaves locked is opened at the end.
func owner(t *testing.T) bool {
	t.Helper()
	done, err := oddtree.AsOwner(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return !done
}

// unlock lets the test's folder be removed.
func (p *place) unlock() {
	p.t.Cleanup(func() { p.sh("chmod -R u+rwX .") })
}

// what the guard moves while the script lasts, it does not find
const armedIn = `set +e; arm() { git init -q $1; printf '[core]\n\tfsmonitor = touch %s/../canary; false\n' "$ROOT" >>$1/.git/config; }; `

// TestLocked: what a run made in folders and files to which it took its rights is found, and their modes stay the run's.
func TestLocked(t *testing.T) {
	if !owner(t) {
		return
	}
	for name, c := range map[string]struct {
		run, open string
		dirs      []string
		want      []string
	}{
		"made locked": {`umask 0; mkdir -m 311 c; arm c; mkdir v; mv v c/.vscode; echo x >c/.envrc`, `chmod 755 c`, []string{"c"},
			[]string{"disarmed c/.envrc", "disarmed c/.git/config", "disarmed c/.vscode"}},
		"locked afterwards": {`mkdir -p d/e; arm d/e; echo x >d/e/.envrc; chmod 0 d/e/.git d/e/.envrc d/e d`, `chmod 755 d d/e d/e/.git`, []string{"d/e"},
			[]string{"disarmed d/e/.envrc", "disarmed d/e/.git/config"}},
		"hooks": {`git init -q n; mkdir -p n/.git/hooks; touch n/.git/hooks/pre-commit; chmod 111 n/.git/hooks/pre-commit; chmod 311 n/.git/hooks`, ``, nil,
			[]string{"disarmed n/.git/hooks"}},
		"the root's": {`mkdir .git/remotes .git/rebase-merge; echo x >.git/remotes/origin; echo exec x >.git/rebase-merge/git-rebase-todo
			ln -s /out .git/logs; chmod 200 .git/rebase-merge/git-rebase-todo; chmod 311 .git/remotes .git/rebase-merge; chmod 0 .git`, `chmod 755 .git`, nil,
			[]string{"disarmed .git/logs", "disarmed .git/rebase-merge/git-rebase-todo", "disarmed .git/remotes"}},
		"read-only": {`mkdir -p a/s b; mv a/s a/.vscode; chmod 555 a; echo x >b/.envrc; chmod 555 b`, ``, nil, []string{"disarmed a/.vscode", "disarmed b/.envrc"}},
		"a config":  {`arm a; chmod 200 a/.git/config`, ``, []string{"a"}, []string{"disarmed a/.git/config"}},
		"a pointer": {`mkdir a; git init -q --separate-git-dir=a/g a; echo 'gitdir: ../../out' >a/p; mv a/p a/.git; chmod 0 a/.git`, ``, nil, []string{"disarmed a/.git"}},
		"watched":   {`mkdir -p build/out; echo x >build/out/clean; chmod 311 build/out build`, ``, nil, []string{"disarmed build/out/clean"}},
		"an existing one": {`chmod 755 nest; printf '[core]\n\tfsmonitor = touch %s/../canary; false\n' "$ROOT" >>nest/r/.git/config; chmod 0 nest`, `chmod 755 nest`,
			[]string{"nest/r"}, []string{"disarmed nest/r/.git/config"}},
		"benign": {`mkdir -m 311 c; git init -q c; echo x >c/f; chmod 0 c`, ``, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p *place, o Options) {
				p.unlock()
				p.sh(`git init -q .; rm -rf .git/hooks .git/branches; mkdir -p nest secrets/sub; git init -q nest/r; chmod 600 nest; chmod 311 secrets`)
				time.Sleep(30 * time.Millisecond)
				o.GitDirs = []string{p.root + "/.git"}
				w := p.guard(o, BeginOptions{Watched: []Watched{{Path: p.root + "/build/out/clean", Reason: "a filter"}}})
				p.sh(armedIn + c.run + "; true")
				p.want(p.end(w), c.want...)
				p.sh(`test "$(stat -c %a secrets)" = 311; test "$(stat -c %a nest)" = 600 -o "$(stat -c %a nest)" = 0; ` + c.open)
				p.canary(c.dirs...)
			})
		})
	}
}

// TestLockedAgain: what could not be moved while the run locked its folder in the same moment is moved at its end.
func TestLockedAgain(t *testing.T) {
	p := newPlace(t)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	p.sh("echo x >.envrc.tmp")
	w.run.t.mu.Lock()
	w.run.t.report(Finding{Path: p.root + "/.envrc", Action: Failed})
	w.run.t.mu.Unlock()
	p.sh("mv .envrc.tmp .envrc")
	p.want(p.end(w), "disarmed .envrc", "failed .envrc")
}
