package linked

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What cannot be made is refused with a kind, the reason and what to do.
func TestRefusals(t *testing.T) {
	none := func(*lab) {}
	for name, c := range map[string]struct {
		setUp      func(*lab)
		name, base string
		kind       error
		says       string
	}{
		"option as name":       {none, "-f", "", ErrName, "begin with a dash\nfor example \"f\""},
		"dots":                 {none, "../x", "", ErrName, "two dots"},
		"option as base":       {none, "topic", "--upload-pack=touch mark", ErrBase, "that is an option"},
		"a reference's name":   {none, "refs/heads/q", "", ErrName, "for another reference\nfor example \"q\""},
		"a short one":          {none, "tags/HEAD", "", ErrName, "for another reference\nchoose"},
		"no such base":         {none, "topic", "mian", ErrBase, "no such branch, tag or commit\nthere is main"},
		"base of another kind": {none, "topic", "HEAD:file", ErrBase, "no such"},
		"remote's branch": {func(l *lab) {
			l.git("r", "update-ref", "refs/remotes/origin/feature", "HEAD")
		}, "topic", "feature", ErrBase, "there is origin/feature"},
		"unborn":              {func(l *lab) { l.git("r", "checkout", "-q", "--orphan", "new") }, "topic", "", ErrBase, "no commit yet"},
		"checked out in main": {func(l *lab) { l.git("r", "checkout", "-q", "-b", "topic") }, "topic", "", ErrInUse, "is checked out in LAB/r\n"},
		"checked out linked":  {func(l *lab) { l.git("r", "worktree", "add", "-q", "../w", "-b", "topic") }, "topic", "", ErrInUse, "is checked out in LAB/w\n"},
		"being rebased": {func(l *lab) {
			l.git("r", "checkout", "-q", "-b", "topic")
			l.commit("r", "more")
			l.tryGit("r", "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-i", "HEAD~")
		}, "topic", "main", ErrInUse, "is checked out in LAB/r\n"},
		"branch and base differ": {func(l *lab) {
			l.git("r", "branch", "topic")
			l.commit("r", "more")
		}, "topic", "main", ErrInUse, "a branch of this name already"},
		"branch above":         {func(l *lab) { l.git("r", "branch", "a") }, "a/b", "", ErrInUse, `there is a branch "a"`},
		"branch above, packed": {func(l *lab) { l.git("r", "branch", "a"); l.git("r", "pack-refs", "--all") }, "a/b", "", ErrInUse, "choose another name"},
		"branch below":         {func(l *lab) { l.git("r", "branch", "a/b") }, "a", "", ErrInUse, "choose another name"},
		"a link in the way of the branch": {func(l *lab) {
			l.link(l.at("elsewhere"), "r/.git/refs/heads/a")
			l.mkdir("elsewhere")
		}, "a/b", "", ErrInUse, "only one of the two"},
		"a lock on the branch": {func(l *lab) { l.write("r/.git/refs/heads/topic.lock", "") }, "topic", "", ErrInUse, "look for a lock"},
		"folder is there": {func(l *lab) {
			l.mkdir(l.open("r").path("topic"))
		}, "topic", "", ErrCondition, "exists and is no worktree of"},
		"folder gone": {func(l *lab) {
			os.RemoveAll(l.make("r", "topic", "").Path)
		}, "topic", "", ErrCondition, `is gone` + "\n" + `its commits are in the branch; "sidecar worktree drop topic"`},
		"folder gone, locked": {func(l *lab) {
			tree := l.make("r", "topic", "")
			l.git("r", "worktree", "lock", "--reason", "on a stick", tree.Path)
			os.RemoveAll(tree.Path)
		}, "topic", "", ErrCondition, "it is locked (on a stick)"},
		"moved": {func(l *lab) {
			l.git("r", "worktree", "move", l.make("r", "topic", "").Path, l.at("w"))
		}, "topic", "", ErrCondition, "it was moved to LAB/w\nstart sidecar there"},
		"exchanged for another repository": {func(l *lab) {
			tree := l.make("r", "topic", "")
			os.Remove(tree.Path + "/.git")
			l.git(tree.Path, "init", "-q", ".")
		}, "topic", "", ErrCondition, "do not belong together"},
		"pointer elsewhere": {func(l *lab) {
			l.repo("evil")
			l.write(l.make("r", "topic", "").Path+"/.git", "gitdir: "+l.at("evil/.git")+"\n")
		}, "topic", "", ErrCondition, "leads to"},
		"commondir elsewhere": {func(l *lab) {
			l.repo("evil")
			l.write(l.make("r", "topic", "").Admin+"/commondir", l.at("evil/.git")+"\n")
		}, "topic", "", ErrCondition, "leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.repo("r")
			c.setUp(l)
			before := l.files("r")
			_, err := l.open("r").Make(context.Background(), c.name, c.base)
			want := strings.ReplaceAll(c.says, "LAB", l.dir)
			var e *Error
			if !errors.Is(err, c.kind) || !errors.As(err, &e) || e.Hint == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("have %v\nwant %q", err, want)
			}
			diff(t, l.files("r"), before)
		})
	}
}

// Folders of which no worktree can be made.
func TestNoRepository(t *testing.T) {
	for name, c := range map[string]struct {
		setUp func(*lab) string
		says  string
	}{
		"none":       {func(l *lab) string { l.mkdir("x"); return "x" }, "no git repository here"},
		"broken":     {func(l *lab) string { l.write("x/.git", "gitdir: nowhere\n"); return "x" }, "no git repository here"},
		"a stranger": {func(l *lab) string { l.repo("r"); os.Lchown(l.at("r/.git"), 4711, 4711); return "r" }, "safe.directory"},
		"another's git dir": {func(l *lab) string {
			l.repo("r")
			l.write("x/.git", "gitdir: "+l.at("r/.git")+"\n")
			return "x"
		}, "it is the repository of"},
		"reftable": {func(l *lab) string {
			l.repo("r")
			l.git("r", "config", "extensions.refStorage", "reftable")
			return "r"
		}, `its refs are stored as "reftable"`},
		"worktrees is a link": {func(l *lab) string {
			l.repo("r")
			l.mkdir("elsewhere")
			l.link(l.at("elsewhere"), "r/.git/worktrees")
			return "r"
		}, "is no folder of its own"},
		"refs are a link": {func(l *lab) string {
			l.repo("r")
			os.Rename(l.at("r/.git/refs"), l.at("elsewhere"))
			l.link(l.at("elsewhere"), "r/.git/refs")
			return "r"
		}, "is no folder of its own"},
		"the folder lies in the checkout": {func(l *lab) string {
			l.repo("r")
			l.mkdir("r/state")
			l.link("r/state", "state")
			return "r"
		}, "lies in LAB/r\n"},
		"a broken config": {func(l *lab) string { l.repo("r"); l.write("r/.git/config", "[core\n"); return "r" }, "bad config line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a stranger" && os.Geteuid() != 0 {
				t.Skip("needs root, to make a stranger's folder")
			}
			l := newLab(t)
			_, err := l.tryOpen(c.setUp(l))
			if want := strings.ReplaceAll(c.says, "LAB", l.dir); !errors.Is(err, ErrRepository) || !strings.Contains(err.Error(), want) {
				t.Errorf("have %v\nwant %q", err, want)
			}
		})
	}
}

// A link in the place of packed-refs would have git write where it leads.
func TestPackedRefsElsewhere(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	l.write("target", "mine\n")
	l.link(l.at("target"), "r/.git/packed-refs")
	if _, err := l.open("r").Make(context.Background(), "topic", ""); !errors.Is(err, ErrRepository) {
		t.Errorf("have %v", err)
	}
	diff(t, l.read("target"), "mine\n")
}

// FIFOs in the place of files do not hang it up.
func TestFIFOs(t *testing.T) {
	for _, name := range []string{"info/attributes", "info/exclude", "shallow", "FETCH_HEAD", "worktrees/x/gitdir"} {
		l := newLab(t)
		l.repo("r")
		l.mkdir("r/.git/worktrees/x")
		os.Remove(l.at("r/.git/" + name))
		mkfifo(t, l.at("r/.git/"+name))
		l.make("r", "topic", "")
	}
}

// Trees with names that lead out of the folder, or into ".git", are not written.
func TestHostileTrees(t *testing.T) {
	for _, name := range []string{".git", ".GIT", "git~1", "..", ".", ".g\u200cit"} {
		for _, inner := range []bool{false, true} {
			l := newLab(t)
			l.repo("r")
			blob := l.git("r", "rev-parse", "HEAD:file")
			mode, id := "100644", blob
			if inner {
				mode, id = "40000", l.tree("100644", "config", blob)
			}
			tree := l.tree(mode, name, id)
			commit := l.git("r", "commit-tree", tree, "-m", "evil")
			made, err := l.open("r").Make(context.Background(), "topic", commit)
			if err == nil && exists(made.Path+"/"+name) {
				t.Errorf("%q was written", name)
			}
			if err == nil || !strings.Contains(err.Error(), "take another base") {
				t.Errorf("%q (folder: %v): %v", name, inner, err)
			}
		}
	}
}

// tree writes a tree of one entry, whatever its name.
func (l *lab) tree(mode, name, id string) string {
	l.t.Helper()
	raw := make([]byte, 0, 20)
	for i := 0; i < len(id); i += 2 {
		raw = append(raw, unhex(id[i])<<4|unhex(id[i+1]))
	}
	out, err := l.pipeGit("r", mode+" "+name+"\x00"+string(raw), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	if err != nil {
		l.t.Fatal(out)
	}
	return strings.TrimSpace(out)
}

func unhex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// A link and files below its name in one tree: git writes one of them, and never through the link.
func TestLinkInTheWay(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	l.mkdir("elsewhere")
	blob := l.git("r", "rev-parse", "HEAD:file")
	target, err := l.pipeGit("r", l.at("elsewhere"), "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(target)
	}
	index := "120000 " + strings.TrimSpace(target) + "\tA\n100644 " + blob + "\ta/file\n"
	if out, err := l.pipeGit("r", index, "update-index", "--index-info"); err != nil {
		t.Fatal(out)
	}
	l.git("r", "commit", "-q", "-m", "case")
	tree := l.make("r", "topic", "")
	l.clean(tree)
	diff(t, l.files("elsewhere"), map[string]string{"": "drwxr-xr-x"})
}

// A partial clone: what is there is enough, or the hint says how to fetch what lacks.
func TestPartialClone(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	l.write("r/file", "two\n")
	l.commit("r", "two")
	l.git("r", "config", "uploadpack.allowFilter", "true")
	l.git("", "clone", "-q", "--filter=blob:none", "file://"+l.at("r"), "p")
	l.clean(l.make("p", "here", ""))
	_, err := l.open("p").Make(context.Background(), "there", "HEAD~")
	if err == nil || !strings.Contains(err.Error(), "git -C "+l.at("p")+" archive BASE") {
		t.Fatalf("have %v", err)
	}
	l.git("p", "archive", "-o", l.at("out.tar"), "HEAD~")
	l.clean(l.make("p", "there", "HEAD~"))
}

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
}
