package linked

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// The person's own git works in the repository while worktrees are made and dropped: neither is in the other's way.
func TestThePersonsGitMeanwhile(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	var makers, person sync.WaitGroup
	done := make(chan struct{})
	person.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, args := range [][]string{{"commit", "-q", "--allow-empty", "-m", "mine"}, {"pack-refs", "--all"}, {"worktree", "prune", "--expire=now"}, {"status"}} {
				if out, err := l.tryGit("r", args...); err != nil {
					t.Errorf("git %s: %v %s", args[0], err, out)
				}
			}
		}
	})
	ctx := context.Background()
	for i := range 4 {
		makers.Go(func() {
			for n := range 3 {
				name := fmt.Sprintf("topic-%d-%d", i, n)
				trees, err := l.tryOpen("r")
				if err == nil {
					_, err = trees.Make(ctx, name, "")
				}
				if err == nil && n > 0 {
					_, err = trees.Drop(ctx, name, false)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	makers.Wait()
	close(done)
	person.Wait()
	if list := l.open("r").List(); len(list) != 4 {
		t.Errorf("%d worktrees", len(list))
	}
	for _, tree := range l.open("r").List() {
		l.clean(tree)
	}
}

// Killed at any moment, a making leaves what the next one clears away.
func TestKilled(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	for i := range 300 {
		l.write(fmt.Sprintf("r/d%d/f", i), "x")
	}
	l.commit("r", "many")
	for n := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMakerToKill$", "-test.v")
		cmd.Env = append(os.Environ(), "LINKED_LAB="+l.dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "begins"; {
		}
		time.Sleep(time.Duration(n*n) * 3 * time.Millisecond) // no condition: the moment is to be any
		cmd.Process.Kill()
		cmd.Wait()
		tree, err := l.open("r").Make(context.Background(), "topic", "")
		if err != nil {
			t.Fatal(err)
		}
		l.clean(tree)
		if got := l.git("r", "worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 2 || strings.Contains(got, "locked") {
			t.Error(got)
		}
		if _, err := l.open("r").Drop(context.Background(), "topic", false); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMakerToKill is the process that TestKilled kills.
func TestMakerToKill(t *testing.T) {
	dir := os.Getenv("LINKED_LAB")
	if dir == "" {
		return
	}
	l := &lab{t: t, dir: dir, env: map[string]string{"HOME": dir + "/home", "GIT_CONFIG_NOSYSTEM": "1"}}
	trees := l.open("r")
	fmt.Println("begins")
	_, _ = trees.Make(context.Background(), "topic", "")
}
