package sidecar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/guard"
)

// project is a git repository in a folder without links, and an engine.
func project(t *testing.T) (*Engine, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hostDoes(t, dir, "git init -q .")
	e := New(Options{StateDir: t.TempDir(), Getenv: os.Getenv})
	t.Cleanup(e.Close)
	return e, dir
}

// protecting is a client of the same engine that also protects a name, and so needs a guard of its own.
func (e *Engine) protecting(name string) *Engine {
	s := config.Defaults()
	s.Protect.Also = []string{name}
	return e.For(s, e.getenv, e.home)
}

func take(t *testing.T, e *Engine, dir string) *sharedGuard {
	t.Helper()
	ws, err := e.discover(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.guardOf(ws)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// kept are the guards that the engine has, and how many it does not give to anybody at the moment.
func (e *Engine) kept() (guards []*sharedGuard, idle int) {
	e.background.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.guards {
		guards = append(guards, g)
		if g.users == 0 {
			idle++
		}
	}
	return guards, idle
}

// inotifies is how many trees this process watches.
func inotifies(t *testing.T) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

func wantKept(t *testing.T, e *Engine, before int, want ...*sharedGuard) {
	t.Helper()
	got, _ := e.kept()
	for _, g := range want {
		if !slices.Contains(got, g) {
			t.Errorf("one of the %d guards to be kept is not", len(want))
		}
	}
	if open := inotifies(t) - before; len(got) != len(want) || open != len(want) {
		t.Errorf("%d guards are kept and %d trees watched, want %d", len(got), open, len(want))
	}
}

func TestEachEditOfTheSettingsDoesNotAddAGuard(t *testing.T) {
	e, dir := project(t)
	before := inotifies(t)
	var all []*sharedGuard
	for i := range 10 {
		g := take(t, e.protecting(fmt.Sprint("name", i)), dir)
		e.giveBack(g)
		all = append(all, g)
	}
	wantKept(t, e, before, all[10-mostGuards:]...)
	again := take(t, e.protecting("name6"), dir)
	if again != all[6] {
		t.Error("a kept guard is not used again")
	}
	e.giveBack(again)
	e.giveBack(take(t, e.protecting("another"), dir))
	if got, _ := e.kept(); !slices.Contains(got, again) || slices.Contains(got, all[7]) {
		t.Error("it is not the least recently used that was closed")
	}
}

func TestAGuardInUseIsNotClosed(t *testing.T) {
	e, dir := project(t)
	before := inotifies(t)
	var all []*sharedGuard
	for i := range 8 {
		all = append(all, take(t, e.protecting(fmt.Sprint("name", i)), dir))
	}
	twice := take(t, e.protecting("name0"), dir)
	e.mu.Lock()
	e.trimGuards(time.Now().Add(2 * idleGuard))
	e.mu.Unlock()
	wantKept(t, e, before, all...)
	for _, g := range all {
		e.giveBack(g)
	}
	wantKept(t, e, before, twice, all[5], all[6], all[7])
	e.mu.Lock()
	e.trimGuards(time.Now().Add(2 * idleGuard))
	e.mu.Unlock()
	wantKept(t, e, before, twice)
	e.giveBack(twice)
	e.Close()
	wantKept(t, e, before)
}

func TestIdleGuardsAreClosedButTheLast(t *testing.T) {
	e, dir := project(t)
	before := inotifies(t)
	var last *sharedGuard
	for i := range 3 {
		last = take(t, e.protecting(fmt.Sprint("name", i)), dir)
		e.giveBack(last)
	}
	trim := func(after time.Duration) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.trimGuards(last.used.Add(after))
	}
	trim(idleGuard / 2)
	if got, _ := e.kept(); len(got) != 3 {
		t.Errorf("%d guards are kept after half the time, want 3", len(got))
	}
	if e.trimmer == nil {
		t.Error("nobody will look when they are idle")
	}
	trim(idleGuard)
	wantKept(t, e, before, last)
}

// TestEveryUseGivesItsGuardBack, however it ends.
func TestEveryUseGivesItsGuardBack(t *testing.T) {
	e, dir := project(t)
	run := protocol.RunParams{Language: "bash", Code: ":"}
	elsewhere := run
	elsewhere.Cwd = "/"
	unknown := protocol.RunParams{Language: "none", Code: ":"}
	uses := map[string]func() error{
		"view":             func() error { _, err := e.View(t.Context(), dir); return err },
		"plan":             func() error { _, _, err := e.Plan(t.Context(), Request{Dir: dir, Params: run}); return err },
		"plan elsewhere":   func() error { _, _, err := e.Plan(t.Context(), Request{Dir: dir, Params: elsewhere}); return err },
		"run":              func() error { _, err := e.Run(t.Context(), dir, "", run, nil); return err },
		"run elsewhere":    func() error { _, err := e.Run(t.Context(), dir, "", elsewhere, nil); return err },
		"unknown language": func() error { _, err := e.Run(t.Context(), dir, "", unknown, nil); return err },
		"no ledger": func() error {
			if err := os.RemoveAll(e.state + "/holds"); err != nil {
				t.Fatal(err)
			}
			os.WriteFile(e.state+"/holds", nil, 0o600)
			defer os.Remove(e.state + "/holds")
			_, err := e.Run(t.Context(), dir, "", run, nil)
			return err
		},
	}
	if err := uses["view"](); err != nil { // some of the others come to no guard of their own
		t.Fatal(err)
	}
	for name, use := range uses {
		for range 3 { // by facts that are learned, recalled, and recalled unchecked
			err := use()
			if all, idle := e.kept(); len(all) == 0 || idle != len(all) {
				t.Errorf("%s (%v): %d of %d guards are given back", name, err, idle, len(all))
			}
		}
	}
}

// TestTheRestOfAnAuditKeepsItsGuard: it goes on after its run was answered.
func TestTheRestOfAnAuditKeepsItsGuard(t *testing.T) {
	e, dir := project(t)
	g := take(t, e, dir)
	rest, told := make(chan []guard.Finding), make(chan string)
	e.found = func(_ string, f protocol.Finding) { told <- f.Path }
	e.retain(g)
	done := make(chan struct{})
	go func() { e.tellLater(g, "r", rest); close(done) }()
	e.giveBack(g)
	rest <- []guard.Finding{{Path: "late"}}
	if path := <-told; path != "late" {
		t.Errorf("told of %q", path)
	}
	if _, idle := e.kept(); idle != 0 {
		t.Error("the guard counts as unused while its audit goes on")
	}
	close(rest)
	<-done
	if _, idle := e.kept(); idle != 1 {
		t.Error("the guard is not given back")
	}
}

// TestManyUsersOfFewGuards: each sees what its own run does, however many guards come and go meanwhile.
func TestManyUsersOfFewGuards(t *testing.T) {
	e, _ := project(t)
	before := inotifies(t)
	var wg sync.WaitGroup
	for i := range 3 * mostGuards {
		_, dir := project(t)
		client := e.protecting(fmt.Sprint("name", i%5))
		wg.Go(func() {
			for range 5 {
				f, g, _, err := client.learn(t.Context(), Request{Dir: dir})
				if err != nil {
					t.Error(err)
					return
				}
				w := g.Begin(guard.BeginOptions{RunID: "r", GitDirs: f.gitDirs})
				os.WriteFile(dir+"/.envrc", []byte("evil\n"), 0o644)
				if found := w.End(t.Context()).Findings; len(found) != 1 {
					t.Errorf("found %v, want one .envrc: was the guard closed?", found)
				}
				os.Remove(dir + "/.envrc.disarmed-r")
				e.giveBack(g)
			}
		})
	}
	wg.Wait()
	if got, idle := e.kept(); len(got) != mostGuards || idle != mostGuards || inotifies(t)-before != mostGuards {
		t.Errorf("%d guards are kept, %d of them unused, and %d trees watched; want %d", len(got), idle, inotifies(t)-before, mostGuards)
	}
}

// TestTheHintNamesTheFolderAtFault when placeholders cannot be made.
func TestTheHintNamesTheFolderAtFault(t *testing.T) {
	e, dir := project(t)
	os.WriteFile(e.state+"/holds", nil, 0o600)
	_, err := e.Run(t.Context(), dir, "", protocol.RunParams{Language: "bash", Code: ":"}, nil)
	var told *protocol.Error
	if !errors.As(err, &told) || !strings.Contains(told.Hint, e.state) || strings.Contains(told.Hint, "workspace") {
		t.Errorf("%v: %+v", err, told)
	}
	errors.As(cannotHold(errors.New("placeholder: no space left")), &told)
	if !strings.Contains(told.Hint, "workspace") || strings.Contains(told.Hint, e.state) {
		t.Errorf("%+v", told)
	}
}
