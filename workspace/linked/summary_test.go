package linked

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// session is a lab with a worktree in which some work was done.
func session(t *testing.T) (l *lab, trees *Trees, tree *Tree, before *State) {
	l = newLab(t)
	l.repo("r")
	l.write("r/gone", "a\nb\n")
	l.write("r/.gitignore", "*.o\n")
	l.commit("r", "two")
	trees = l.open("r")
	tree = l.make("r", "it's/topic", "main")
	before, err := trees.Look(context.Background(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return l, trees, tree, before
}

func (l *lab) work(tree *Tree) {
	l.write(tree.Path+"/file", "two\nthree\n")
	l.write(tree.Path+"/binary", "\x00\x01")
	os.Remove(l.at(tree.Path + "/gone"))
	l.commit(tree.Path, "clear \x1b[2J")
	l.write(tree.Path+"/file", "four\n")
	l.write(tree.Path+"/new/untracked", "x")
	l.write(tree.Path+"/x.o", "ignored")
	l.git("r", "branch", "other")
}

func summary(t *testing.T, trees *Trees, tree *Tree, before *State) *Summary {
	t.Helper()
	sum, err := trees.Summary(context.Background(), tree, before)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestSummary(t *testing.T) {
	l, trees, tree, before := session(t)
	main := l.files("r", ".git/refs", ".git/logs", ".git/objects", ".git/worktrees")
	l.work(tree)
	got := summary(t, trees, tree, before)
	head, start := l.git(tree.Path, "rev-parse", "HEAD"), l.git("r", "rev-parse", "main")
	want := &Summary{Main: l.at("r"), Commits: []Commit{{head, "clear \x1b[2J"}}, CommitCount: 1, Ahead: 1,
		Files:  []File{{"binary", "A", -1, -1}, {"file", "M", 2, 1}, {"gone", "D", 0, 2}},
		Counts: Counts{Added: 1, Changed: 1, Deleted: 1, LinesIn: 2, LinesOut: 3}, Uncommitted: 1, Untracked: 1,
		Elsewhere: []BranchMove{{"other", "", start}}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Summary{}, "Tree", "Before", "After")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	text := strings.NewReplacer(l.dir, "LAB", start, "START", head[:10], "HEAD", start[:10], "START", filepath.Base(trees.Folder), "R").Replace(got.Text())
	diff(t, text, `worktree it's/topic (branch it's/topic): 1 new commit
  HEAD clear ?[2J
3 files changed (1 added, 1 deleted), +2 -3 lines
  A binary  not text
  M file  +2 -1
  D gone  +0 -2
in no commit: 1 file with changes, 1 untracked file or folder
meanwhile: branch other was made, at START
look:   git -C LAB/r diff START 'refs/heads/it'\''s/topic'
take:   git -C LAB/r merge 'refs/heads/it'\''s/topic'
or:     git -C LAB/r cherry-pick START..'refs/heads/it'\''s/topic'
drop:   sidecar worktree drop -w LAB/r 'it'\''s/topic'
`)
	diff(t, l.files("r", ".git/refs", ".git/logs", ".git/objects", ".git/worktrees"), main)
	l.git("r", "merge", "-q", "it's/topic")
	diff(t, l.git("r", "rev-parse", "HEAD"), head)
}

// A session without work, one that rewrites, one that leaves its branch, one that is broken off in a merge.
func TestSummaryOfOtherSessions(t *testing.T) {
	for name, c := range map[string]struct {
		work func(*lab, *Tree)
		want Summary
	}{
		"none": {func(*lab, *Tree) {}, Summary{}},
		"rewritten": {func(l *lab, tree *Tree) {
			l.git(tree.Path, "commit", "-q", "--amend", "-m", "other words")
		}, Summary{CommitCount: 1, Ahead: 1, Left: 1}},
		"another branch": {func(l *lab, tree *Tree) {
			l.git(tree.Path, "checkout", "-q", "-b", "mine")
			l.commit(tree.Path, "three")
		}, Summary{CommitCount: 1, Ahead: 1}},
		"detached": {func(l *lab, tree *Tree) {
			l.git(tree.Path, "checkout", "-q", "--detach")
			l.commit(tree.Path, "three")
		}, Summary{CommitCount: 1, Ahead: 1}},
		"conflict": {func(l *lab, tree *Tree) {
			l.write("r/file", "here\n")
			l.commit("r", "here")
			l.write(tree.Path+"/file", "there\n")
			l.commit(tree.Path, "there")
			l.tryGit(tree.Path, "merge", "main")
		}, Summary{CommitCount: 1, Ahead: 1, Conflicts: 1, Counts: Counts{Changed: 1, LinesIn: 1, LinesOut: 1}}},
		"split index": {func(l *lab, tree *Tree) {
			l.git(tree.Path, "update-index", "--split-index")
			l.write(tree.Path+"/file", "there\n")
		}, Summary{Uncommitted: 1}},
		"sparse": {func(l *lab, tree *Tree) {
			l.git(tree.Path, "sparse-checkout", "set", "nothing")
		}, Summary{}},
		"unborn": {func(l *lab, tree *Tree) {
			l.git(tree.Path, "checkout", "-q", "--orphan", "new")
		}, Summary{Uncommitted: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			l, trees, tree, before := session(t)
			c.work(l, tree)
			got := summary(t, trees, tree, before)
			ignore := cmpopts.IgnoreFields(Summary{}, "Tree", "Main", "Before", "After", "Commits", "Files", "Elsewhere")
			if d := cmp.Diff(&c.want, got, ignore); d != "" {
				t.Errorf("-want +got:\n%s\n%s", d, got.Text())
			}
		})
	}
}

// A session that puts FIFOs where git reads costs no more than the time that a summary has.
func TestSummaryIsBounded(t *testing.T) {
	l, trees, tree, before := session(t)
	l.work(tree)
	for _, path := range []string{tree.Path + "/new/.gitignore", tree.Admin + "/index"} {
		os.Remove(path)
		mkfifo(t, path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	sum, err := trees.Summary(ctx, tree, before)
	if err != nil {
		t.Fatal(err)
	}
	if sum.CommitCount != 1 || len(sum.Notes) != 1 || !strings.Contains(sum.Text(), "note: not found out") {
		t.Errorf("%s", sum.Text())
	}
}

func TestList(t *testing.T) {
	l, trees, first, _ := session(t)
	second := l.make("r", "second", "")
	l.git(second.Path, "checkout", "-q", "-b", "mine")
	gone := l.make("r", "gone", "")
	os.RemoveAll(gone.Path)
	first.Notes, second.Branch = nil, "mine"
	gone.Condition, gone.Why = Missing, "its folder "+gone.Path+" is gone"
	diff(t, trees.List(), []*Tree{gone, first, second})
	l.repo("another")
	if list := l.open("another").List(); len(list) != 0 {
		t.Errorf("another repository's: %v", list)
	}
}

func TestDrop(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		work  func(*lab, *Tree)
		lost  string // refused, for this
		stays bool   // the branch stays
	}{
		"nothing done": {work: func(*lab, *Tree) {}},
		"merged": {work: func(l *lab, tree *Tree) {
			l.commit(tree.Path, "three")
			l.git("r", "merge", "-q", tree.Name)
		}},
		"on a remote": {work: func(l *lab, tree *Tree) {
			l.commit(tree.Path, "three")
			l.git("r", "update-ref", "refs/remotes/origin/x", tree.Name)
		}},
		"ignored": {work: func(l *lab, tree *Tree) { l.write(tree.Path+"/x.o", "") }},
		"folders that cannot be written": {work: func(l *lab, tree *Tree) {
			l.write(tree.Path+"/y.o/f", "")
			os.Chmod(tree.Path+"/y.o", 0o500)
		}},
		"the folder is gone": {work: func(l *lab, tree *Tree) { os.RemoveAll(tree.Path) }},
		"changed":            {work: func(l *lab, tree *Tree) { l.write(tree.Path+"/file", "x") }, lost: "1 file with changes"},
		"staged": {work: func(l *lab, tree *Tree) {
			l.write(tree.Path+"/staged", "x")
			l.git(tree.Path, "add", "staged")
		}, lost: "1 file with changes"},
		"untracked": {work: func(l *lab, tree *Tree) { l.write(tree.Path+"/u", "x") }, lost: "1 untracked file or folder"},
		"commits":   {work: func(l *lab, tree *Tree) { l.commit(tree.Path, "three") }, lost: "1 commit that no other branch or tag has"},
		"commits of a folder that is gone": {work: func(l *lab, tree *Tree) {
			l.commit(tree.Path, "three")
			os.RemoveAll(tree.Path)
		}, lost: "1 commit that no other branch or tag has"},
		"detached commits": {work: func(l *lab, tree *Tree) {
			l.git(tree.Path, "checkout", "-q", "--detach")
			l.commit(tree.Path, "three")
		}, lost: "1 commit that no other branch or tag has"},
		"on another branch": {work: func(l *lab, tree *Tree) {
			l.git(tree.Path, "checkout", "-q", "-b", "mine")
			l.commit(tree.Path, "three")
		}},
		"branch checked out elsewhere": {work: func(l *lab, tree *Tree) {
			l.commit(tree.Path, "three")
			l.git("r", "worktree", "add", "-q", "--force", "../w", tree.Name)
		}, stays: true},
		"submodule": {work: func(l *lab, tree *Tree) { l.mkdir(tree.Admin + "/modules/x") }, lost: "the repositories of its submodules"},
	} {
		t.Run(name, func(t *testing.T) {
			l, trees, tree, _ := session(t)
			c.work(l, tree)
			_, err := trees.Drop(ctx, tree.Name, false)
			if c.lost != "" {
				if !errors.Is(err, ErrUnsaved) || !strings.Contains(err.Error(), "would lose "+c.lost+"\n") {
					t.Errorf("have %v\nwant %q", err, c.lost)
				}
				var done *Dropped
				if done, err = trees.Drop(ctx, tree.Name, true); err == nil {
					diff(t, done.Lost, []string{c.lost})
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if exists(tree.Path) || exists(tree.Admin) || len(trees.List()) != 0 {
				t.Error("something is left of it")
			}
			if _, err := l.tryGit("r", "rev-parse", "--verify", "refs/heads/"+tree.Name); (err == nil) != c.stays {
				t.Errorf("the branch stays: %v", !c.stays)
			}
			l.make("r", "it's/new", "") // and all is as if it had never been
		})
	}
}

// A branch that was there before stays, and a locked worktree is not touched, forced or not.
func TestDropSpares(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	l.repo("r")
	l.git("r", "branch", "mine")
	l.git("r", "worktree", "add", "-q", "../w", "mine")
	l.commit("w", "mine")
	l.git("r", "worktree", "remove", "../w")
	tree, trees := l.make("r", "mine", ""), l.open("r")
	l.git("r", "worktree", "lock", tree.Path)
	if _, err := trees.Drop(ctx, "mine", true); !errors.Is(err, ErrCondition) || !strings.Contains(err.Error(), "git worktree unlock") {
		t.Errorf("locked: %v", err)
	}
	l.git("r", "worktree", "unlock", tree.Path)
	if _, err := trees.Drop(ctx, "mine", true); err != nil {
		t.Fatal(err)
	}
	diff(t, l.git("r", "log", "-1", "--format=%s", "mine"), "mine")
	if _, err := trees.Drop(ctx, "mine", true); !errors.Is(err, ErrNone) {
		t.Errorf("again: %v", err)
	}
}

// A link that a session left in its folder is removed, not what it leads to.
func TestDropFollowsNoLink(t *testing.T) {
	l, trees, tree, _ := session(t)
	l.write("elsewhere/f", "mine")
	before := l.files("elsewhere")
	l.link(l.at("elsewhere"), tree.Path+"/link")
	l.link(l.at("elsewhere"), tree.Admin+"/link")
	if _, err := trees.Drop(context.Background(), tree.Name, true); err != nil {
		t.Fatal(err)
	}
	diff(t, l.files("elsewhere"), before)
}

// Of what is only untracked a diff says nothing.
func TestUntrackedAlone(t *testing.T) {
	m := Summary{Main: "/r", After: &State{}, Before: &State{}, Untracked: 1, Tree: &Tree{Path: "/t", Name: "x"}}
	want := []Command{{"look", "git -C /t status"}, {"drop", "sidecar worktree drop -w /r x"}}
	if d := cmp.Diff(want, m.Commands()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A branch is told in a way that git reads as nothing else, or by its commit, and so is where the worktree started.
func TestAMisleadingBranch(t *testing.T) {
	start, end := strings.Repeat("ab", 20), strings.Repeat("12", 20)
	for branch, what := range map[string]string{"topic": "refs/heads/topic", "refs/heads/q": "refs/heads/refs/heads/q", "heads/main": "refs/heads/heads/main",
		"--output=/home/me/.bashrc": end, "HEAD": end, "a..b": end, "": end} {
		m := Summary{Main: "/r", Before: &State{Commit: start}, After: &State{Branch: branch, Commit: end}, Ahead: 1, Tree: &Tree{Path: "/t", Name: "x", Start: start}}
		want := []Command{{"look", "git -C /r diff " + start + " " + what}, {"take", "git -C /r merge " + what},
			{"or", "git -C /r cherry-pick " + start + ".." + what}, {"drop", "sidecar worktree drop -w /r x"}}
		if d := cmp.Diff(want, m.Commands()); d != "" {
			t.Errorf("%q: -want +got:\n%s", branch, d)
		}
	}
}

// What a session called like its branch, or like the beginning of a hash, is not taken in its place.
func TestNamesakesOfABranch(t *testing.T) {
	l, trees, tree, before := session(t)
	l.work(tree)
	start := l.git("r", "rev-parse", "main")
	l.git(tree.Path, "commit", "--allow-empty", "-qm", "unseen")
	unseen := l.git(tree.Path, "rev-parse", "HEAD")
	l.git(tree.Path, "reset", "-q", "--hard", "HEAD~")
	l.git(tree.Path, "tag", tree.Name, unseen)
	l.git(tree.Path, "tag", start[:12], unseen)
	for _, c := range summary(t, trees, tree, before).Commands()[:2] {
		words := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(c.Line, `'\''`, "\x00"), "'", ""))
		for _, word := range words[4:] {
			word = strings.ReplaceAll(word, "\x00", "'")
			if at := l.git("r", "rev-parse", "--verify", "--end-of-options", word); at == unseen {
				t.Errorf("%s: %s is taken for what the session called so", c.Line, word)
			}
		}
	}
}
