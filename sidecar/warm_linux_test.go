package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// warmed is a project, and an engine whose second run of a kind finds a sandbox that waits.
type warmed struct {
	t    *testing.T
	base string
	dir  string
	*Engine
}

// testShim is the shim's program, built once.
var testShim = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sidecar-shim")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "shim")
	build := exec.Command("go", "build", "-o", file, "../sandbox/testdata/shim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		err = errors.Join(err, errors.New(string(out)))
	}
	return file, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := testShim(); err == nil {
		_ = os.RemoveAll(filepath.Dir(file))
	}
	os.Exit(code)
}

// requireBubblewrap skips where no sandbox can be had; in CI that is a failure.
func requireBubblewrap(t testing.TB) {
	t.Helper()
	err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run()
	if err != nil && os.Getenv("CI") != "" {
		t.Fatalf("bubblewrap does not work here: %v", err)
	}
	if err != nil {
		t.Skipf("bubblewrap does not work here: %v", err)
	}
}

func newWarmed(t *testing.T) *warmed {
	t.Helper()
	requireBubblewrap(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shim, err := testShim()
	if err != nil {
		t.Fatal(err)
	}
	w := &warmed{t: t, base: base, dir: filepath.Join(base, "ws")}
	if err := errors.Join(os.Mkdir(w.dir, 0o755), os.Mkdir(filepath.Join(base, "home"), 0o755)); err != nil {
		t.Fatal(err)
	}
	w.host("git init -q .")
	settings := config.Defaults()
	settings.Performance.Warm = "always"
	host := probe()
	host.Mounts = sandbox.ByShim
	w.Engine = New(Options{Settings: &settings, StateDir: filepath.Join(base, "state"), Shim: shim, Host: &host})
	t.Cleanup(w.Close)
	return w
}

// in is the same in a test of its own.
func (w *warmed) in(t *testing.T) *warmed {
	t.Helper()
	other := *w
	other.t = t
	return &other
}

// host runs a script on the host, in the project.
func (w *warmed) host(script string) {
	w.t.Helper()
	hostDoes(w.t, w.dir, script)
}

// with is the engine of a client with other settings.
func (w *warmed) with(change func(*config.Settings)) *warmed {
	s := w.settings
	change(&s)
	other := *w
	other.Engine = w.For(s, w.getenv, w.home)
	return &other
}

func (w *warmed) run(p protocol.RunParams) protocol.RunResult {
	w.t.Helper()
	r, err := w.Run(w.t.Context(), w.dir, "test", p, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// ready waits until a sandbox for the kind used last is ready, and gives it; waits says that it has an interpreter that waits.
func (w *warmed) ready(waits bool) *standing {
	w.t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if s := w.standing(waits); s != nil {
			return s
		}
	}
	w.t.Fatal("no sandbox was made ahead")
	return nil
}

// standing is a sandbox that is ready for the kind used last, once no more are made; nil is none.
func (w *warmed) standing(waits bool) *standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.kinds, func(k *kind) bool { return k.waits == waits })
	if i < 0 || len(w.kinds[i].ready) == 0 || w.kinds[i].making {
		return nil
	}
	return w.kinds[i].ready[0]
}

// twice runs the same twice, the second time in a sandbox whose interpreter waited.
func (w *warmed) twice(p protocol.RunParams) (cold, warm protocol.RunResult) {
	w.t.Helper()
	cold = w.run(p)
	w.ready(true)
	return cold, w.run(p)
}

// again runs something that is made ready by one run, changed by the host or the next client, and run again.
func (w *warmed) again(p protocol.RunParams, change func(*warmed, *protocol.RunParams) *warmed) protocol.RunResult {
	w.t.Helper()
	w.run(p)
	w.ready(true)
	if other := change(w, &p); other != nil {
		return other.run(p)
	}
	return w.run(p)
}

// served is how a run would start now in a sandbox that is ready for it; "" is that there is none.
func (w *warmed) served(p protocol.RunParams) string {
	w.t.Helper()
	r := Request{ID: NewID(), Dir: w.dir, Params: p}
	var err error
	if r.environment, err = w.environment(w.t.Context(), w.dir, p, nil); err != nil {
		w.t.Fatal(err)
	}
	if r.granted, err = w.grant(w.t.Context(), r, w.dir); err != nil {
		w.t.Fatal(err)
	}
	prep, err := w.prepare(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer prep.release()
	defer prep.network.close()
	s, by := w.takeReady(w.usables(prep, r))
	if s == nil {
		return ""
	}
	s.Close()
	return by.start()
}

func TestHowRunsAreStarted(t *testing.T) {
	w := newWarmed(t)
	for _, tt := range []struct {
		p    protocol.RunParams
		set  map[string]string // env.set of the settings
		want string
	}{
		{p: protocol.RunParams{Language: "bash", Code: "echo 1"}, want: protocol.StartWarm},
		{p: protocol.RunParams{Language: "python", Code: "print(1)"}, want: protocol.StartWarm},
		{p: protocol.RunParams{Language: "node", Code: "console.log(1)"}, want: protocol.StartWarm},
		{p: protocol.RunParams{Language: "perl", Code: "print 1, $/"}, want: protocol.StartReady},
		{p: protocol.RunParams{Command: []string{"echo", "1"}}, want: protocol.StartReady},
		{p: protocol.RunParams{Language: "python", Code: "print(1)"}, set: map[string]string{"PYTHONPATH": "src"}, want: protocol.StartReady},
		{p: protocol.RunParams{Language: "bash", Code: "echo 1"}, set: map[string]string{"BASH_ENV": "x"}, want: protocol.StartReady},
		{p: protocol.RunParams{Language: "bash", Code: "echo $((SECONDS / 100))"}, set: map[string]string{"SECONDS": "100"}, want: protocol.StartReady},
		{p: protocol.RunParams{Language: "node", Code: "console.log(1)"}, set: map[string]string{"NODE_OPTIONS": ""}, want: protocol.StartReady},
		{p: protocol.RunParams{Language: "python", Code: "print(1)"}, set: map[string]string{"SOMEWHERE": w.dir + "/x"}, want: protocol.StartReady},
		{p: protocol.RunParams{Language: "bash", Code: "echo 1", Env: map[string]string{"TOKEN": "secret"}}, want: protocol.StartReady},
	} {
		w := w.with(func(s *config.Settings) { s.Env.Set = tt.set })
		if r := w.run(tt.p); r.Start == protocol.StartWarm || r.Stdout.Text != "1\n" {
			t.Errorf("%v: first %s, %q", tt.p, r.Start, r.Stdout.Text)
		}
		w.ready(tt.want == protocol.StartWarm)
		if r := w.run(tt.p); r.Start != tt.want || r.Stdout.Text != "1\n" {
			t.Errorf("%v: %s, want %s, %q %q", tt.p, r.Start, tt.want, r.Stdout.Text, r.Stderr.Text)
		}
	}
	off := w.with(func(s *config.Settings) { s.Performance.Warm = "off" })
	for range 3 {
		if r := off.run(protocol.RunParams{Language: "bash", Code: "echo 1"}); r.Start != protocol.StartCold {
			t.Errorf("off: %s", r.Start)
		}
	}
}

// A sandbox that waits serves no run for which it is not what a new one would be.
func TestWhatASandboxThatWaitsDoesNotServe(t *testing.T) {
	for name, change := range map[string]func(*warmed, *protocol.RunParams) *warmed{
		"another folder of the workspace's name": func(w *warmed, _ *protocol.RunParams) *warmed {
			w.host(`cd ..; mv ws old; cp -a old ws; echo new >ws/which`)
			return nil
		},
		"the interpreter was replaced": func(w *warmed, _ *protocol.RunParams) *warmed {
			w.host(`cd ../prefix/bin; cp bash new; mv new bash`)
			return nil
		},
		"the interpreter was changed": func(w *warmed, _ *protocol.RunParams) *warmed {
			w.host(`touch ../prefix/bin/bash`)
			return nil
		},
		"something was mounted": func(w *warmed, _ *protocol.RunParams) *warmed {
			if os.Getuid() != 0 {
				w.t.Skip("mounting takes root")
			}
			at := filepath.Join(w.dir, "tmpfs")
			if err := errors.Join(os.Mkdir(at, 0o755), syscall.Mount("none", at, "tmpfs", 0, "")); err != nil {
				w.t.Fatal(err)
			}
			w.t.Cleanup(func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) })
			return nil
		},
		"other settings": func(w *warmed, _ *protocol.RunParams) *warmed {
			return w.with(func(s *config.Settings) { s.Limits.OpenFiles-- })
		},
		"nothing changed": func(*warmed, *protocol.RunParams) *warmed { return nil },
		"a variable":      func(_ *warmed, p *protocol.RunParams) *warmed { p.Env = map[string]string{"A": "1"}; return nil },
		"arguments":       func(_ *warmed, p *protocol.RunParams) *warmed { p.Args = []string{"a"}; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWarmed(t)
			w.host(`echo old >which; mkdir -p ../prefix/bin; cp "$(command -v bash)" ../prefix/bin/bash`)
			w.getenv = func(name string) string {
				if name == "PATH" {
					return filepath.Join(w.base, "prefix/bin") + ":" + os.Getenv("PATH")
				}
				return os.Getenv(name)
			}
			p := protocol.RunParams{Language: "bash", Code: "cat which; [ ! -e tmpfs ] || grep -c /tmpfs /proc/self/mountinfo"}
			w.run(p)
			w.ready(true)
			if other := change(w, &p); other != nil {
				w = other
			}
			if start := w.served(p); (start == protocol.StartWarm) != (name == "nothing changed") {
				t.Errorf("it would start %q", start)
			}
			r, want := w.run(p), "old\n"
			switch name {
			case "another folder of the workspace's name":
				want = "new\n"
			case "something was mounted":
				want = "old\n1\n"
			}
			if r.Stdout.Text != want {
				t.Errorf("%q, want %q; %q", r.Stdout.Text, want, r.Stderr.Text)
			}
		})
	}
}

// A program that cannot be executed is told of at once: another start would say the same, and have no input any more.
func TestAProgramThatIsNotThereIsStartedOnce(t *testing.T) {
	w := newWarmed(t)
	time.Sleep(50 * time.Millisecond) // what was written just now is looked at anew in each run
	attempts := 0
	r := Request{Dir: w.dir, Params: protocol.RunParams{Command: []string{"/nowhere"}}, Control: func(*sandbox.Control) { attempts++ }}
	if _, err := w.Do(t.Context(), r); err == nil {
		t.Fatal("it ran")
	}
	for range 2 { // the facts that the next run begins by are true then
		w.ready(false)
		attempts = 0
		_, err := w.Do(t.Context(), r)
		if known := new(protocol.Error); !errors.As(err, &known) || known.Kind != protocol.UnknownEnvironment {
			t.Errorf("%v", err)
		}
	}
	if attempts != 1 {
		t.Errorf("%d attempts", attempts)
	}
}

// Each change of the mount table is noticed, whoever else polls.
func TestMountTable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting takes root")
	}
	dir := t.TempDir()
	for range 50 {
		var m mountTable
		before, again := m.identity(), m.identity()
		if err := syscall.Mount("none", dir, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		mounted := m.identity()
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
		if before != again || mounted == again || m.identity() == mounted {
			t.Errorf("%v, the same %v, mounted %v", before, again, mounted)
		}
		m.close()
	}
}

// What the host changed in the repository while a sandbox waited is protected in the run that it serves.
func TestWhatChangedMeanwhileIsProtected(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		held   []string
		// other says that the run has other mounts, and so another kind of sandbox.
		other bool
	}{
		"a submodule": {`git init -q ../lib; git -C ../lib -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add ../lib sub`,
			[]string{".git/modules/sub/config", "sub/.git", ".git/modules/sub/hooks/post-commit"}, false},
		"hooks":            {`rm -rf .git/hooks; mkdir .git/hooks; echo '#!/bin/sh' >.git/hooks/pre-commit`, []string{".git/hooks/pre-commit", ".git/hooks/post-commit"}, false},
		"a hooks folder":   {`mkdir h; echo '#!/bin/sh' >h/pre-commit; git config core.hooksPath h`, []string{"h/pre-commit", "h/post-commit", ".git/config"}, false},
		"a worktree":       {`git commit -q --allow-empty -m x; git worktree add -q ../other 2>/dev/null`, []string{".git/worktrees/other/gitdir", ".git/worktrees/other/commondir"}, false},
		"an include":       {`git config include.path ../inc; printf '[user]\n' >inc`, []string{"inc", ".git/config"}, false},
		"an absent one":    {`git config include.path ../inc`, []string{"inc", ".git/config"}, false},
		"a repository":     {`git init -q nested`, []string{"nested/.git/config", "nested/.git/hooks/post-commit"}, false},
		"another git dir":  {`mv .git ../real; ln -s ../real .git`, []string{".git", ".git/config", ".git/hooks/post-commit"}, true},
		"a settings file":  {`mkdir .vscode; echo '{}' >.vscode/tasks.json`, []string{".vscode/tasks.json", ".vscode/settings.json"}, false},
		"no repository":    {`rm -rf .git`, []string{".git/config"}, false},
		"its first commit": {`git commit -q --allow-empty -m x`, []string{".git/config", ".git/commondir"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWarmed(t)
			attack := `hold() { echo evil >>"$1"; rm -rf "$1"; mv "$1" gone; mkdir -p "$(dirname "$1")" && echo evil >"$1"
				mv "$(dirname "$1")" aside; mkdir -p "$(dirname "$1")" && echo evil >"$1"; }
				`
			for _, path := range tt.held {
				attack += "hold " + path + "\n"
			}
			var before map[string]string
			w.host("git config user.name T; git config user.email t@example.com")
			r := w.again(protocol.RunParams{Language: "bash", Code: "true"}, func(w *warmed, p *protocol.RunParams) *warmed {
				p.Code = attack + "touch ran"
				w.host(tt.script)
				before = w.texts(tt.held)
				return nil
			})
			if !tt.other && r.Start != protocol.StartWarm || !exists(filepath.Join(w.dir, "ran")) {
				t.Errorf("started %s", r.Start)
			}
			if diff := cmp.Diff(before, w.texts(tt.held)); diff != "" {
				t.Errorf("changed:\n%s\n%+v", diff, r.Findings)
			}
		})
	}
}

// texts are what files hold, or that there are none.
func (w *warmed) texts(files []string) map[string]string {
	out := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(w.dir, file))
		if out[file] = string(text); err != nil {
			out[file] = "none"
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// What an earlier run left in the workspace, or in what the settings give of the home, executes nothing in an interpreter
// that waits; and of both there is nothing to be seen for it, nor a placeholder for the host.
func TestAnInterpreterThatWaitsSeesNothingOfRuns(t *testing.T) {
	w := newWarmed(t)
	w.home = filepath.Join(w.base, "home")
	w.host("mkdir -p ../home/kept ../home/.config")
	given := w.with(func(s *config.Settings) {
		s.Files.RWDirs = append(s.Files.RWDirs, filepath.Join(w.home, "kept"))
	})
	plant := `for d in . "$HOME" ` + w.home + `/kept /tmp; do
		for f in sitecustomize.py usercustomize.py os.py io.py encodings.py; do echo 'print("planted")' >$d/$f; done
		for f in .bashrc .bash_profile .profile start main.sh bash_env; do echo 'echo planted' >$d/$f; done
		mkdir -p $d/node_modules/fs; echo 'console.log("planted")' | tee $d/node_modules/fs/index.js >$d/.noderc.js
		echo 'node-options=--require ./.noderc.js' >$d/.npmrc; echo '{"main":"x.js","type":"module"}' >$d/package.json
	done 2>/dev/null; echo planted >/run/sidecar/code/start; mkfifo /run/sidecar/code/x; exit 0`
	codes := map[string]string{"bash": "echo 1", "python": "print(1)", "node": "console.log(1)"}
	before := w.tree()
	for language, code := range codes {
		given.run(protocol.RunParams{Language: language, Code: code})
		given.ready(true)
		if diff := cmp.Diff(before, w.tree()); diff != "" {
			t.Errorf("while a sandbox waits there is\n%s", diff)
		}
		given.blind()
		given.run(protocol.RunParams{Language: "bash", Code: plant})
		given.waitsAgain(protocol.RunParams{Language: language, Code: code})
		if r := given.run(protocol.RunParams{Language: language, Code: code}); r.Start != protocol.StartWarm || r.Stdout.Text != "1\n" || r.Stderr.Text != "" {
			t.Errorf("%s: %s, %q %q", language, r.Start, r.Stdout.Text, r.Stderr.Text)
		}
		w.host("git clean -fdqx")
	}
}

// waitsAgain has a sandbox made after whatever was planted.
func (w *warmed) waitsAgain(p protocol.RunParams) {
	w.t.Helper()
	w.run(p)
	w.ready(true)
}

// tree is what there is in the workspace, git's own folder included.
func (w *warmed) tree() (list []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
		if !strings.Contains(path, ".git/objects") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// blind holds that no interpreter that waits has the workspace, or what is given beside it, among its mounts.
func (w *warmed) blind() {
	w.t.Helper()
	var pids []int
	await(w.t, func() bool { pids = interpreters(w.t); return len(pids) > 0 })
	for _, pid := range pids {
		mounts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
		if strings.Contains(string(mounts), w.dir) || strings.Contains(string(mounts), w.base+"/home/kept") {
			w.t.Errorf("process %d has mounts of the workspace:\n%s", pid, mounts)
		}
		if list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/root%s", pid, w.dir)); len(list) > 0 {
			w.t.Errorf("process %d sees %v", pid, list)
		}
	}
}

// interpreters are programs that this process's sandboxes have started.
func interpreters(t *testing.T) (pids []int) {
	t.Helper()
	for _, pid := range descendants(t) {
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		switch name := strings.TrimRight(filepath.Base(program), "0123456789."); name {
		case "bash", "python", "node":
			pids = append(pids, pid)
		}
	}
	return pids
}

func await(t *testing.T, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it never came to pass")
		}
	}
}

// descendants are the processes that this one has started.
func descendants(t *testing.T) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parent := map[int]int{}
	for _, file := range all {
		text, _ := os.ReadFile(file)
		var state string
		var above int
		_, _ = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &above)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent[pid] = above
	}
	for pid := range parent {
		for p := parent[pid]; p > 0; p = parent[p] {
			if p == os.Getpid() {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// Python takes a folder into sys.path only if it is there at its start, and so does not wait where that is the run's own.
func TestPythonThatLooksIntoTheWorkspaceDoesNotWait(t *testing.T) {
	w := newWarmed(t)
	w.home = filepath.Join(w.base, "home")
	w.host(`/usr/bin/python3 -m venv --without-pip ../venv; mkdir src; echo 'x = "editable"' >src/own.py; mkdir -p ../home/.local`)
	w.getenv = func(name string) string {
		if name == "PATH" {
			return filepath.Join(w.base, "venv/bin") + ":/usr/bin:/bin"
		}
		return os.Getenv(name)
	}
	p := protocol.RunParams{Language: "python", Code: "import sys; print(sys.prefix)\ntry: import own; print(own.x)\nexcept ImportError: print('none')"}
	r := w.again(p, func(w *warmed, _ *protocol.RunParams) *warmed {
		w.host(`cd ../venv/lib/python3.*/site-packages; echo "$OLDPWD/src" >own.pth`)
		return nil
	})
	if want := filepath.Join(w.base, "venv") + "\neditable\n"; r.Stdout.Text != want || r.Start == protocol.StartWarm {
		t.Fatalf("%s %q, want %q; %q", r.Start, r.Stdout.Text, want, r.Stderr.Text)
	}
	w.startsReady(p, r.Stdout.Text)
	given := w.with(func(s *config.Settings) { s.Files.RODirs = append(s.Files.RODirs, filepath.Join(w.home, ".local")) })
	w.host("rm ../venv/lib/python3.*/site-packages/own.pth")
	given.startsReady(p, filepath.Join(w.base, "venv")+"\nnone\n")
}

// startsReady runs something until a sandbox was ready for it, in which nothing waited.
func (w *warmed) startsReady(p protocol.RunParams, want string) {
	w.t.Helper()
	await(w.t, func() bool {
		r := w.run(p)
		if r.Start == protocol.StartWarm || r.Stdout.Text != want {
			w.t.Fatalf("%s %q, want %q; %q", r.Start, r.Stdout.Text, want, r.Stderr.Text)
		}
		return r.Start == protocol.StartReady
	})
}

// Idle ones are given back, and Close leaves none.
func TestSandboxesThatWaitAreGivenBack(t *testing.T) {
	w := newWarmed(t)
	p := protocol.RunParams{Language: "bash", Code: "echo 1"}
	w.run(p)
	s := w.ready(true)
	w.mu.Lock()
	w.trimWarm(time.Now().Add(idleWarm))
	left := w.warmCount()
	w.mu.Unlock()
	if left > 0 {
		t.Errorf("%d stay", left)
	}
	select {
	case <-s.Gone():
	case <-time.After(time.Minute):
		t.Error("an idle one stays")
	}
	w.run(p)
	w.ready(true)
	w.Close()
	if left := descendants(t); len(left) > 0 {
		t.Errorf("%d processes after Close", len(left))
	}
	w.run(p)
	await(t, func() bool { return len(descendants(t)) == 0 }) // a run is answered a moment before its sandbox is gone
	if w.standing(true) != nil {
		t.Error("one was made after Close")
	}
}
