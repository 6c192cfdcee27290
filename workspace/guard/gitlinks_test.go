//go:build unix

package guard

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// flood makes links in a git directory, and then one in the place of what git writes.
func flood(t *testing.T, dir string, links int) {
	t.Helper()
	for i := range links {
		if i%10_000 == 0 {
			os.Mkdir(fmt.Sprintf("%s/j%d", dir, i/10_000), 0o755)
		}
		if err := os.Symlink("x", fmt.Sprintf("%s/j%d/%d", dir, i/10_000, i)); err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(dir + "/logs/HEAD")
	if err := os.Symlink("../../../rc", dir+"/logs/HEAD"); err != nil {
		t.Fatal(err)
	}
}

// TestAFloodOfLinks is ended, and none is left.
func TestAFloodOfLinks(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q .; git commit -q --allow-empty -m one; ln -s ../objects .git/own")
		time.Sleep(30 * time.Millisecond)
		o.GitDirs = []string{p.root + "/.git"}
		var stormed atomic.Int32
		w := p.guard(o, BeginOptions{Storm: func() { stormed.Add(1) }})
		flood(t, p.root+"/.git", 22_000)
		began := time.Now()
		list := p.end(w)
		if lasted := time.Since(began); lasted > 25*time.Second {
			t.Errorf("its end lasted %v", lasted)
		}
		if stormed.Load() != 1 {
			t.Errorf("%d storms", stormed.Load())
		}
		if list[0].Path != p.root+"/.git/logs/HEAD" && !o.NoNotify {
			t.Errorf("first: %+v", list[0])
		}
		p.sh("[ $(find .git -type l | wc -l) = 1 ]; readlink .git/own")
		p.want(p.end(p.g.Begin(BeginOptions{RunID: "R2"})))
	})
}

// TestALinkThatWasMovedIn: in a folder that was made before the run.
func TestALinkThatWasMovedIn(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q .; git commit -q --allow-empty -m one; mkdir -p other/refs; ln -s ../../../rc other/HEAD; mkdir .git/k; ln -s x .git/k/own")
		time.Sleep(30 * time.Millisecond)
		o.GitDirs = []string{p.root + "/.git"}
		w := p.guard(o, BeginOptions{})
		p.g.tree.drainMu.Lock()
		p.sh("rm -r .git/logs; mv other .git/logs; touch .git/logs .git/k/new")
		p.g.tree.mu.Lock()
		p.g.tree.lost = "lost"
		clear(p.g.tree.byWD)
		p.g.tree.mu.Unlock()
		p.g.tree.drainMu.Unlock()
		p.want(p.end(w), "disarmed .git/logs/HEAD")
	})
}
