//go:build linux

package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// manySites is a workspace with repositories that nothing holds, looked at in runs in which nothing happened, so that
// what the guard keeps of them is in use.
func manySites(t *testing.T, o Options) (*place, BeginOptions) {
	p := newPlace(t)
	p.sh(`git init -q .; for i in 1 2 3 4 5 6 7 8 9; do
		git init -q n$i; git -C n$i config core.pager "host $i"; git -C n$i config user.name h; git -C n$i commit -q --allow-empty -m 1
		echo '#!/bin/sh' >n$i/.git/hooks/pre-push; chmod +x n$i/.git/hooks/pre-push; ln n$i/.git/config other$i
		done; mkdir rebase; echo "pick 1" >rebase/git-rebase-todo; mv rebase n8/.git/rebase-merge`)
	time.Sleep(50 * time.Millisecond)
	b := BeginOptions{RunID: "R", GitDirs: []string{p.root + "/.git"}}
	p.want(p.end(p.guard(o, b)))
	for range 3 {
		p.want(p.end(p.g.Begin(b)))
	}
	return p, b
}

// kept counts the sites whose next snapshot costs no reading.
func kept(p *place) (n int) {
	t := p.g.tree
	for _, s := range t.sites {
		if b, rel, ok := t.locate(s.path); ok && s.kept != nil && s.kept.isUnchanged(b, rel) {
			n++
		}
	}
	return n
}

var armings = map[string]string{
	"n1/.git/config":                       `git -C n1 config core.fsmonitor evil`,
	"n2/.git/config":                       `printf '[core]\n\tfsmonitor = evil\n' >>other2`,
	"n3/.git/config":                       `m=$(stat -c %Y n3/.git/config); printf '[core]\n\tfsmonitor = evil\n' >>n3/.git/config; touch -d @$m n3/.git/config`,
	"n4/.git/hooks/pre-push":               `m=$(stat -c %Y n4/.git/hooks/pre-push); printf '#!/bin/zz' | dd of=n4/.git/hooks/pre-push conv=notrunc status=none; touch -d @$m n4/.git/hooks/pre-push`,
	"n5/.git/hooks/pre-commit":             `echo evil >n5/.git/hooks/pre-commit`,
	"n6/.git/config":                       `cp -a n6/.git ../store; printf '[core]\n\tfsmonitor = evil\n' >>../store/config; mv n6/.git ../old; mv ../store n6/.git`,
	"n7/.git/commondir":                    `echo ../../n1/.git >n7/.git/commondir`,
	"n8/.git/rebase-merge/git-rebase-todo": `echo "exec evil" >>n8/.git/rebase-merge/git-rebase-todo`,
	"n9/.git/config":                       `mv n9 n9old; cp -a n9old n9; printf '[core]\n\tfsmonitor = evil\n' >>n9/.git/config`,
	"n1/.git/config by map":                `python3 -c 'import mmap; f = open("n1/.git/config", "r+b"); m = mmap.mmap(f.fileno(), 0); m[:] = (b"[core]\n\tfsmonitor = evil\n#" + b"x" * len(m))[:len(m)]'`,
	"n2/.git/sequencer/opts":               `mkdir n2/.git/sequencer; printf '[options]\n\tstrategy = evil\n' >n2/.git/sequencer/opts`,
	"n3/.git/config.worktree":              `git -C n3 config extensions.worktreeConfig true; printf '[core]\n\tfsmonitor = evil\n' >n3/.git/config.worktree`,
	"n5/.git/hooks":                        `mv n5/.git/hooks n5/h; ln -s ../h n5/.git/hooks; echo evil >n5/h/pre-commit`,
}

func TestWhatWasSkippedIsStillFound(t *testing.T) {
	for _, o := range []Options{{}, {NoNotify: true}} {
		for what, script := range armings {
			t.Run(fmt.Sprint(what, " events ", !o.NoNotify), func(t *testing.T) {
				p, b := manySites(t, o)
				if n := kept(p); n < 9 {
					t.Fatalf("%d sites are kept: nothing is skipped, and the test shows nothing", n)
				}
				w := p.g.Begin(b)
				p.sh(script)
				found := p.brief(p.end(w))
				path, _, _ := strings.Cut(what, " ")
				if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, "disarmed "+path) }) {
					t.Errorf("%s is not disarmed: %v", path, found)
				}
			})
		}
	}
}

// TestHostsChangesBetweenRuns: what the host changes between two runs is its own in the second.
func TestHostsChangesBetweenRuns(t *testing.T) {
	for what, script := range armings {
		t.Run(what, func(t *testing.T) {
			p, b := manySites(t, Options{})
			p.sh(script)
			w := p.g.Begin(b)
			p.sh("git -C n1 commit -q --allow-empty -m 2")
			p.want(p.end(w))
		})
	}
}
