//go:build unix

package guard

import "testing"

func TestRefOut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad\n": "", "refs/heads/main": "",
		"ref: refs/heads/main\n": "", "ref:refs/heads/main": "", "ref: \t\n refs/heads/main": "",
		"ref: main-worktree/refs/bisect/bad\n": "", "ref: worktrees/a/refs/bisect/bad\n": "",

		"ref: commondir\n": "ref: commondir", "ref:commondir": "ref: commondir", "ref: \n\tcommondir\nrefs/": "ref: commondir",
		"ref: worktrees/a/commondir": "ref: worktrees/a/commondir", "ref: worktrees/refs/x": "ref: worktrees/refs/x", "ref: refsx": "ref: refsx",
		"ref:": "ref: ", "ref: info/attributes\x00refs/": "ref: info/attributes\x00refs/",
	} {
		if got := refOut(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestReferencesThatLeadOut: whatever way they came there, and no other is touched.
func TestReferencesThatLeadOut(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q . && git commit -q --allow-empty -m one && git branch old && git branch kept && git symbolic-ref refs/remotes/origin/HEAD refs/heads/kept && echo 'ref: odd' >.git/OWN_HEAD")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh(`echo 'ref: commondir' >.git/ORIG_HEAD; printf 'ref: shallow' >.git/refs/heads/old; mkdir -p .git/refs/x/y; echo 'ref: shallow' >.git/refs/x/y/z
			git commit -q --allow-empty -m 'ref: two'; git symbolic-ref refs/remotes/up/HEAD refs/remotes/up/main; git tag t`)
		p.want(p.end(w), "disarmed .git/ORIG_HEAD", "disarmed .git/refs/heads/old", "disarmed .git/refs/x/y/z")
		p.sh("git rev-parse -q --verify kept && git rev-parse -q --verify t && test -e .git/OWN_HEAD && grep -q ref: .git/COMMIT_EDITMSG && git symbolic-ref refs/remotes/up/HEAD")
	})
}

// TestReferencesByAnotherName: one that is written under another name has no event of its own.
func TestReferencesByAnotherName(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q . && git commit -q --allow-empty -m one && git branch old && git branch kept")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh(`ln .git/refs/heads/old .git/x; git rev-parse HEAD >.git/y; ln .git/y .git/ORIG_HEAD; sleep .1
			echo 'ref: commondir' >.git/x; echo 'ref: shallow' >.git/y; sleep .05; rm .git/x .git/y`)
		p.want(p.end(w), "disarmed .git/ORIG_HEAD", "disarmed .git/refs/heads/old")
		p.sh("git rev-parse -q --verify kept")
	})
}

// TestRecordsOfConflicts: those that a run adds are moved aside, the host's own stay.
func TestRecordsOfConflicts(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q . && git commit -q --allow-empty -m one && mkdir .git/rr-cache && printf 'a\\tf\\0b\\tg\\0' >.git/MERGE_RR")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("printf 'b\\tg\\0' >.git/MERGE_RR")
		p.want(p.end(w))
		w = p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("printf 'b\\tg\\0c.-1\\t.git/config\\0' >.git/MERGE_RR")
		p.want(p.end(w), "disarmed .git/MERGE_RR")
		p.sh("grep -q g .git/MERGE_RR && ! grep -q config .git/MERGE_RR")
	})
}
