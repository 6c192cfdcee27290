package linked

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A worktree has the files that git's own would have, git finds it clean, and nothing but refs and "worktrees" is
// other than before in the person's repository.
func TestMake(t *testing.T) {
	plain := func(l *lab) string { l.repo("r"); return "r" }
	for name, setUp := range map[string]func(*lab) string{
		"plain":       plain,
		"a subfolder": func(l *lab) string { l.repo("r"); l.mkdir("r/sub"); return "r/sub" },
		"linked":      func(l *lab) string { l.repo("r"); l.git("r", "worktree", "add", "-q", "../w"); return "w" },
		"bare":        func(l *lab) string { l.repo("r"); l.git("", "clone", "-q", "--bare", "r", "b.git"); return "b.git" },
		"bare, linked": func(l *lab) string {
			l.repo("r")
			l.git("", "clone", "-q", "--bare", "r", "b.git")
			l.git("b.git", "worktree", "add", "-q", "../w", "-b", "w")
			return "w"
		},
		"sha256": func(l *lab) string { l.repo("r", "--object-format=sha256"); return "r" },
		"packed": func(l *lab) string {
			l.repo("r")
			l.git("r", "gc", "-q")
			return "r"
		},
		"detached": func(l *lab) string { l.repo("r"); l.git("r", "checkout", "-q", "--detach"); return "r" },
		"split index": func(l *lab) string {
			l.repo("r")
			l.git("r", "update-index", "--split-index")
			return "r"
		},
		"worktree config": func(l *lab) string {
			l.repo("r")
			l.write("r/sub/f", "x")
			l.commit("r", "two")
			l.git("r", "sparse-checkout", "set", "sub")
			return "r"
		},
		"shallow": func(l *lab) string {
			l.repo("r")
			l.commit("r", "two")
			l.git("", "clone", "-q", "--depth=1", "file://"+l.at("r"), "s")
			return "s"
		},
		"alternates": func(l *lab) string { l.repo("r"); l.git("", "clone", "-q", "--shared", "r", "s"); return "s" },
		"separate git dir": func(l *lab) string {
			l.repo("r", "--separate-git-dir="+l.at("g"))
			l.git("r", "config", "core.worktree", l.at("r"))
			return "r"
		},
		"worktrees with relative paths": func(l *lab) string {
			l.repo("r")
			l.git("r", "worktree", "add", "-q", "../w")
			l.write("w/.git", "gitdir: ../r/.git/worktrees/w\n")
			return "w"
		},
		"in a submodule": func(l *lab) string {
			l.repo("lib")
			l.repo("r")
			l.git("r", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", l.at("lib"), "lib")
			l.commit("r", "lib")
			return "r/lib"
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			dir := setUp(l)
			trees := l.open(dir)
			before := l.files("", "state")
			tree := l.make(dir, "topic", "")
			l.untouched(before, l.files("", "state"))
			l.clean(tree)
			diff(t, tree.Path, l.at("state/"+filepath.Base(trees.Folder)+"/topic"))
			l.git(dir, "worktree", "add", "-q", "--force", l.at("control"), "topic")
			l.git(dir, "worktree", "remove", "--force", l.at("control"))
			if again := l.make(dir, "topic", ""); !again.Reopened || again.Path != tree.Path {
				t.Errorf("asked again: %+v", again)
			}
			if _, err := trees.Drop(context.Background(), "topic", false); err != nil {
				t.Fatal(err)
			}
			diff(t, l.files("", "state"), before)
		})
	}
}

// untouched fails when anything that was there before is another, or there is more than a worktree and a branch.
func (l *lab) untouched(before, after map[string]string) {
	l.t.Helper()
	for name, was := range before {
		if after[name] != was {
			l.t.Errorf("%s is %q now, and was %q", name, after[name], was)
		}
	}
	for name := range after {
		if _, was := before[name]; !was && !strings.HasSuffix(name, "/worktrees") && !strings.Contains(name, "worktrees/topic") && !strings.HasSuffix(name, "/refs/heads/topic") &&
			!strings.HasSuffix(name, "refs/heads") && !strings.HasSuffix(name, "worktrees") {
			l.t.Errorf("%s is new", name)
		}
	}
}

func diff(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Line ends, encodings, keywords, modes and links come out as from git's own checkout.
func TestMakeWritesWhatGitWrites(t *testing.T) {
	for name, config := range map[string][]string{
		"default":  nil,
		"autocrlf": {"core.autocrlf", "true"},
		"eol":      {"core.eol", "crlf"},
		"filemode": {"core.filemode", "false"},
		"symlinks": {"core.symlinks", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.repo("r")
			l.write("r/.gitattributes", "auto text=auto\ncrlf text eol=crlf\nident ident\nutf16 text working-tree-encoding=UTF-16LE\nbin -text\n")
			for _, f := range []string{"auto", "crlf", "bin", "sub/auto"} {
				l.write("r/"+f, "a\nb\n")
			}
			l.write("r/utf16", "a\x00\n\x00")
			l.write("r/ident", "$Id$\n")
			l.script("r/run", "true")
			l.link("auto", "r/link")
			l.link("/nowhere", "r/sub/link")
			l.commit("r", "all")
			l.write("r/.git/info/attributes", "info text eol=crlf\n")
			l.write("home/.config/git/attributes", "mine text eol=crlf\n")
			l.write("r/info", "a\nb\n")
			l.write("r/mine", "a\nb\n")
			l.commit("r", "by info")
			if config != nil {
				l.git("r", append([]string{"config"}, config...)...)
			}
			tree := l.make("r", "topic", "")
			l.clean(tree)
			l.git("r", "worktree", "add", "-q", l.at("control"))
			diff(t, l.files(tree.Path, ".git"), l.files("control", ".git"))
		})
	}
}

// Of many who make one name at once, one makes it and the others open it.
func TestMakersAtOnce(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	var wg sync.WaitGroup
	trees := make([]*Tree, 8)
	for i := range trees {
		wg.Go(func() {
			var err error
			if trees[i], err = l.open("r").Make(context.Background(), "topic", "main"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	made := 0
	for _, tree := range trees {
		if !tree.Reopened {
			made++
		}
		if tree.Path != trees[0].Path || tree.Condition != Ready {
			t.Errorf("%+v", tree)
		}
	}
	if made != 1 {
		t.Errorf("%d made it", made)
	}
	l.clean(trees[0])
}

// A making that was broken off at any step is cleared away by the next, and so is the branch.
func TestMakeAfterACrash(t *testing.T) {
	ctx := context.Background()
	steps := map[string]func(*Trees, *shadow, *record) error{
		"record": func(*Trees, *shadow, *record) error { return nil },
		"folder": func(t *Trees, _ *shadow, r *record) error { return os.Mkdir(t.path(r.Name), 0o777) },
		"admin": func(t *Trees, _ *shadow, r *record) (err error) {
			r.Admin, err = t.makeAdmin(r)
			if err == nil {
				err = t.writeRecord(r)
			}
			return err
		},
		"links": func(t *Trees, _ *shadow, r *record) error {
			return writeNew(t.path(r.Name)+"/.git", "gitdir: "+r.Admin+"\n")
		},
		"stage":   func(t *Trees, _ *shadow, r *record) error { return os.Mkdir(t.Common+"/"+r.Stage, 0o777) },
		"unstage": func(t *Trees, _ *shadow, r *record) error { return os.Remove(t.Common + "/" + r.Stage) },
		"branch":  func(t *Trees, s *shadow, r *record) error { return t.makeBranch(ctx, s, r) },
		"files": func(t *Trees, s *shadow, r *record) error {
			s.at(t.path(r.Name), r.Admin)
			_, err := s.checkOut(ctx, r.Start)
			return err
		},
	}
	order := []string{"record", "folder", "stage", "unstage", "admin", "links", "branch", "files"}
	for last := range order {
		t.Run(order[last], func(t *testing.T) {
			l := newLab(t)
			l.repo("r")
			trees := l.open("r")
			s, err := trees.shadow(trees.ws.Repo.GitDir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			rec := trees.newRecord("topic")
			if _, err := trees.startOf(ctx, s, rec, ""); err != nil {
				t.Fatal(err)
			}
			if err := trees.writeRecord(rec); err != nil {
				t.Fatal(err)
			}
			for _, name := range order[:last+1] {
				if err := steps[name](trees, s, rec); err != nil {
					t.Fatal(name, err)
				}
			}
			tree := l.make("r", "topic", "")
			if tree.Reopened || !tree.OwnBranch {
				t.Errorf("%+v", tree)
			}
			l.clean(tree)
			if got := l.git("r", "worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 2 || strings.Contains(got, "locked") {
				t.Error(got)
			}
			if exists(trees.Common + "/" + rec.Stage) {
				t.Error("the stage is still there")
			}
		})
	}
}

// What fails or is cancelled leaves nothing behind.
func TestMakeLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.repo("r")
	l.write("r/big", strings.Repeat("x", 1000))
	l.commit("r", "big")
	blob := l.git("r", "rev-parse", "HEAD:big")
	os.Remove(l.at("r/.git/objects/" + blob[:2] + "/" + blob[2:]))
	before := l.files("r")
	_, err := l.open("r").Make(context.Background(), "topic", "")
	if err == nil || !strings.Contains(err.Error(), blob) {
		t.Errorf("with a blob missing: %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.open("r").Make(cancelled, "other", ""); err == nil {
		t.Error("it was cancelled")
	}
	diff(t, l.files("r"), before)
	for name := range l.files("state") {
		if base := filepath.Base(name); base == "topic" || base == "other" || strings.HasSuffix(name, ".json") || strings.HasPrefix(base, prefix) {
			t.Errorf("left: %s", name)
		}
	}
}
