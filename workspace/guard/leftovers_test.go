//go:build unix

package guard

import "testing"

// A person is in the middle of a rebase that tests each commit; a run goes on with it, or does something else.
const hostRebase = `git init -q .; for i in 1 2 3; do echo $i >f; git add f; git commit -qm $i; done; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -qi HEAD~2 -x 'true'; grep -q '^exec true' .git/rebase-merge/git-rebase-todo`

func TestHostsUnfinishedRebaseIsLeftAlone(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh(hostRebase)
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("sed -i 1d .git/rebase-merge/git-rebase-todo; grep -q '^exec true' .git/rebase-merge/git-rebase-todo")
		p.want(p.end(w))
		p.sh("grep -q '^exec true' .git/rebase-merge/git-rebase-todo")
	})
}

func TestWhatIsAddedToAnUnfinishedRebaseIsMovedAside(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh(hostRebase)
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("echo 'exec evil' >>.git/rebase-merge/git-rebase-todo")
		p.want(p.end(w), "disarmed .git/rebase-merge/git-rebase-todo")
		p.sh("grep -q '^exec true' .git/rebase-merge/git-rebase-todo; ! grep -q evil .git/rebase-merge/git-rebase-todo")
	})
}

func TestLeftoversExecute(t *testing.T) {
	byName := map[string]leftover{}
	for _, l := range leftovers {
		byName[l.file] = l
	}
	for _, tt := range []struct {
		file, line string
		want       bool
	}{
		{"git-rebase-todo", "exec make", true}, {"git-rebase-todo", "x make", true}, {"git-rebase-todo", "exec\tmake", true},
		{"git-rebase-todo", "pick 1 exec x", false}, {"git-rebase-todo", "# exec x", false},
		{"strategy", "ort", false}, {"strategy", "../evil", true}, {"strategy", "evil", true},
		{"opts", "[options]", false}, {"opts", "strategy = ours", false}, {"opts", "strategy = ../evil", true},
		{"opts", "strategy=../evil", true}, {"opts", `edit = \`, true}, {"opts", "[options] strategy = ../evil", true}, {"opts", "record-origin = true", false},
		{"update-refs", "refs/heads/main", false}, {"update-refs", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad", false}, {"update-refs", "commondir", true},
		{"tables.list", "0x000000000001-0x000000000002-a1b2c3.ref", false}, {"tables.list", "../../other/x.ref", true},
		{"MERGE_RR", "a\tf", true}, {"MERGE_AUTOSTASH", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad", true}, {"apply-opt", "'-p1' '--whitespace=fix'", false}, {"apply-opt", "'--build-fake-ancestor=/x'", true}, {"apply-opt", "'--directory=x'", true},
	} {
		if got := byName[tt.file].executes(tt.line); got != tt.want {
			t.Errorf("%s: %q: got %v, want %v", tt.file, tt.line, got, tt.want)
		}
	}
}
