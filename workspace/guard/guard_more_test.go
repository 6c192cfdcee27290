//go:build unix

package guard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const hostRepo = `git init -q -b main .; git config alias.x '!touch ../canary'; git init -q n; git -C n config core.pager "x \"y\" ; z"; echo '#!/bin/sh' >n/.git/hooks/pre-push; git -C n commit -q --allow-empty -m 1; mkdir -p .vscode d/.claude; echo 1 >.vscode/tasks.json; echo 1 >.envrc; echo 1 >d/.claude/settings.json`

func TestHostsOwnIsLeftAlone(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh(hostRepo)
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("git -C n commit -q --allow-empty -m 2; git -C n switch -qc b; git commit -q --allow-empty -m 3; git branch -q c; git -C n config branch.b.remote origin; git -C n gc -q")
		p.want(p.end(w))
	})
}

func TestHeldIsTheHosts(t *testing.T) {
	p := newPlace(t)
	p.sh(hostRepo)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{GitDirs: []string{p.root + "/.git"},
		Held: []string{p.root + "/.git/config", p.root + "/.vscode", p.root + "/.envrc", p.root + "/n/.git/config", p.root + "/.git/hooks"}})
	p.sh("echo 2 >.vscode/settings.json; echo 3 >.envrc.new; mv .envrc.new .envrc; git config user.name U; echo >.git/hooks/pre-push; git -C n config user.name U")
	p.want(p.end(w))
}

// TestHeldAgain: a mount that a program of the host took off is made anew. What replaces the file after that is the host's
// again; what changed in between may be the run's.
func TestHeldAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		between string
		want    []string
	}{"nothing in between": {":", nil}, "the run in between": {armIt + ".git/config", []string{"disarmed .git/config"}},
		"the run in its place": {"cp .git/config x; " + armIt + "x; mv x .git/config", []string{"disarmed .git/config"}}} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.sh("git init -q .")
			config, ready := p.root+"/.git/config", make(chan struct{})
			w := p.guard(Options{}, BeginOptions{GitDirs: []string{p.root + "/.git"}, Held: []string{config},
				Replaced: func(_ string, again func()) { <-ready; again() }})
			p.sh("git config branch.a.remote 1; " + tt.between)
			close(ready)
			for _, key := range []string{"me.b", "core.pager"}[:2-2*len(tt.want)] {
				w.run.t.drain()
				for held := false; !held; time.Sleep(time.Millisecond) {
					w.run.t.mu.Lock()
					held = w.run.again[config]
					w.run.t.mu.Unlock()
				}
				p.sh("git config " + key + " 2")
			}
			p.want(p.end(w), tt.want...)
			p.sh("git config branch.a.remote")
		})
	}
}

func TestChangedIsPutBack(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh(hostRepo + "; ln -s n/.git link; mkdir wt; echo gitdir: ../n/.git >wt/.git; mkdir h; echo old >h/run")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}, Watched: []Watched{
			{Path: p.root + "/link"}, {Path: p.root + "/h", Folder: true}, {Path: p.root + "/inc.conf"}, {Path: p.root + "/.envrc"}}})
		p.sh(armIt + "n/.git/config; git config alias.y '!evil'; git config branch.main.remote origin; echo evil >n/.git/hooks/pre-commit; perl -e 'unlink \"link\"; mkdir \"link\"'; echo evil >h/run; echo new >h/more; echo evil >inc.conf; echo evil >>.envrc")
		list := p.end(w)
		p.canary("n")
		for _, f := range []string{"n/.git/config", ".git/config", "n/.git/hooks/pre-commit", "h/run", "h/more", "inc.conf", "link", ".envrc"} {
			if !strings.Contains(strings.Join(p.brief(list), "\n")+"\n", "disarmed "+f+"\n") {
				t.Errorf("%s is not disarmed: %v", f, p.brief(list))
			}
		}
		p.sh(`test "$(cat h/run)" = old; test "$(cat .envrc)" = 1; test "$(readlink link)" = n/.git; test ! -e h/more; test ! -e inc.conf; test -e n/.git/hooks/pre-push; test ! -e n/.git/hooks/pre-commit
			test "$(git -C n config core.pager)" = 'x "y" ; z'; ! git -C n config core.fsmonitor; test "$(git config alias.x)" = '!touch ../canary'; ! git config alias.y; test "$(git config branch.main.remote)" = origin`)
	})
}

func TestSymlinkedGitDir(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q .; mv .git ../store; ln -s ../store .git; git commit -q --allow-empty -m 1")
		w := p.guard(o, BeginOptions{GitDirs: []string{filepath.Dir(p.root) + "/store"}, Watched: []Watched{{Path: p.root + "/.git"}}})
		p.sh("rm .git; mkdir .git; test -L .git || cp -r ../store/. .git/ || true; test -L .git || " + armIt + ".git/config || true")
		list := p.end(w)
		p.canary(".", ".git.disarmed-R")
		if to, _ := os.Readlink(p.root + "/.git"); to != "../store" || len(list) == 0 {
			t.Errorf("the link leads to %q, findings %v", to, list)
		}
	})
}

func TestClonesOwnFilesAreOnlyNoticed(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q ../up; cd ../up; mkdir .vscode; echo 1 >.vscode/tasks.json; echo 1 >.envrc; git add .; git commit -qm 1; mkdir $ROOT/old")
		w := p.guard(o, BeginOptions{})
		p.sh("git clone -q ../up c; git init -q old; echo 1 >old/.envrc; git init -q .; echo 1 >.mcp.json")
		p.want(p.end(w), "disarmed .mcp.json", "disarmed old/.envrc", "noticed c/.envrc", "noticed c/.vscode")
	})
}

func TestLocks(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q .; touch .git/HEAD.lock; git init -q n")
		w := p.guard(o, BeginOptions{GitDirs: []string{p.root + "/.git"}})
		p.sh("touch .git/config.lock n/.git/index.lock")
		p.want(p.end(w), "disarmed .git/config.lock", "disarmed n/.git/index.lock")
	})
}

// A person's git that goes on when a run ends keeps its lock, from whichever work tree of the repository it came.
func TestLocksOfAPersonsGit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("macOS does not tell which programs live, so every lock is left")
	}
	for name, c := range map[string]struct {
		folder    string
		arguments []string
		gitDir    string
		stays     bool
	}{
		"in the main work tree":                  {folder: "main/sub", stays: true},
		"in a linked work tree":                  {folder: "other", stays: true},
		"told the git dir":                       {folder: ".", arguments: []string{"--git-dir=main/.git"}, stays: true},
		"told the git dir in a word of its own":  {folder: "/", arguments: []string{"--git-dir", "ROOM/main/.git"}, stays: true},
		"told the git dir by a variable":         {folder: "far", gitDir: "../main/.git", stays: true},
		"told the git dir of a linked work tree": {folder: "/", gitDir: "ROOM/main/.git/worktrees/other", stays: true},
		"elsewhere":                              {folder: "/"},
		"in another repository":                  {folder: "far"},
		"in another's linked work tree":          {folder: "farther"},
		"told another repository":                {folder: "/", gitDir: "ROOM/far/.git"},
		"told one that is not there":             {folder: "/", gitDir: "ROOM/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.sh("git init -q ../main; cd ../main; git commit -q --allow-empty -m 1; rmdir $ROOT; git worktree add -q $ROOT; git worktree add -q ../other; mkdir sub; cp /bin/bash ../git")
			p.sh("git init -q ../far; cd ../far; git commit -q --allow-empty -m 1; git worktree add -q ../farther")
			room := filepath.Dir(p.root)
			common := room + "/main/.git"
			w := p.guard(Options{}, BeginOptions{GitDirs: []string{common + "/worktrees/ws", common}})
			cmd := exec.Command(room+"/git", "-c", "touch "+common+"/index.lock; echo; read", "git")
			for _, word := range c.arguments {
				cmd.Args = append(cmd.Args, strings.ReplaceAll(word, "ROOM", room))
			}
			if cmd.Dir = c.folder; c.folder != "/" {
				cmd.Dir = filepath.Join(room, c.folder)
			}
			if c.gitDir != "" {
				cmd.Env = append(os.Environ(), "GIT_DIR="+strings.ReplaceAll(c.gitDir, "ROOM", room))
			}
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = out.Read(make([]byte, 1))
			want := "disarmed ../main/.git/index.lock"
			if c.stays {
				want = "noticed ../main/.git/index.lock"
			}
			p.want(p.end(w), want)
			_ = in.Close()
			_ = cmd.Wait()
		})
	}
}

func TestOverlappingRunsAreBothTold(t *testing.T) {
	p := newPlace(t)
	w1 := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{RunID: "one"})
	w2 := p.g.Begin(BeginOptions{RunID: "two"})
	p.sh("git init -q s; " + armIt + "s/.git/config")
	p.want(p.end(w1), "disarmed s/.git/config")
	p.sh("echo >.envrc")
	p.want(p.end(w2), "disarmed .envrc", "disarmed s/.git/config")
	p.sh("echo >.envrc; git init -q h; " + armIt + "h/.git/config")
	w3 := p.g.Begin(BeginOptions{RunID: "three"})
	p.want(p.end(w3))
	if k := p.g.Known(); fmt.Sprint(k.Repositories) != fmt.Sprintf("[%[1]s/h/.git %[1]s/s/.git]", p.root) || len(k.Obeyed) != 1 {
		t.Errorf("known: %+v", k)
	}
}

func TestStorm(t *testing.T) {
	p := newPlace(t)
	stormed := make(chan bool)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{Storm: func() { close(stormed) }})
	deadline := time.After(20 * time.Second)
	for done := false; !done; {
		os.WriteFile(p.root+"/.envrc", nil, 0o644)
		select {
		case <-stormed:
			done = true
		case <-deadline:
			t.Fatal("no storm")
		default:
		}
	}
	p.end(w)
	if p.exists(".envrc") {
		t.Error("armed after the end")
	}
}

func TestLostEvents(t *testing.T) {
	p := newPlace(t)
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	p.g.tree.drainMu.Lock() // the guard sleeps while the run floods it
	for i := range 40_000 {
		os.WriteFile(fmt.Sprintf("%s/f%d", p.root, i%100), nil, 0o644)
		os.Remove(fmt.Sprintf("%s/f%d", p.root, i%100))
	}
	p.sh("git init -q s; " + armIt + "s/.git/config; echo >.envrc")
	p.g.tree.drainMu.Unlock()
	rep := w.End(context.Background())
	if !strings.Contains(rep.Degraded, "max_queued_events") {
		t.Errorf("degraded: %q", rep.Degraded)
	}
	p.want(rep.Findings, "disarmed .envrc", "disarmed s/.git/config")
	if p.g.Degraded() != "" {
		t.Error("degraded for good")
	}
}

func TestTooManyFolders(t *testing.T) {
	p := newPlace(t)
	w := p.guard(Options{Obeyed: obeyedNames, MaxFolders: 20}, BeginOptions{})
	p.sh("mkdir -p a{1..40}/b; git init -q a9/s; " + armIt + "a9/s/.git/config; echo >a40/b/.envrc")
	list := p.end(w)
	p.want(list, "disarmed a40/b/.envrc", "disarmed a9/s/.git/config")
	if p.g.Degraded() == "" {
		t.Error("not degraded")
	}
}

func TestLateWalk(t *testing.T) { lateWalk(t, BeginOptions{RunID: "R"}) }

// TestTheClockIsSetBack: what a run makes after that has an earlier time than the run's beginning had.
func TestTheClockIsSetBack(t *testing.T) {
	lateWalk(t, BeginOptions{RunID: "R", Start: time.Now().Add(time.Hour)})
}

func lateWalk(t *testing.T, o BeginOptions) {
	p := newPlace(t)
	p.sh("mkdir -p x/y; git init -q host; git -C host config alias.x '!y'; mkdir -p k/.vscode; echo 1 >k/.vscode/a; echo 1 >k/.envrc")
	time.Sleep(20 * time.Millisecond)
	g, err := Open(p.root, Options{Obeyed: obeyedNames, NoNotify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	w := g.Begin(o)
	p.sh("git init -q x/y; " + armIt + "x/y/.git/config; echo 2 >k/.vscode/b; echo >x/.envrc")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	rep := w.End(ctx)
	list := rep.Findings
	if rep.Rest != nil {
		for more := range rep.Rest {
			list = append(list, more...)
		}
	}
	p.want(list, "disarmed k/.vscode/b", "disarmed x/.envrc", "disarmed x/y/.git/config")
}

func TestHostileTree(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		w := p.guard(o, BeginOptions{})
		deepRepository(t, p.root, 500)
		p.sh(`mkfifo .envrc .mcp.json f; ln -s loop loop; ln -s . here; mkdir -p e/.git; ln -s config e/.git/config; mkdir e/.git/refs e/.git/objects; mkfifo e/.git/HEAD e/.git/commondir; mkdir -m 000 locked; ln -s e/.git s; mkdir z; ln -s ../z/.git z/.git`)
		ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
		defer stop()
		begin := time.Now()
		rep := w.End(ctx)
		if rep.Rest != nil {
			t.Error("not done")
		}
		deep := 0
		for _, f := range rep.Findings {
			if strings.HasSuffix(f.Path, "d/d/.git/config") {
				deep++
			}
		}
		if deep != 1 || p.exists(".envrc") || p.exists("e/.git/config") || p.exists("e/.git/commondir") {
			t.Errorf("left armed (deep %d of %d findings)", deep, len(rep.Findings))
		}
		t.Log(time.Since(begin))
	})
}

// deepRepository makes an armed repository deep down.
func deepRepository(t *testing.T, dir string, depth int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for i := 0; i <= depth && err == nil; i++ {
		name := "d"
		if i == depth {
			name = ".git"
		}
		var next int
		if err = unix.Mkdirat(fd, name, 0o755); err == nil {
			next, err = unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		unix.Close(fd)
		fd = next
	}
	if err != nil {
		t.Fatal(err)
	}
	config, err := unix.Openat(fd, "config", unix.O_CREAT|unix.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	unix.Write(config, []byte("[core]\n\tfsmonitor = x\n"))
	unix.Close(config)
	unix.Close(fd)
}

// TestSwappedFolders has a run swap folders for links to a host's folder as fast as it can, while the guard
// disarms: nothing outside may change.
func TestSwappedFolders(t *testing.T) {
	p := newPlace(t)
	p.sh("mkdir -p ../out/.git/hooks; cd ../out; for f in .envrc .mcp.json .git/config .git/commondir .git/HEAD .git/hooks/x; do echo evil >$f; done; mkdir .git/objects .git/refs .vscode")
	before := (&place{t: t, root: p.root + "/../out"}).tree()
	w := p.guard(Options{Obeyed: obeyedNames}, BeginOptions{})
	var wg sync.WaitGroup
	stop := time.Now().Add(2 * time.Second)
	for i := range 3 {
		wg.Go(func() { swap(fmt.Sprintf("%s/s%d", p.root, i), filepath.Dir(p.root)+"/out", stop) })
	}
	wg.Wait()
	list := p.end(w)
	if after := (&place{t: t, root: p.root + "/../out"}).tree(); after != before {
		t.Errorf("the guard was led outside:\n%s\nwas:\n%s", after, before)
	}
	if len(list) == 0 {
		t.Error("nothing was disarmed, so nothing was tested")
	}
	for _, f := range list {
		if !strings.HasPrefix(f.Path, p.root+"/s") {
			t.Errorf("outside: %v", f)
		}
	}
	for i := range 3 {
		if p.exists(fmt.Sprintf("s%d/.envrc", i)) {
			if to, _ := os.Readlink(fmt.Sprintf("%s/s%d", p.root, i)); to == "" {
				t.Errorf("s%d is armed", i)
			}
		}
	}
}

func swap(dir, out string, stop time.Time) {
	for time.Now().Before(stop) {
		os.MkdirAll(dir+"/.git/objects", 0o755)
		os.MkdirAll(dir+"/.git/refs", 0o755)
		os.MkdirAll(dir+"/.git/hooks", 0o755)
		os.WriteFile(dir+"/.git/HEAD", []byte("ref: refs/heads/x\n"), 0o644)
		os.WriteFile(dir+"/.git/config", []byte("[core]\n\tfsmonitor = x\n"), 0o644)
		os.WriteFile(dir+"/.git/hooks/x", nil, 0o755)
		os.WriteFile(dir+"/.envrc", nil, 0o644)
		os.Rename(dir, dir+".away")
		os.Symlink(out, dir)
		time.Sleep(time.Millisecond)
		os.Remove(dir)
		os.Rename(dir+".away", dir)
		os.Rename(dir+"/.git", dir+"/.g")
		os.Symlink(out+"/.git", dir+"/.git")
		time.Sleep(time.Millisecond)
		os.Remove(dir + "/.git")
		os.RemoveAll(dir + "/.g")
	}
	os.WriteFile(dir+"/.envrc", nil, 0o644)
}

func TestSocketsAreKnown(t *testing.T) {
	p := newPlace(t)
	p.sh(`mkdir a; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("a/s.sock")' || perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); bind(S, sockaddr_un("a/s.sock"))'`)
	p.end(p.guard(Options{}, BeginOptions{}))
	if k := p.g.Known(); len(k.Sockets) != 1 || !k.Complete {
		t.Errorf("%+v", k)
	}
}

func TestAllowList(t *testing.T) {
	for text, want := range map[string]bool{
		"[core]\n\tbare = false\n":                                        true,
		"[remote \"o\"]\n\turl = https://u@h/x.git\n":                     true,
		"[remote \"o\"]\n\turl = git@h:x.git\n":                           true,
		"[remote \"o\"]\n\turl = \"a;b\"\n":                               true,
		"[remote \"o\"]\n\turl = ext::sh -c x\n":                          false,
		"[remote \"o\"]\n\turl = -x\n":                                    false,
		"[remote \"o\"]\n\turl = ssh://-oProxyCommand=x/y\n":              false,
		"[remote \"o\"]\n\tuploadpack = x\n":                              false,
		"[core]\n\tfsmonitor = x\n":                                       false,
		"[core] fsmonitor = x\n":                                          false,
		"[core]\n\tbare = false \\\n\tfsmonitor = x\n":                    false,
		"[core]\n\tbare = a\rfsmonitor = x\n":                             false,
		"[core]\n\tbare\n":                                                false,
		"[include]\n\tpath = x\n":                                         false,
		"[submodule \"a\"]\n\tupdate = !x\n":                              false,
		"[submodule \"a\"]\n\tupdate = merge\n":                           true,
		"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n":               true,
		"[filter \"lfs\"]\n\tclean = evil\n":                              false,
		"[filter \"x\"]\n\tclean = git-lfs clean -- %f\n":                 false,
		"[CORE]\n\tHooksPath = x\n":                                       false,
		"[core \"x\"]\n\tbare = true\n":                                   false,
		"[core]\n\tbare = true\x00\n":                                     false,
		"\ufeff[core]\n\tbare = true\n":                                   false,
		"[core]\n\tbare = \"a\" \"b\"\n":                                  false,
		"[remote \"o\"]\n[core]\n\tsshCommand = x\n":                      false,
		"[branch \"x]\n[core]\n\tsshCommand = x\"]\n\tmerge = refs/x\n":   false,
		"bare = true\n":                                                   false,
		"; comment\n# another\n\n[user]\n\tname = Ö Ä\n\temail = a@b.c\n": true,
	} {
		settings, ok := parseConfig([]byte(text))
		for _, s := range settings {
			ok = ok && s.isHarmless()
		}
		if ok != want {
			t.Errorf("%q: harmless %v", text, ok)
		}
	}
}

func TestWorktreesOwnFolder(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q ../main; cd ../main; git commit -q --allow-empty -m 1; rmdir $ROOT; git worktree add -q $ROOT; git config extensions.worktreeConfig true")
		common := filepath.Dir(p.root) + "/main/.git"
		admin := common + "/worktrees/ws"
		w := p.guard(o, BeginOptions{GitDirs: []string{admin, common}, Held: []string{common + "/worktrees", common + "/config", admin + "/commondir", p.root + "/.git"}, Open: []string{admin}})
		p.sh(armIt + "../main/.git/worktrees/ws/config.worktree; " + armIt + "../main/.git/config.worktree; touch ../main/.git/worktrees/ws/index.lock")
		p.want(p.end(w), "disarmed ../main/.git/config.worktree", "disarmed ../main/.git/worktrees/ws/config.worktree", "disarmed ../main/.git/worktrees/ws/index.lock")
		p.canary(".")
	})
}

// TestNoDescriptorIsLeft: a guard lives as long as its process, through thousands of runs.
func TestNoDescriptorIsLeft(t *testing.T) {
	p := newPlace(t)
	p.sh("git init -q .; echo 1 >there; ln -s there link")
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	o := BeginOptions{Watched: []Watched{{Path: p.root + "/absent"}, {Path: p.root + "/there"}, {Path: p.root + "/link"}}}
	p.end(p.guard(Options{}, o))
	before := count()
	for range 20 {
		w := p.g.Begin(o)
		p.sh("rm -f there; echo 1 >there; rm -f link; echo >absent; true") // the guard is at work meanwhile
		p.end(w)
	}
	if after := count(); after > before+10 {
		t.Errorf("%d descriptors before 20 runs, %d after", before, after)
	}
}
