//go:build unix

package guard

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// prepare is what an earlier run left, or the project has, where nobody obeys it.
const prepare = `git init -q .; mkdir -p node_modules/p/.vscode/deep a/stuff b/x .git/lfs/r/objects .git/lfs/r/refs own/pkg/.vscode
	for i in a/stuff node_modules/p/.vscode node_modules/p/.vscode/deep own/pkg/.vscode; do echo 1 >$i/tasks.json; done
	echo 'ref: refs/heads/m' >.git/lfs/r/HEAD; printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = evil\n' >.git/lfs/r/config
	git init -q own/repo; git -C own/repo config alias.x '!y'; `

// moveIn moves it to where it is obeyed, and beside what is a person's own makes files.
const moveIn = `mv a/stuff a/.vscode; mv node_modules/p own/p; mv .git/lfs/r b/x/.git; touch new own/new own/pkg/new own/repo/new; `

var movedIn = []string{"disarmed a/.vscode", "disarmed b/x/.git/config", "disarmed own/p/.vscode"}

// TestWhatWasMovedIn: what is moved in whole has old times; the guard is not told of it but comes by it.
func TestWhatWasMovedIn(t *testing.T) {
	const touched = "touch own/p a/.vscode b/x/.git; "
	for name, c := range map[string]struct {
		o    Options
		late string
		miss func(*tree)
	}{
		"events are lost":                     {late: touched, miss: func(t *tree) { t.lost = "lost" }},
		"watches are used up":                 {late: touched, miss: func(t *tree) { t.short = "used up" }},
		"no events":                           {o: Options{NoNotify: true}},
		"no events, and what came is touched": {o: Options{NoNotify: true}, late: touched},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.sh(prepare)
			time.Sleep(30 * time.Millisecond)
			c.o.Obeyed = obeyedNames
			w := p.guard(c.o, BeginOptions{})
			p.g.tree.drainMu.Lock()
			p.sh(moveIn + c.late)
			p.g.tree.mu.Lock()
			if c.miss != nil {
				c.miss(p.g.tree)
				clear(p.g.tree.byWD) // so that no event is of use
			}
			p.g.tree.mu.Unlock()
			p.g.tree.drainMu.Unlock()
			p.want(p.end(w), movedIn...)
			if d := p.g.Degraded(); d != "" && !c.o.NoNotify {
				t.Errorf("degraded for good: %s", d)
			}
			p.want(p.end(p.g.Begin(BeginOptions{RunID: "R2"})))
		})
	}
}

// TestMovedInBeforeTheFirstWalk: so large a tree is not read when its first run begins.
func TestMovedInBeforeTheFirstWalk(t *testing.T) {
	p := newPlace(t)
	p.sh(prepare)
	time.Sleep(30 * time.Millisecond)
	tree, err := newTree(p.root, Options{Obeyed: obeyedNames})
	if err != nil {
		t.Fatal(err)
	}
	g := &Guard{root: p.root, tree: tree, ctx: context.Background(), cancel: func() {}}
	defer g.Close()
	w := g.Begin(BeginOptions{RunID: "R"})
	p.sh(moveIn)
	tree.firstWalk(g.ctx)
	p.want(p.end(w), movedIn...)
}

// TestMovedIntoALockedFolder: a folder that cannot be opened when it appears has no watch.
func TestMovedIntoALockedFolder(t *testing.T) {
	p := newPlace(t)
	p.sh(prepare)
	time.Sleep(30 * time.Millisecond)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	p.g.tree.drainMu.Lock()
	p.sh("mkdir -p n/x; mv a/stuff n/.vscode; mv .git/lfs/r n/x/.git")
	p.g.tree.mu.Lock()
	top := p.g.tree.tops[0]
	p.g.tree.unreadable = []*node{{base: top.base, parent: top, name: "n", depth: 1, length: 2}}
	clear(p.g.tree.byWD)
	p.g.tree.mu.Unlock()
	p.g.tree.drainMu.Unlock()
	p.want(p.end(w), "disarmed n/.vscode", "disarmed n/x/.git/config")
}

// TestDeepChanges: a folder of the host's whose events were lost is looked at below its first level.
func TestDeepChanges(t *testing.T) {
	p := newPlace(t)
	p.sh("mkdir -p k/.claude/hooks/d hooks2; echo 1 >k/.claude/hooks/d/own; echo 1 >k/.claude/own; echo 1 >hooks2/x")
	time.Sleep(30 * time.Millisecond)
	w := p.guard(Options{Obeyed: obeyedNames, NoNotify: true}, BeginOptions{})
	p.sh("echo 2 >k/.claude/hooks/d/new; mv hooks2 k/.claude/hooks/e")
	p.want(p.end(w), "disarmed k/.claude/hooks/d/new", "disarmed k/.claude/hooks/e")
	if !p.exists("k/.claude/hooks/d/own") || !p.exists("k/.claude/own") {
		t.Error("the host's own is gone")
	}
}

// TestHostsBetweenRuns: what a person makes between runs where there is no watch is not taken for a run's.
func TestHostsBetweenRuns(t *testing.T) {
	p := newPlace(t)
	w := p.guard(Options{Obeyed: obeyedNames, NoNotify: true}, BeginOptions{})
	p.sh("mkdir -p src/pkg")
	p.want(p.end(w))
	p.sh("mkdir src/pkg/.vscode; echo 1 >src/pkg/.vscode/tasks.json; echo >src/.envrc; git init -q src/r; git -C src/r config alias.x '!y'")
	time.Sleep(30 * time.Millisecond)
	w = p.g.Begin(BeginOptions{RunID: "R2"})
	p.sh("touch new src/new src/pkg/new src/r/new; git -C src/r status")
	p.want(p.end(w))
}

// TestDeepFoldersAreSoonJudged: whose folders lie in very deep ones must not be looked at from each up to the root.
func TestDeepFoldersAreSoonJudged(t *testing.T) {
	p := newPlace(t)
	deep := ""
	for range 900 {
		deep += "d/"
	}
	p.sh("mkdir -p " + deep)
	for i := range 20 {
		p.sh(fmt.Sprintf("mkdir -p %sn%d/.vscode", deep, i))
	}
	time.Sleep(30 * time.Millisecond)
	w := p.guard(Options{Obeyed: obeyedNames, NoNotify: true}, BeginOptions{})
	tree := p.g.tree
	tree.mu.Lock()
	defer tree.mu.Unlock()
	for i := range 20 {
		w.run.brought(fmt.Sprintf("%s/%sn%d/.vscode", p.root, deep, i), 0)
	}
	if n := len(w.run.knew.ways); n != 920 {
		t.Errorf("%d folders are remembered", n)
	}
}

// TestMovedIntoAFolderThatWasLocked: what was in it when the run began is not known.
func TestMovedIntoAFolderThatWasLocked(t *testing.T) {
	p := newPlace(t)
	p.sh("mkdir -p n/own/.vscode stuff; echo 1 >stuff/tasks.json; echo 1 >n/own/.vscode/tasks.json")
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{RunID: "R1"})
	p.end(w)
	tree := p.g.tree
	tree.mu.Lock()
	top := tree.tops[0]
	tree.unreadable = []*node{{base: top.base, parent: top, name: "n", depth: 1, length: 2}}
	delete(tree.obeyed, p.root+"/n/own/.vscode")
	clear(tree.byWD)
	tree.mu.Unlock()
	time.Sleep(30 * time.Millisecond)
	w = p.g.Begin(BeginOptions{})
	tree.drainMu.Lock()
	p.sh("mv stuff n/.vscode; touch n n/.vscode")
	tree.drainMu.Unlock()
	p.want(p.end(w), "disarmed n/.vscode")
}

// TestMoreThanCanBeKept: what comes beyond that is judged all the same, and what says nothing takes no place.
func TestMoreThanCanBeKept(t *testing.T) {
	p := newPlace(t)
	p.sh(`git init -q .; mkdir .git/lfs; git init -q --bare .git/lfs/r; printf '\tbare = false\n\tfsmonitor = evil\n' >>.git/lfs/r/config`)
	time.Sleep(30 * time.Millisecond)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	tree := p.g.tree
	p.sh("mkdir e; : >e/.git; mkdir later; : >later/.git; mkdir other; git init -q other/g; " + armIt + "other/g/.git/config")
	tree.drain()
	tree.mu.Lock()
	if n := len(tree.sites); n != 2 { // the root's and other/g's
		t.Errorf("%d sites", n)
	}
	for i := range mostKept {
		path := fmt.Sprintf("%s/gone/%d", p.root, i)
		tree.sites[path] = &site{path: path, base: tree.root}
	}
	tree.mu.Unlock()
	p.sh("git init -q late; " + armIt + "late/.git/config; mkdir moved; mv .git/lfs/r moved/.git; touch moved/.git; echo gitdir: ../other/g/.git >later/.git; mkdir l; ln -s ../../away l/.git")
	p.want(p.end(w), "disarmed l/.git", "disarmed late/.git/config", "disarmed moved/.git/config", "disarmed other/g/.git/config")
	tree.retried = time.Time{}
	p.want(p.end(p.g.Begin(BeginOptions{RunID: "R2"})))
	if d := p.g.Degraded(); d != "" {
		t.Errorf("degraded for good: %s", d)
	}
}
