package workspace

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"code.sidecar.dev/workspace/looks"
	"code.sidecar.dev/workspace/oddtree"
)

// TestDiscoverLocked: what git would find behind what is locked is known, and where it lies outside and cannot be, there is no run.
func TestDiscoverLocked(t *testing.T) {
	if done, err := oddtree.AsOwner(t.Name()); done {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for path, mode := range map[string]os.FileMode{"p/.git/worktrees": 0o311, "p": 0o755, "p/.git": 0o600, "p/.git/HEAD": 0o200, "p/.git/config": 0,
		"p/.git/worktrees/w": 0o600, "p/secrets": 0, "p/tools": 0o600, "w p/.git/config": 0o200} {
		t.Run(path, func(t *testing.T) {
			dir, path, isOutside := strings.Cut(path, " ")
			if !isOutside {
				dir, path = "p", dir
			}
			l := newLab(t)
			l.repo("p")
			l.git("p", "worktree", "add", "-q", l.at("w"))
			l.git("p", "config", "core.fsmonitor", "tools/fs")
			if err := errors.Join(os.Mkdir(l.at("p/secrets"), 0o755), os.Mkdir(l.at("p/tools"), 0o755), os.WriteFile(l.at("p/tools/fs"), []byte("#!/bin/sh\n"), 0o700)); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
			lock := func(mode os.FileMode) {
				if err := os.Chmod(l.at(path), mode); err != nil {
					t.Fatal(err)
				}
			}
			lock(mode)
			ws, err := Discover(l.at(dir), Options{Looks: looks.New(os.Getenv)})
			if info, _ := os.Lstat(l.at(path)); info.Mode().Perm() != mode {
				t.Errorf("its mode is %v", info.Mode())
			}
			defer lock(0o755)
			if isOutside {
				if !errors.Is(err, ErrNotReadable) || !strings.Contains(err.Error(), "chmod u+rwX "+l.at(path)) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || len(ws.Repo.Worktrees) != 1 {
				t.Fatalf("got %v, %v", ws, err)
			}
			held := ws.Protected(Rules{})
			if !slices.ContainsFunc(held, func(p Protected) bool { return p.Path == l.at("p/tools/fs") && p.Hold == ReadOnly }) {
				t.Error("what its config names is not held")
			}
		})
	}
}
