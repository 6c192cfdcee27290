//go:build unix

package guard

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// oddOf judges a file as an index.
func oddOf(t *testing.T, file string) string {
	t.Helper()
	dir, err := unix.Open(filepath.Dir(file), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	why, _ := oddIndex(dir, filepath.Base(file))
	return why
}

// What git itself writes is plain, in every form that it has.
func TestGitsOwnIndexes(t *testing.T) {
	for name, script := range map[string]string{
		"empty":          "git init -q . && git add .",
		"version 2":      "git init -q . && $MANY",
		"version 3":      "git init -q . && $MANY && git add -N late && git update-index --skip-worktree d/f1",
		"version 4":      "git init -q . && git config index.version 4 && $MANY",
		"split":          "git init -q . && git config splitIndex.maxPercentChange 100 && $MANY && git update-index --split-index && echo more >d/more && git add d/more",
		"sha256":         "git init -q --object-format=sha256 . && $MANY",
		"sha256, v4":     "git init -q --object-format=sha256 . && git config index.version 4 && $MANY",
		"in parallel":    "git init -q . && git config index.threads 4 && mkdir p && (cd p && seq 21000 | xargs touch) && git add .",
		"in parallel v4": "git init -q . && git config index.version 4 && git config index.threads 4 && mkdir p && (cd p && seq 21000 | xargs touch) && git add .",
		"sparse":         "git init -q . && $MANY && git commit -qm 1 && git sparse-checkout set --cone --sparse-index d",
		"a conflict":     "git init -q . && $MANY && git commit -qm 1 && git checkout -qb o && echo 2 >a && git commit -qam 2 && git checkout -q - && echo 3 >a && git commit -qam 3 && ! git merge -q o",
		"untracked":      "git init -q . && $MANY && git update-index --untracked-cache && git status -s",
		"no hash":        "git init -q . && git config index.skipHash true && $MANY",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			many := "mkdir d e; touch late; for i in 1 2 3 40 500; do echo $i >d/f$i; echo $i >e/f$i; done; echo 1 >a; printf x >\"$(printf %0250d 1)\"; git add a d e 0*"
			p.sh("mkdir r; cd r; export MANY='" + many + "'; " + strings.ReplaceAll(script, "$MANY", `eval "$MANY"`))
			files, _ := filepath.Glob(p.root + "/r/.git/*index*")
			for _, file := range files {
				if why := oddOf(t, file); why != "" {
					t.Errorf("%s: %s", filepath.Base(file), why)
				}
			}
			if name != "empty" && len(files) == 0 {
				t.Error("there is no index")
			}
		})
	}
}

// forged is an index of paths, as version 2 has it.
func forged(paths ...string) []byte {
	body := []byte("DIRC\x00\x00\x00\x02")
	body = binary.BigEndian.AppendUint32(body, uint32(len(paths)))
	for _, path := range paths {
		var stat [60]byte
		binary.BigEndian.PutUint32(stat[24:], 0o100644)
		e := binary.BigEndian.AppendUint16(stat[:], uint16(min(len(path), 0xfff)))
		e = append(e, path...)
		body = append(body, e...)
		body = append(body, make([]byte, 8-len(e)%8)...)
	}
	return append(body, make([]byte, 20)...)
}

// endless has a long name, and in a few bytes each the same one many times more.
func endless() []byte {
	entry := func(strip byte, suffix string) []byte {
		e := make([]byte, 62, 62+len(suffix)+2)
		e[60], e[61] = 0x0f, 0xff
		return append(append(append(e, strip), suffix...), 0) //nolint:makezero // the stat is zeros
	}
	const more = 20_000
	body := append([]byte("DIRC\x00\x00\x00\x04"), binary.BigEndian.AppendUint32(nil, more+1)...)
	body = append(body, entry(0, strings.Repeat("x", 60_000))...)
	for range more {
		body = append(body, entry(1, "x")...)
	}
	return append(body, make([]byte, 20)...)
}

func TestForgedIndexes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "index")
	ieot := forged("a", "b")
	ieot = append(ieot[:len(ieot)-20], append([]byte("IEOT\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x20\x00\x00\x00\x02"), make([]byte, 20)...)...)
	blocks := forged("a", "b")
	blocks = append(blocks[:len(blocks)-20], append([]byte("IEOT\x00\x20\x00\x04"), make([]byte, 1<<21+4+20)...)...)
	eoie := forged("a", "b")
	eoie = append(eoie[:len(eoie)-20], append([]byte("EOIE\x00\x00\x00\x18\x00\x00\x00\x0c"), make([]byte, 20+20)...)...)
	long := strings.Repeat("x/", 3000)
	for name, tt := range map[string]struct {
		index []byte
		odd   string
	}{
		"plain":                    {forged("a", "d/.gitignore", "..a", "a..", ".git2", "d/x.git"), ""},
		"long":                     {forged(long + "y"), ""},
		"long and odd":             {forged(long + "../y"), "x/x/"},
		"above":                    {forged("a", "../b"), "../b"},
		"far above":                {forged("a/../../b"), "a/../../b"},
		"absolute":                 {forged("/etc/x"), "/etc/x"},
		"in the git dir":           {forged(".git/hooks/x"), ".git/hooks/x"},
		"in a git dir":             {forged("a/.GIT/config"), "a/.GIT/config"},
		"under its short name":     {forged("git~1/config"), "git~1/config"},
		"here":                     {forged("./a"), "./a"},
		"no name":                  {forged("a//b"), "a//b"},
		"empty":                    {forged(""), ""},
		"a zero":                   {forged("a\x00/../b"), "its entry"},
		"cut off":                  {forged("a", "b")[:90], "not written the way git writes it"},
		"no index":                 {[]byte("hello, this is no index"), "not written the way git writes it"},
		"a later version":          {append([]byte("DIRC\x00\x00\x00\x05"), forged("a")[8:]...), "not written the way git writes it"},
		"blocks that lie":          {ieot, "not written the way git writes it"},
		"an end that lies":         {eoie, "not written the way git writes it"},
		"blocks without end":       {blocks, "not written the way git writes it"},
		"names without end":        {endless(), "not written the way git writes it"},
		"nothing, as git may have": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, tt.index, 0o600); err != nil {
				t.Fatal(err)
			}
			why := oddOf(t, file)
			if tt.odd == "" && why != "" || !strings.Contains(why, tt.odd) || tt.odd != "" && why == "" {
				t.Errorf("got %q, want %q", why, tt.odd)
			}
		})
	}
}

// Of an index only what a run changed is judged, and what git wrote in a run stays.
func TestIndexes(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh(hostRepo)
		if err := os.WriteFile(p.root+"/odd", forged("../b"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.sh("git init -q before; cp odd before/.git/index; git init -q mapped; echo 1 >mapped/f; git -C mapped add f")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("echo 2 >x; git add x; git init -q own; echo 1 >own/f; git -C own add f; git init -q new; cp odd new/.git/index; cp odd new/.git/sharedindex.1; cat odd >mapped/.git/index")
		p.want(p.end(w), "disarmed mapped/.git/index", "disarmed new/.git/index", "disarmed new/.git/sharedindex.1")
		p.sh("git ls-files | grep x; git -C own ls-files | grep f; test -e before/.git/index")
	})
}

// Where a linked worktree's folder leads is the host's to say; remotes of old are not a run's to make; and no pipe stays for git.
func TestWhatElseGitObeys(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh(hostRepo + "; git commit -q --allow-empty -m 1; git worktree add -q ../host; mkdir ../far")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("git worktree add -q ../late; git worktree add -q inside; mkdir -p .git/worktrees/x; cd .git/worktrees/x; echo ../.. >commondir; echo ref: refs/heads/x >HEAD; echo $ROOT/../far/.git >gitdir")
		p.sh("echo $ROOT/../far/.git >.git/worktrees/host/gitdir; mkdir .git/remotes; echo URL: x >.git/remotes/origin; git init -q n; mkdir -p n/.git/branches; echo x >n/.git/branches/b; mkfifo .gitignore .mailmap n/.git/packed-refs")
		p.want(p.end(w), "disarmed .git/remotes", "disarmed .git/worktrees/host/gitdir", "disarmed .git/worktrees/x/gitdir", "disarmed .gitignore", "disarmed .mailmap", "disarmed n/.git/branches", "disarmed n/.git/packed-refs")
		p.sh("git -C ../host status -s; git -C ../late status -s; git -C inside status -s; grep -q /host/.git .git/worktrees/host/gitdir; test ! -e .gitignore; ! find . -type p | grep .")
	})
}

// A repository that the guard has found and told of is told of again when a run began with it.
func TestFoundIsToldAgain(t *testing.T) {
	p := newPlace(t)
	p.sh("git init -q .; git init -q sub")
	for range 3 {
		w := p.guard(Options{GitDirs: []string{p.root + "/.git"}}, BeginOptions{GitDirs: []string{p.root + "/.git", p.root + "/sub/.git"}})
		p.want(p.end(w))
		if k := p.g.Known(); len(k.Repositories) != 1 || k.Repositories[0] != p.root+"/sub/.git" {
			t.Fatalf("%+v", k)
		}
	}
}

// Whatever an index has, reading it ends, without more memory than its names take.
func FuzzIndex(f *testing.F) {
	f.Add(forged("a", "b/c"))
	f.Add(forged("../x"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, index []byte) {
		file := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(file, index, 0o600); err != nil {
			t.Fatal(err)
		}
		if why := oddOf(t, file); strings.Contains(why, "\n") && !strings.Contains(string(index), "\n") {
			t.Errorf("%s", fmt.Sprintf("%q", why))
		}
	})
}
