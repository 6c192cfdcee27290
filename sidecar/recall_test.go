package sidecar

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
)

// many is a repository with more submodules than there are all mounts for, few one where their absent files are held by
// placeholders; both were left alone for a while.
func many(t *testing.T) string { return withSubmodules(t, 40) }
func few(t *testing.T) string  { return withSubmodules(t, 12) }

func withSubmodules(t *testing.T, n int) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hostDoes(t, dir, fmt.Sprintf(`git init -q .; for i in $(seq %d); do
		mkdir -p .git/modules/m$i/objects .git/modules/m$i/refs .git/modules/m$i/hooks m$i
		echo 'ref: refs/heads/main' >.git/modules/m$i/HEAD; printf '[core]\n\tworktree = ../../../m%%d\n' $i >.git/modules/m$i/config
		echo "gitdir: ../.git/modules/m$i" >m$i/.git; printf '[submodule "m%%d"]\n\tpath = m%%d\n\turl = ../x\n' $i $i >>.gitmodules; done`, n))
	time.Sleep(50 * time.Millisecond)
	return dir
}

func hostDoes(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestFactsAreRecalledWhileTheyAreTrue: what a program of the host changes between two runs is protected in the second.
func TestFactsAreRecalledWhileTheyAreTrue(t *testing.T) {
	changes := []struct{ script, held string }{
		{`git config -f .git/modules/m7/config include.path ../../../inc; echo >inc`, "inc"},
		{`m=$(stat -c %Y .git/modules/m7/config); printf '[core]\n\thooksPath = h\n' >>.git/modules/m7/config; mkdir m7/h; echo >m7/h/pre-push; touch -d @$m .git/modules/m7/config`, "m7/h"},
		{`mv m7/.git m7/p; ln -s ../.git/modules/m7 m7/.git`, "m7/.git"},
		{`echo '#!/bin/sh' >.git/modules/m9/hooks/pre-push`, ".git/modules/m9/hooks"},
		{`mkdir m9/.vscode`, "m9/.vscode"},
		{`echo >.envrc`, ".envrc"},
		{`git init -q nested`, "nested/.git/config"},
		{`cp -r .git/modules/m9 .git/modules/new; sed -i s/m9/new/ .git/modules/new/config; mkdir new; echo "gitdir: ../.git/modules/new" >new/.git`, ".git/modules/new/config"},
		{`mv .git/modules/m9 .git/modules/sub; mkdir .git/modules/m9; mv .git/modules/sub .git/modules/m9/sub`, ".git/modules/m9/sub/config"},
	}
	for i, c := range append(changes, changes...) {
		if i >= len(changes) && strings.HasSuffix(c.held, "/hooks") {
			continue // in the place of a placeholder: a run finds that out by itself
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dir := map[bool]func(*testing.T) string{true: many, false: few}[i < len(changes)](t)
			e := New(Options{StateDir: t.TempDir(), Getenv: os.Getenv})
			defer e.Close()
			held := func() (*facts, []workspace.Protected) {
				f, _, _, err := e.learn(t.Context(), Request{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				return f, f.held
			}
			first, _ := held()
			for until := time.Now().Add(20 * time.Second); !first.early && time.Now().Before(until); first, _ = held() {
				runtime.Gosched() // the guard has not seen the whole tree yet
			}
			if !first.early {
				t.Error("no run can be made ready by these facts early")
			}
			for range 3 {
				if again, _ := held(); again != first {
					t.Fatal("nothing has changed, and the facts are not recalled: the test shows nothing")
				}
			}
			hostDoes(t, dir, c.script)
			_, now := held()
			path := filepath.Join(dir, c.held)
			if !slices.ContainsFunc(now, func(p workspace.Protected) bool { return p.Path == path && p.Hold == workspace.ReadOnly }) {
				t.Errorf("%s is not held after %s", c.held, c.script)
			}
		})
	}
}

// TestARunsOwnChangesToFactsStayItsOwn: facts are shared by runs.
func TestARunsOwnChangesToFactsStayItsOwn(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	dir := many(t)
	e := New(Options{StateDir: t.TempDir(), Getenv: os.Getenv})
	defer e.Close()
	p, err := e.prepare(t.Context(), onHost(e, Request{ID: "r", Dir: dir, Params: protocol.RunParams{Language: "bash", Code: ":"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	before := slices.Clone(p.held)
	i := slices.IndexFunc(p.held, func(h workspace.Protected) bool { return h.Hold == workspace.Placeholder })
	if i < 0 {
		t.Fatal("no placeholder")
	}
	shared := p.held
	p.existing([]string{p.held[i].Path})
	p.ws.Notes = append(p.ws.Notes, "a note")
	if !slices.Equal(shared, before) || p.held[i].Hold != workspace.ReadOnly || p.pins != nil {
		t.Error("what one run found existing is another's, or not its own")
	}
	if f := e.facts[learned{dir, e.rules().String()}]; len(f.ws.Notes) > 0 {
		t.Errorf("a run's notes are kept: %q", f.ws.Notes)
	}
}

// TestARunByStaleFactsIsMadeReadyAnew: the host changes something between two runs, and the second, made ready by what
// was remembered, runs once, with its whole input, and with what is there now held.
func TestARunByStaleFactsIsMadeReadyAnew(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	for _, dir := range []string{many(t), few(t)} {
		runsByStaleFacts(t, dir)
	}
}

func runsByStaleFacts(t *testing.T, dir string) {
	e := New(Options{StateDir: t.TempDir(), Getenv: os.Getenv})
	defer e.Close()
	run := func(code string) protocol.RunResult {
		r, err := e.Do(t.Context(), Request{Dir: dir, Params: protocol.RunParams{Language: "bash", Code: code}, Stdin: strings.NewReader("input")})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 3 {
		run("cat")
	}
	for _, change := range []string{
		`git config -f .git/modules/m7/config include.path ../../../inc; echo >inc`,
		`mkdir .git/hooks2; git config core.hooksPath .git/hooks2; echo >inc; git config include.path ../inc`,
		`rm -rf .git/hooks; echo . >.git/commondir; mkdir .git/hooks; echo >.git/hooks/x; sleep 0.1`,
		`rm -rf .git/modules/m9/hooks; echo . >.git/modules/m9/commondir; mkdir .git/modules/m9/hooks; echo >.git/modules/m9/hooks/x; sleep 0.1`,
		`echo x >.git/modules/m7/hooks/post-checkout`,
		`mv .git/modules/m8 .git/modules/m9/m8`,
	} {
		was := e.facts[learned{dir, e.rules().String()}]
		hostDoes(t, dir, change)
		r := run(`echo x >>runs; cat; echo evil 2>/dev/null >>inc && echo inc was written`)
		if r.Stdout.Text != "input" || r.ExitCode != 1 {
			t.Errorf("after %s: %q, status %d", change, r.Stdout.Text, r.ExitCode)
		}
		if was == e.facts[learned{dir, e.rules().String()}] || !was.early {
			t.Errorf("after %s the facts are those of before: the test shows nothing", change)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "runs")); string(text) != strings.Repeat("x\n", 6) {
		t.Errorf("the runs were %q", text)
	}
}

// TestARunChangesNoFactsByItself: placeholders come and go with each run, in folders that discovery has listed, and what is
// remembered stays; an empty folder of the person's in the place of one does not matter either.
func TestARunChangesNoFactsByItself(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	dir := few(t)
	e := New(Options{StateDir: t.TempDir(), Getenv: os.Getenv})
	defer e.Close()
	var first *facts
	for i := range 6 {
		if _, err := e.Do(t.Context(), Request{Dir: dir, Params: protocol.RunParams{Language: "bash", Code: ":"}}); err != nil {
			t.Fatal(err)
		}
		now := e.facts[learned{dir, e.rules().String()}]
		if i == 2 { // the guard has seen the whole tree
			first = now
		}
		if i > 2 && now != first {
			t.Error("the workspace was discovered anew, though nothing had changed")
		}
	}
	if !first.early {
		t.Error("no run can be made ready by these facts early")
	}
}

// TestAHookInAPlaceholder: looks at the places of placeholders are left out, and what a hook names that appears in one is held all
// the same, whoever else has the placeholder, and whatever was asked before.
func TestAHookInAPlaceholder(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	for _, hooks := range []string{".git/modules/m7/hooks", ".git/hooks"} {
		for name, before := range map[string]func(*testing.T, *Engine, Request){
			"nothing": func(*testing.T, *Engine, Request) {},
			"a run that goes on": func(t *testing.T, e *Engine, r Request) {
				r.ID = "other"
				p, err := e.prepare(t.Context(), onHost(e, r))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(p.release)
			},
			"a request that came to nothing": func(t *testing.T, e *Engine, r Request) {
				hostDoes(t, r.Dir, "echo >>m3/.envrc; sleep 0.05") // so that it is discovered anew
				r.Params.Cwd = "nowhere"
				if _, err := e.Do(t.Context(), r); err == nil {
					t.Error("it ran in a folder that is not there")
				}
			},
		} {
			t.Run(name+" "+hooks, func(t *testing.T) {
				dir := few(t)
				hostDoes(t, dir, `rm -rf .git/hooks .git/modules/*/hooks; mkdir scripts; echo true >scripts/x`)
				e := New(Options{StateDir: t.TempDir(), Getenv: os.Getenv})
				t.Cleanup(e.Close)
				r := Request{ID: "r", Dir: dir, Params: protocol.RunParams{Language: "bash", Code: "echo evil >>scripts/x"}}
				for i := range 4 {
					if got, err := e.Do(t.Context(), r); err != nil || got.ExitCode != 0 {
						t.Fatalf("run %d: %v %+v", i, err, got)
					}
				}
				before(t, e, r)
				hostDoes(t, dir, fmt.Sprintf(`mkdir -p %s; printf '#!/bin/sh\n%s/scripts/x\n' >%[1]s/pre-commit`, hooks, dir))
				got, err := e.Do(t.Context(), r)
				if err != nil || got.ExitCode == 0 || !strings.Contains(got.Stderr.Text, "Read-only file system") {
					t.Errorf("%v, status %d, %q: what the hook names was written", err, got.ExitCode, got.Stderr.Text)
				}
			})
		}
	}
}
