package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
)

// closures is an engine whose runs are in closures of a store that the test makes.
type closures struct {
	t   *testing.T
	dir string
	*Engine
}

func newClosures(t *testing.T, mode sandbox.MountMode) closures {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err == nil {
		err = exec.Command(bwrap, "--unshare-all", "--ro-bind", "/", "/", "true").Run()
	}
	if err != nil && os.Getenv("CI") != "" {
		t.Fatalf("bubblewrap does not work here: %v", err)
	}
	if err != nil {
		t.Skipf("bubblewrap does not work here: %v", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := closures{t: t, dir: dir}
	for name, source := range map[string]string{"shim": "../sandbox/testdata/shim", "store/0000/bin/lists": "./testdata/lists"} {
		build := exec.Command("go", "build", "-o", c.at(name), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for i := 1; i < 2*keptFrom; i++ {
		c.path(i, "text")
	}
	if err := os.Mkdir(c.at("ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	host := probe()
	host.Mounts = mode
	settings := config.Defaults()
	settings.Performance.Warm = "off" // a sandbox that is ready has made its pick itself
	c.Engine = New(Options{Settings: &settings, StateDir: c.at("state"), Shim: c.at("shim"), Host: &host})
	t.Cleanup(c.Close)
	return c
}

func (c closures) at(name string) string { return filepath.Join(c.dir, name) }

// path makes a store path.
func (c closures) path(i int, text string) {
	c.t.Helper()
	dir := c.at(fmt.Sprintf("store/%04d", i))
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o644)); err != nil {
		c.t.Fatal(err)
	}
}

// run runs lists in the closure of the first n paths.
func (c closures) run(n int) (string, error) {
	store := &env.Store{Folder: c.at("store")}
	for i := range n {
		store.Names = append(store.Names, fmt.Sprintf("%04d", i))
	}
	r := Request{ID: NewID(), Dir: c.at("ws"), Params: protocol.RunParams{Command: []string{"/nix/store/0000/bin/lists"}}, environment: env.Environment{ID: "test", Store: store}}
	result, err := c.attempt(c.t.Context(), r)
	return result.Stdout.Text, err
}

// sees holds a run against what it is to see.
func (c closures) sees(n int, want string) {
	c.t.Helper()
	if got, err := c.run(n); err != nil || got != want+"\n" {
		c.t.Errorf("%v, %q, want %q", err, got, want)
	}
}

// keeper waits for the keeper of the closure used last.
func (c closures) keeper() *keeper {
	c.t.Helper()
	for range 1000 {
		c.mu.Lock()
		k := c.keepers[0]
		kept := k.kept
		c.mu.Unlock()
		if kept != nil {
			return k
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.t.Fatal("no keeper was made")
	return nil
}

// processes are those that have mounts of the store, and none of the host's: keepers, between runs.
func (c closures) processes() (pids []int) {
	c.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, file := range all {
		text, _ := os.ReadFile(file)
		if bytes.Contains(text, []byte(filepath.Base(filepath.Dir(c.dir))+"/"+filepath.Base(c.dir)+"/store/")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// settles is how many processes there are when that is want, or has not become so: the sandbox of a run is gone soon after it.
func (c closures) settles(want int) (n int) {
	c.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if n = len(c.processes()); n == want || time.Now().After(end) {
			return n
		}
	}
}

// A large closure that is used again has a keeper. Whatever becomes of that, runs see the closure as it is.
func TestKeepers(t *testing.T) {
	c := newClosures(t, sandbox.ByShim)
	const n = keptFrom
	picked, kept := "100 1 text <nil>", "100 2 text <nil>"
	c.sees(n, picked)
	c.sees(n, picked)
	first := c.keeper()
	c.sees(n, kept)
	c.sees(n, kept)
	for _, pid := range c.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-first.kept.Gone()
	c.sees(n, picked) // its death is noticed by this one
	c.sees(n, picked)
	c.sees(n, picked)
	if c.keeper() == first {
		t.Error("it is the keeper that was killed")
	}
	c.sees(n, kept)

	c.path(1999, "something new in the store")
	c.sees(n, kept)
	if err := os.RemoveAll(c.at("store/0007")); err != nil { // collected
		t.Fatal(err)
	}
	_, err := c.run(n)
	if !collected(err) {
		t.Errorf("a path is gone: %v", err)
	}
	c.path(7, "new") // built again
	c.sees(n, "100 1 new <nil>")
	c.sees(n, "100 1 new <nil>")
	c.keeper()
	c.sees(n, "100 2 new <nil>")

	c.mu.Lock()
	c.trimKeepers(time.Now().Add(idleKeeper))
	c.mu.Unlock()
	c.background.Wait()
	if left := c.settles(0); left > 0 {
		t.Errorf("%d processes of an idle keeper", left)
	}
	c.sees(n, "100 1 new <nil>")
}

// There are never more than a few, and none after Close.
func TestFewKeepers(t *testing.T) {
	c := newClosures(t, sandbox.ByShim)
	for n := keptFrom; n < keptFrom+mostKeepers+2; n++ {
		c.sees(n, fmt.Sprintf("%d 1 text <nil>", n))
		c.sees(n, fmt.Sprintf("%d 1 text <nil>", n))
		c.keeper()
		c.sees(n, fmt.Sprintf("%d 2 text <nil>", n))
	}
	c.background.Wait()
	if n := c.settles(mostKeepers); n != mostKeepers {
		t.Errorf("%d keepers", n)
	}
	c.Close()
	if n := c.settles(0); n != 0 {
		t.Errorf("%d keepers after Close", n)
	}
}

func TestWhereThereAreNoKeepers(t *testing.T) {
	for name, tt := range map[string]struct {
		mode sandbox.MountMode
		n    int
	}{"by argv": {sandbox.ByArgv, keptFrom}, "a small closure": {sandbox.ByShim, keptFrom - 1}} {
		t.Run(name, func(t *testing.T) {
			c := newClosures(t, tt.mode)
			for range 3 {
				if got, err := c.run(tt.n); err != nil {
					t.Errorf("%v %q", err, got)
				}
			}
			c.background.Wait()
			if len(c.keepers) > 0 || c.settles(0) > 0 {
				t.Error("there is a keeper")
			}
		})
	}
}
