package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
)

// These tests run real sandboxes: what a plan says is only worth what the kernel makes of it.

var shimBinary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sidecar-shim")
	if err != nil {
		panic(err)
	}
	shimBinary = filepath.Join(dir, "shim")
	build := exec.Command("go", "build", "-o", shimBinary, "./testdata/shim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// requireBubblewrap skips where no sandbox can be had; in CI that is a failure.
func requireBubblewrap(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("bwrap")
	if err == nil {
		err = exec.Command(path, "--unshare-all", "--ro-bind", "/", "/", "true").Run()
	}
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("bubblewrap does not work here: %v", err)
	}
	t.Skipf("bubblewrap does not work here: %v", err)
	return ""
}

// box is a sandbox around one folder.
type box struct {
	t       testing.TB
	dir     string
	policy  sandbox.Policy
	host    sandbox.Host
	control *sandbox.Control
}

func newBox(t testing.TB, mode sandbox.MountMode) *box {
	t.Helper()
	bwrap := requireBubblewrap(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: dir, control: new(sandbox.Control)}
	b.host = sandbox.Host{Bubblewrap: bwrap, Shim: shimBinary, Arch: runtime.GOARCH, Mounts: mode, UserProcessLimit: true, Root: os.Getuid() == 0, PIDLimit: hasPIDLimit()}
	b.policy = sandbox.Policy{
		UID: os.Getuid(), GID: os.Getgid(), Hostname: "box", Dir: dir, Env: []string{"PATH=/usr/bin:/bin"},
		Mounts:  []sandbox.Mount{{Source: "/usr", Target: "/usr"}, {Source: dir, Target: dir, Access: sandbox.ReadWrite}},
		Scratch: []sandbox.Scratch{{Target: "/tmp", Size: 8 << 20, Mode: 0o1777}},
		Links:   []sandbox.Link{{Target: "/bin", To: "usr/bin"}, {Target: "/lib", To: "usr/lib"}, {Target: "/lib64", To: "usr/lib64"}},
		Limits:  sandbox.Limits{Time: 2 * time.Minute, Output: 1 << 20, Processes: 400, OpenFiles: 256, FileSize: 64 << 20, Memory: 1 << 30},
	}
	return b
}

// hasPIDLimit: kernel.pid_max of a namespace of its own came with Linux 6.14.
func hasPIDLimit() bool {
	out, err := exec.Command("uname", "-r").Output()
	if err != nil {
		return false
	}
	f := strings.FieldsFunc(string(out), func(r rune) bool { return r < '0' || r > '9' })
	return len(f) > 1 && (len(f[0]) > 1 || f[0] >= "7" || f[0] == "6" && len(f[1]) > 1 && f[1] >= "14")
}

func (b *box) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// run runs a shell script and gives all it printed.
func (b *box) run(ctx context.Context, script string) (sandbox.End, string, error) {
	b.t.Helper()
	b.policy.Argv = []string{"/bin/bash", "-c", script}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		b.t.Fatal(err)
	}
	var out lockedBuffer
	end, err := sandbox.Run(ctx, plan, sandbox.IO{Stdout: &out, Stderr: &out, Control: b.control})
	return end, out.String(), err
}

// lockedBuffer takes both streams.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func bothModes(t *testing.T, test func(*testing.T, *box)) {
	for name, mode := range map[string]sandbox.MountMode{"shim": sandbox.ByShim, "argv": sandbox.ByArgv} {
		t.Run(name, func(t *testing.T) { test(t, newBox(t, mode)) })
	}
}

func TestAFrozenFileStaysWhereAndAsItIs(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		frozen := b.write("a/b/frozen", "kept")
		b.policy.Pins = sandbox.BuildPins([]string{b.dir}, []sandbox.Pin{{Path: frozen, Kind: sandbox.Frozen}})
		_, out, err := b.run(t.Context(), `
			echo evil >a/b/frozen; rm -f a/b/frozen; mv a/b/frozen x; mv a/b y; mv a z; ln a/b/frozen hard
			mkdir new && mv new a/b; chmod 000 a/b/frozen
			umount a/b/frozen; mount -o remount,rw,bind a/b/frozen
			echo free >a/b/other && mv a/b/other a/b/other2 && echo control`)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(frozen); err != nil || string(text) != "kept" {
			t.Errorf("the file holds %q (%v) after\n%s", text, err, out)
		}
		if !strings.Contains(out, "control") {
			t.Errorf("its neighbours are not free:\n%s", out)
		}
	})
}

func TestAFrozenLinkStays(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	b.write("store/f", "hi")
	if err := os.Symlink("store", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	b.policy.Pins = sandbox.BuildPins([]string{b.dir}, []sandbox.Pin{{Path: filepath.Join(b.dir, "link"), Kind: sandbox.Frozen, Link: true}})
	_, out, err := b.run(t.Context(), `exec 2>&1; rm -f link; mv link l2; ln -sfn /etc link; cat link/f`)
	if to, _ := os.Readlink(filepath.Join(b.dir, "link")); err != nil || to != "store" || !strings.HasSuffix(out, "hi") {
		t.Errorf("the link leads to %q (%v)\n%s", to, err, out)
	}
}

// A host program that replaces a file drops its mount in every sandbox: it must be possible to hold the new one.
func TestAPinCanBeMadeWhileTheRunLasts(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	frozen := b.write("conf", "one")
	b.policy.Pins = []sandbox.Pin{{Path: frozen, Kind: sandbox.Frozen}}
	go func() {
		await(t, func() bool { return exists(filepath.Join(b.dir, "started")) })
		if err := errors.Join(os.WriteFile(frozen+".new", []byte("two"), 0o644), os.Rename(frozen+".new", frozen)); err != nil {
			t.Error(err)
		}
		b.control.Pin(b.policy.Pins, func() { _ = os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o644) })
	}()
	_, out, err := b.run(t.Context(), `touch started; until [ -e go ]; do sleep 0.02; done; echo evil >conf; cat conf`)
	if text, _ := os.ReadFile(frozen); err != nil || string(text) != "two" {
		t.Errorf("the file holds %q (%v)\n%s", text, err, out)
	}
}

// TestManyPins has more pins than one batch takes where descriptors are few, of all kinds, within each other.
func TestManyPins(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	few := b.write("few", "#!/bin/sh\nulimit -n 300\nexec "+b.host.Bubblewrap+" \"$@\"\n")
	if err := os.Chmod(few, 0o755); err != nil {
		t.Fatal(err)
	}
	var held []sandbox.Pin
	for i := range 150 {
		at := func(name string) string { return fmt.Sprintf("git/m%d/%s", i, name) }
		b.write(at("frozen/deep/open/file"), "host\n")
		held = append(held, sandbox.Pin{Path: b.write(at("config"), "host\n"), Kind: sandbox.Frozen},
			sandbox.Pin{Path: filepath.Join(b.dir, at("frozen")), Kind: sandbox.Frozen, Folder: true},
			sandbox.Pin{Path: filepath.Join(b.dir, at("frozen/deep/open")), Kind: sandbox.Thawed, Folder: true},
			sandbox.Pin{Path: b.write(at("secret"), "secret\n"), Kind: sandbox.Covered})
	}
	b.policy.Pins = sandbox.BuildPins([]string{b.dir}, held)
	const script = `cd git; for m in m*; do
		(echo run > $m/config) 2>/dev/null && echo "$m/config was written"
		(echo run > $m/frozen/new) 2>/dev/null && echo "$m/frozen was written"
		mv $m moved 2>/dev/null && echo "$m was moved"
		mv $m/frozen $m/other 2>/dev/null && echo "$m/frozen was moved"
		echo run > $m/frozen/deep/open/file || echo "$m/frozen/deep/open cannot be written"
		echo run > $m/free || echo "$m cannot be written"
		[ -s $m/secret ] && echo "$m/secret is seen"
	done; echo done`
	for _, bwrap := range []string{b.host.Bubblewrap, few} {
		b.host.Bubblewrap = bwrap
		if _, out, err := b.run(t.Context(), script); err != nil || out != "done\n" {
			t.Errorf("with %s: %v\n%.2000s", bwrap, err, out)
		}
	}
}

func TestWhatAProgramHas(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		b.policy.Env = append(b.policy.Env, "SECRET=hunter2")
		_, out, err := b.run(t.Context(), `grep -h -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\t '
			s=hunter; all=$(cat /proc/1/environ /proc/[0-9]*/cmdline | tr '\0' ' '); case $all in *${s}2*) echo "in the open: $all";; esac
			echo "fds $(ls /proc/self/fd | wc -l)"; unshare -Ur true && echo escaped; echo x >/x && echo escaped; echo x >/dev/x && echo escaped
			cat /proc/sys/kernel/core_pattern >/tmp/p; cat /tmp/p >/proc/sys/kernel/core_pattern && echo escaped; echo h >/proc/sysrq-trigger && echo escaped`)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"CapEff:0000000000000000", "CapBnd:0000000000000000", "NoNewPrivs:1", "Seccomp:2", "fds 4\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if strings.Contains(out, "escaped") || strings.Contains(out, "in the open") {
			t.Errorf("%s", out)
		}
	})
}

func TestEveryProcessEndsWithTheRun(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		_, _, err := b.run(t.Context(), `(setsid bash -c 'trap "" TERM HUP INT; while :; do echo x >>beat; sleep 0.02; done' >/dev/null 2>&1 &); sleep 0.2`)
		if err != nil {
			t.Fatal(err)
		}
		size := func() int64 {
			info, err := os.Stat(filepath.Join(b.dir, "beat"))
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}
		before := size()
		time.Sleep(150 * time.Millisecond)
		if after := size(); before == 0 || after != before {
			t.Errorf("the process goes on: %d bytes, then %d", before, after)
		}
	})
}

func TestHowARunEnds(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		for _, tt := range []struct {
			script string
			change func(*sandbox.Policy)
			want   sandbox.End
		}{
			{"exit 0", nil, sandbox.End{}},
			{"exit 7", nil, sandbox.End{ExitCode: 7}},
			{"kill -SEGV $$", nil, sandbox.End{ExitCode: 139, Signal: int(syscall.SIGSEGV)}},
			{"kill -9 -1; kill -9 $$", nil, sandbox.End{ExitCode: 137, Signal: int(syscall.SIGKILL)}},
			{"sleep 30", func(p *sandbox.Policy) { p.Limits.Time = 200 * time.Millisecond }, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitTime}},
			{"yes", func(p *sandbox.Policy) { p.Limits.Output = 1 << 16 }, sandbox.End{ExitCode: 137, Signal: 9, Limit: sandbox.LimitOutput}},
			{"x=$(head -c 300M /dev/zero | tr '\\0' x); sleep 5", func(p *sandbox.Policy) { p.Limits.Memory = 600 << 20 }, sandbox.End{Limit: "any"}},
		} {
			saved := b.policy.Limits
			if tt.change != nil {
				tt.change(&b.policy)
			}
			end, out, err := b.run(t.Context(), tt.script)
			b.policy.Limits = saved
			if err != nil {
				t.Errorf("%s: %v", tt.script, err)
			}
			if tt.want.Limit == "any" {
				continue // that memory is bounded at all: it ended, by the process's own limit or by the watch
			}
			got := sandbox.End{ExitCode: end.ExitCode, Signal: end.Signal, Limit: end.Limit}
			if !cmp.Equal(got, tt.want) {
				t.Errorf("%s: got %+v, want %+v\n%.200s", tt.script, got, tt.want, out)
			}
		}
	})
}

func TestCancelEndsARun(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	begun := time.Now()
	end, _, err := b.run(ctx, "trap '' TERM INT; sleep 300")
	if err != nil || !end.Cancelled || time.Since(begun) > 60*time.Second {
		t.Errorf("%+v, %v after %v", end, err, time.Since(begun))
	}
}

// TestCancelWhileASandboxStarts: at whatever moment, no process of it stays.
func TestCancelWhileASandboxStarts(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		for i := range 100 {
			ctx, stop := context.WithTimeout(t.Context(), time.Duration(i)*150*time.Microsecond)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _, _ = b.run(ctx, "sleep 60")
			}()
			select {
			case <-done:
			case <-time.After(60 * time.Second):
				t.Errorf("a run that was cancelled after %d µs does not end", i*150)
			}
			stop()
		}
	})
}

func TestWhyAProgramNeverStarted(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		for _, tt := range []struct {
			name, step string
			change     func(*sandbox.Policy, *sandbox.Host)
		}{
			{"no such program", sandbox.StepProgram, func(p *sandbox.Policy, _ *sandbox.Host) { p.Argv = []string{"/nowhere"} }},
			{"no such folder", sandbox.StepDir, func(p *sandbox.Policy, _ *sandbox.Host) { p.Dir = "/nowhere" }},
			{"no bubblewrap", sandbox.StepBackend, func(_ *sandbox.Policy, h *sandbox.Host) { h.Bubblewrap = "/nowhere/bwrap" }},
			{"a mount that is not there", sandbox.StepBackend, func(p *sandbox.Policy, _ *sandbox.Host) {
				p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/nowhere", Target: "/nowhere"})
			}},
			{"a mount of what was replaced", sandbox.StepSame, func(p *sandbox.Policy, _ *sandbox.Host) {
				p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/etc", Target: "/replaced", Dev: 1, Ino: 1 << 60})
			}},
		} {
			p, h := b.policy, b.host
			p.Argv = []string{"/bin/true"}
			tt.change(&p, &h)
			plan, err := bubblewrap.New(p, h)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sandbox.Run(t.Context(), plan, sandbox.IO{})
			var start *sandbox.StartError
			if !errors.As(err, &start) || start.Step != tt.step {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	})
}

func TestStandardInputStreams(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	b.policy.Argv = []string{"/usr/bin/wc", "-c"}
	plan, err := bubblewrap.New(b.policy, b.host)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := sandbox.Run(t.Context(), plan, sandbox.IO{Stdin: strings.NewReader(strings.Repeat("x", 300_000)), Stdout: &out}); err != nil || strings.TrimSpace(out.String()) != "300000" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// await waits until a condition holds.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it never came to pass")
}

// A folder that other runs write at the same time comes beneath what is shown in it, and no link in it leads a mount
// anywhere.
func TestBases(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	home, victim := t.TempDir(), t.TempDir()
	shown := b.write("shown", "shown\n")
	b.policy.Bases = []sandbox.Base{{Source: home, Target: "/home/me"}}
	b.policy.Mounts = append(b.policy.Mounts, sandbox.Mount{Source: shown, Target: "/home/me/.config/git/config"})
	place := filepath.Join(home, ".config/git/config")
	if err := errors.Join(os.MkdirAll(filepath.Dir(place), 0o755), os.WriteFile(place, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	script := `cat ~/.config/git/config; echo kept >~/new; (echo x >~/.config/git/config) 2>/dev/null || echo read-only; ls /run/sidecar; ls -A ~`
	b.policy.Env = append(b.policy.Env, "HOME=/home/me")
	_, out, err := b.run(t.Context(), script)
	if want := "shown\nread-only\nbase0\nempty\nshim\n.config\nnew\n"; err != nil || out != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
	if got, err := os.ReadFile(filepath.Join(home, "new")); err != nil || string(got) != "kept\n" {
		t.Errorf("what was written is not kept: %q, %v", got, err)
	}
	// What another run puts in the place of the folder, at whatever moment.
	for name, to := range map[string]string{"the host": "/oldroot" + victim, "a folder of the sandbox": "/tmp", "itself": ".config"} {
		if err := errors.Join(os.RemoveAll(filepath.Join(home, ".config")), os.Symlink(to, filepath.Join(home, ".config"))); err != nil {
			t.Fatal(err)
		}
		_, out, err := b.run(t.Context(), script)
		var start *sandbox.StartError
		if !errors.As(err, &start) || start.Step != sandbox.StepBase || start.Path != "/home/me/.config/git/config" {
			t.Errorf("a link to %s: %v, %q; want that it is refused", name, err, out)
		}
	}
	if left, err := os.ReadDir(victim); err != nil || len(left) > 0 {
		t.Errorf("on the host there is %v, %v", left, err)
	}
	b.host.Mounts = sandbox.ByArgv
	if _, err := bubblewrap.New(b.policy, b.host); err == nil {
		t.Error("where bubblewrap makes the mounts, something is shown in a folder that others write")
	}
}

// Git and editors replace files with rename(2) at any moment, also when a run's pins are made.
func TestPinsOfFilesThatAreReplaced(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	var pins []sandbox.Pin
	for i := range 20 {
		pins = append(pins, sandbox.Pin{Path: b.write(fmt.Sprintf("d/%d", i), "old"), Kind: sandbox.Frozen})
	}
	b.policy.Pins = sandbox.BuildPins([]string{b.dir}, pins)
	done := make(chan struct{})
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			lock := filepath.Join(b.dir, "lock")
			if err := errors.Join(os.WriteFile(lock, []byte("new"), 0o600), os.Rename(lock, pins[i%len(pins)].Path)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 30 {
		if end, out, err := b.run(t.Context(), "cat d/8 >/dev/null"); err != nil || end.ExitCode != 0 {
			t.Errorf("%v, %+v, %q", err, end, out)
		}
	}
	close(done)
	replacing.Wait()
}
