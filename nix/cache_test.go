package nix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// counted makes options whose nix notes each of its starts; the function lists them, a line each: process id
// and arguments.
func counted(t *testing.T, o *Options) func() []string {
	t.Helper()
	dir := t.TempDir()
	real := o.Program
	if real == "" {
		real, _ = exec.LookPath("nix")
	}
	starts := filepath.Join(dir, "starts")
	for _, name := range []string{"nix", "nix-store"} {
		script := fmt.Sprintf("#!/bin/sh\necho \"$$ $1 $*\" | tr '\\n' ' ' >>%s; echo >>%s\nexec %s \"$@\"\n", starts, starts, filepath.Join(filepath.Dir(real), name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o.Program = filepath.Join(dir, "nix")
	return func() []string {
		text, _ := os.ReadFile(starts)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

// builds are the starts that build.
func builds(starts []string) (n int) {
	for _, start := range starts {
		if strings.Contains(start, " build --json") {
			n++
		}
	}
	return n
}

// However many ask at once, in one process and by two stores on one folder as in two processes, one nix builds.
func TestOneBuild(t *testing.T) {
	nixpkgs := requireNix(t)
	o := nixpkgs.options(t)
	starts := counted(t, &o)
	stores := []*Store{openWith(t, o), openWith(t, o)}
	var wait sync.WaitGroup
	var progressed atomic.Int64
	outs := make([]string, 12)
	for i := range outs {
		wait.Go(func() {
			built, err := stores[i%2].Build(t.Context(), Spec{Nixpkgs: nixpkgs.nixpkgs(), Packages: []string{"tree", "which"}},
				func(Progress) { progressed.Add(1) })
			if err != nil {
				t.Error(err)
			}
			outs[i] = built.Out
		})
	}
	wait.Wait()
	if n := builds(starts()); n != 1 || len(slices.Compact(outs)) != 1 || progressed.Load() == 0 {
		t.Errorf("%d builds, outs %q, progress told %d times", n, slices.Compact(outs), progressed.Load())
	}
}

// What is built is found again by a store that has no nix: none is started, and the order of packages is nothing.
func TestHitStartsNoNix(t *testing.T) {
	nixpkgs := requireNix(t)
	o := nixpkgs.options(t)
	first := nixpkgs.build(t, openWith(t, o), "bash", "jq", "ripgrep")
	o.Program, o.Path = "", t.TempDir()
	store := openWith(t, o)
	again, err := store.Build(t.Context(), Spec{Nixpkgs: nixpkgs.nixpkgs(), Interpreter: "bash", Packages: []string{"ripgrep", "jq", "jq"}}, nil)
	if err != nil || again.Out != first.Out || !slices.Equal(again.Closure, first.Closure) {
		t.Errorf("found %v, %v; built %v", again, err, first)
	}
	var none *MissingError
	if _, err := store.Build(t.Context(), Spec{Nixpkgs: nixpkgs.nixpkgs(), Packages: []string{"hello"}}, nil); !errors.As(err, &none) {
		t.Errorf("a miss without nix: %v", err)
	}
	if all := store.Environments(); len(all) != 1 || all[0].Out != first.Out {
		t.Errorf("listed are %v", all)
	}
}

// Whatever happens to a record or to the store, the next request has an environment.
func TestRebuilt(t *testing.T) {
	o := requireNix(t).options(t)
	spec := Spec{Nixpkgs: unique(t)}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, s *Store, b Built)
	}{
		{"the record is cut", func(t *testing.T, s *Store, b Built) { os.Truncate(s.recordFile(b.Key), 300) }},
		{"the record is empty", func(t *testing.T, s *Store, b Built) { os.Truncate(s.recordFile(b.Key), 0) }},
		{"the record is other text", func(t *testing.T, s *Store, b Built) { os.WriteFile(s.recordFile(b.Key), []byte("{}\n\n"), 0o600) }},
		{"the record is gone", func(t *testing.T, s *Store, b Built) { os.Remove(s.recordFile(b.Key)) }},
		{"the root is gone", func(t *testing.T, s *Store, b Built) { os.Remove(s.rootLink(b.Key)) }},
		{"the root leads elsewhere", func(t *testing.T, s *Store, b Built) {
			os.Remove(s.rootLink(b.Key))
			os.Symlink("/etc", s.rootLink(b.Key))
		}},
		{"it was garbage-collected", collectGarbage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := openWith(t, o)
			built, err := store.Build(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.damage(t, store, built)
			if _, ok := store.Cached(spec); ok {
				t.Fatal("it is still taken for whole")
			}
			again, err := store.Build(t.Context(), spec, nil)
			if err != nil || again.Out != built.Out {
				t.Fatalf("built anew is %s, not %s: %v", again.Out, built.Out, err)
			}
			if text, err := os.ReadFile(again.Out); string(text) != "bash coreutils cacert\n" {
				t.Errorf("it holds %q, %v", text, err)
			}
		})
	}
}

// collectGarbage does to an environment what nix-collect-garbage would.
func collectGarbage(t *testing.T, s *Store, b Built) {
	t.Helper()
	os.Remove(s.rootLink(b.Key))
	cmd := exec.Command("nix-store", "--delete", b.Out)
	cmd.Env = append(os.Environ(), "NIX_CONFIG=build-users-group =")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A record is whole or an error, wherever it is cut.
func TestTornRecord(t *testing.T) {
	path := "/nix/store/" + strings.Repeat("a", 32) + "-env"
	store := openWith(t, Options{Dir: filepath.Join(t.TempDir(), "c")})
	if err := store.write(Built{Key: "k", Out: path, Closure: []string{path, path + "2"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(store.recordFile("k"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := parseRecord(text); err != nil || b.Out != path || len(b.Closure) != 2 {
		t.Fatalf("%v, %v", b, err)
	}
	for i := range text {
		if b, err := parseRecord(text[:i]); err == nil {
			t.Errorf("cut after %d bytes it is %v", i, b)
		}
	}
	for _, bad := range []string{path + "/../../../etc", "/etc", "/nix/store/..", "/nix/store/"} {
		if err := store.write(Built{Key: "k", Out: path, Closure: []string{path, bad}}); err == nil {
			t.Errorf("a closure with %q was recorded", bad)
		}
	}
}

// A cancel midway ends nix and its builder, and the next request works.
func TestCancel(t *testing.T) {
	nixpkgs := requireNix(t)
	o := nixpkgs.options(t)
	starts := counted(t, &o)
	store := openWith(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := store.Build(ctx, Spec{Nixpkgs: unique(t), Packages: []string{"slow"}}, func(p Progress) {
		if p.Stage == "building" && p.Name == "slow-"+slowName(t) {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled build: %v", err)
	}
	for _, start := range starts() {
		var pid int
		fmt.Sscan(start, &pid)
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("nix goes on: %s", start)
		}
	}
	if left := builders(t, slowName(t)); len(left) > 0 {
		t.Errorf("builders go on: %q", left)
	}
	nixpkgs.build(t, store, "bash")
}

// builders are the processes that still build what is called so, after a moment for the kernel to end them.
func builders(t *testing.T, name string) []string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var left []string
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range links {
			if dir, err := os.Readlink(link); err == nil && strings.Contains(dir, name) {
				left = append(left, link+" "+dir)
			}
		}
		if len(left) == 0 || time.Since(began) > 20*time.Second {
			return left
		}
	}
}

// A build that takes longer than it may is ended, and says so.
func TestLimit(t *testing.T) {
	o := requireNix(t).options(t)
	o.Limit = 3 * time.Second
	_, err := openWith(t, o).Build(t.Context(), Spec{Nixpkgs: unique(t), Packages: []string{"slow"}}, nil)
	var limit *LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), "after 3s, the limit (nix.build_timeout)") {
		t.Errorf("%T %v", err, err)
	}
	if left := builders(t, slowName(t)); len(left) > 0 {
		t.Errorf("builders go on: %q", left)
	}
}

// Collect lets go of what is old and of nothing else.
func TestCollect(t *testing.T) {
	nixpkgs := requireNix(t)
	store := nixpkgs.open(t)
	old := nixpkgs.build(t, store, "", "tree")
	kept := nixpkgs.build(t, store, "", "which")
	before := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(store.recordFile(old.Key), before, before); err != nil {
		t.Fatal(err)
	}
	done, err := store.Collect(24 * time.Hour)
	if err != nil || done.Kept != 1 || len(done.Environments) != 1 || done.Environments[0].Out != old.Out {
		t.Errorf("%+v, %v", done, err)
	}
	if _, ok := store.Cached(kept.Spec); !ok {
		t.Error("what is in use was dropped")
	}
	if _, err := os.Lstat(store.rootLink(old.Key)); err == nil {
		t.Error("the root of what is old is still there")
	}
	// A hit marks a record as used.
	if err := os.Chtimes(store.recordFile(kept.Key), before, before); err != nil {
		t.Fatal(err)
	}
	store.Cached(kept.Spec)
	if done, _ := store.Collect(24 * time.Hour); done.Kept != 1 {
		t.Errorf("what was found again is not kept: %+v", done)
	}
	if locks, _ := os.ReadDir(filepath.Join(store.options.Dir, "locks")); len(locks) > 0 {
		t.Errorf("locks are left over: %v", locks)
	}
}

// A hit after a restart: the store is opened anew each time. The closure is as large as a real one.
func BenchmarkHit(b *testing.B) {
	o := Options{Dir: filepath.Join(b.TempDir(), "cache"), Root: b.TempDir()}
	store := openWith(b, o)
	spec := Spec{Nixpkgs: Source{Ref: DefaultNixpkgs, Path: "/nix/store/" + strings.Repeat("n", 32) + "-source", NarHash: "sha256-" + strings.Repeat("A", 43) + "="},
		Interpreter: "python3", Packages: []string{"ripgrep", "python3Packages.pandas", "jq"}}
	built := Built{Out: "/nix/store/" + strings.Repeat("a", 32) + "-sidecar-env", Spec: spec, root: o.Root}
	for i := range 2000 {
		built.Closure = append(built.Closure, fmt.Sprintf("/nix/store/%032d-some-package-%d", i, i))
	}
	built.Closure = append(built.Closure, built.Out)
	if err := errors.Join(os.MkdirAll(built.Real(built.Out), 0o755), os.MkdirAll(built.Real(spec.Nixpkgs.Path), 0o755)); err != nil {
		b.Fatal(err)
	}
	t, err := store.target(spec, store.known)
	if err != nil {
		b.Fatal(err)
	}
	built.Key = t.key
	if err := errors.Join(store.write(built), os.Symlink(built.Out, store.rootLink(t.key))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		store := &Store{options: o}
		if got, err := store.Build(b.Context(), spec, nil); err != nil || len(got.Closure) != 2001 {
			b.Fatal(err)
		}
	}
}
