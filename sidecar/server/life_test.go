package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

func request(script string) protocol.RunRequest {
	return protocol.RunRequest{RunParams: protocol.RunParams{Language: "bash", Code: script}}
}

// stopped ends a sidecar that a client started, at the test's end.
func stopped(t *testing.T, c *client.Client) {
	t.Cleanup(func() {
		_ = syscall.Kill(c.About().PID, syscall.SIGTERM)
		until(t, "the sidecar's end", func() bool { return !lives(c.About().PID) })
	})
}

// Many clients that come at once start one sidecar.
func TestElection(t *testing.T) {
	root := project(t)
	var all sync.WaitGroup
	pids := make([]int, 12)
	for i := range pids {
		all.Go(func() {
			c, err := client.Connect(t.Context(), root, client.Options{Name: "one of many", Program: program})
			if err != nil {
				t.Error(err)
				return
			}
			pids[i] = c.About().PID
			if i > 0 {
				c.Close()
				return
			}
			stopped(t, c)
		})
	}
	all.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == 0 {
			t.Fatalf("sidecars %v", pids)
		}
	}
}

// A killed sidecar leaves a socket that nobody listens on: the next client starts another.
func TestStaleSocket(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	p, _ := place.Of(root)
	if _, err := os.Stat(p.Socket); err != nil {
		t.Fatal(err)
	}
	c := connect(t, root, client.Options{Name: "next"})
	stopped(t, c)
	works(t, root)
}

// A client whose sidecar is killed is told so, what was left is gone, and its next request just works.
func TestKilledInTheMiddleOfARun(t *testing.T) {
	root := project(t)
	pool := client.NewPool(client.Options{Name: "pool", Program: program})
	defer pool.Close()
	c, err := pool.Of(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(root, "begun")); err == nil {
				_ = syscall.Kill(c.About().PID, syscall.SIGKILL)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	_, err = pool.Run(t.Context(), root, request("touch begun; sleep 987653"), nil, client.Watch{})
	var known *protocol.Error
	if !errors.As(err, &known) || known.Kind != protocol.Gone || !strings.Contains(known.Hint, "ask again") {
		t.Errorf("got %v", err)
	}
	until(t, "the run's end", func() bool { return exec.Command("pgrep", "-f", "sleep 987653").Run() != nil })
	if _, err := os.Lstat(filepath.Join(root, ".git/commondir")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a placeholder stayed: %v", err)
	}
	r, err := pool.Run(t.Context(), root, request("echo again"), nil, client.Watch{})
	if err != nil || r.Stdout.Text != "again\n" {
		t.Errorf("the next request: %+v, %v", r, err)
	}
	if c, err := pool.Of(t.Context(), root); err == nil {
		stopped(t, c)
	}
}

// A sidecar that ends between two requests is not noticed: the second one starts another, also with input.
func TestEndedBetweenRequests(t *testing.T) {
	root := project(t)
	pool := client.NewPool(client.Options{Name: "pool", Program: program})
	defer pool.Close()
	for range 3 {
		input := bytes.Repeat([]byte("line\n"), 50_000)
		r, err := pool.Run(t.Context(), root, request("wc -c"), bytes.NewReader(input), client.Watch{})
		if err != nil || strings.TrimSpace(r.Stdout.Text) != "250000" {
			t.Fatalf("%+v, %v", r, err)
		}
		c, err := pool.Of(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(c.About().PID, syscall.SIGKILL)
	}
	c, err := pool.Of(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, c)
}

// With no client and no run a sidecar ends, and leaves nothing in its folder.
func TestIdleEnd(t *testing.T) {
	root := project(t)
	cmd := serve(t, root, "--idle", "300ms")
	c := greeted(t, root, `{}`)
	time.Sleep(600 * time.Millisecond)
	result[protocol.StatusResult](t, c.ask("sidecar/status", `{}`)) // a client keeps it
	c.conn.Close()
	until(t, "its end", func() bool { return !lives(cmd.Process.Pid) })
	p, _ := place.Of(root)
	for _, path := range []string{p.Socket, p.Lock} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stayed: %v", path, err)
		}
	}
}

// A sidecar whose workspace is deleted or replaced ends; a client that asks meanwhile is served by the next one.
func TestWorkspaceGone(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	pool := client.NewPool(client.Options{Name: "pool", Program: program})
	defer pool.Close()
	if _, err := pool.Run(t.Context(), root, request("true"), nil, client.Watch{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(root, root+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := pool.Run(t.Context(), root, request("ls -a"), nil, client.Watch{})
	if err != nil || strings.Contains(r.Stdout.Text, ".git") {
		t.Errorf("%+v, %v", r, err)
	}
	until(t, "the first one's end", func() bool { return !lives(cmd.Process.Pid) })
	c, err := pool.Of(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	until(t, "the second one's end", func() bool { return !lives(c.About().PID) })
}

// A newer program takes over at once; the old sidecar brings its runs to their end first. An older one does not.
func TestANewerProgramTakesOver(t *testing.T) {
	root := project(t)
	old := serve(t, root)
	first := greeted(t, root, `{}`)
	id := first.request("sidecar/run", bash("until [ -e go ]; do sleep 0.05; done; echo done", ""))
	first.event("sidecar/runStarted", any_)
	older := connect(t, root, client.Options{Name: "older", Build: protocol.Build{Version: "dev", Time: time.Unix(1, 0)}})
	if older.About().PID != old.Process.Pid {
		t.Error("an older program replaced a newer one")
	}
	c := connect(t, root, client.Options{Name: "newer", Build: protocol.Build{Version: "dev", Time: time.Now().Add(time.Hour)}})
	stopped(t, c)
	if c.About().PID == old.Process.Pid {
		t.Fatal("the older one still serves")
	}
	if !lives(old.Process.Pid) {
		t.Fatal("the old one ended before its run")
	}
	if m := first.ask("sidecar/run", bash("true", "")); m.Error == nil || m.Error.Data.Kind != protocol.Gone {
		t.Errorf("the old one took a further run: %+v", m)
	}
	write(t, filepath.Join(root, "go"), "")
	if r := result[protocol.RunResult](t, first.answer(id)); r.Stdout.Text != "done\n" {
		t.Errorf("its run: %+v", r)
	}
	until(t, "its end", func() bool { return !lives(old.Process.Pid) })
	works(t, root)
}

// Stopping cancels the runs, tells their clients, and leaves nothing.
func TestStop(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	c, other := greeted(t, root, `{}`), greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("sleep 987652", ""))
	c.event("sidecar/runStarted", any_)
	if m := other.ask("sidecar/stop", `{}`); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
	if r := result[protocol.RunResult](t, c.answer(id)); !r.Cancelled {
		t.Errorf("%+v", r)
	}
	c.closed()
	until(t, "its end", func() bool { return !lives(cmd.Process.Pid) })
	if exec.Command("pgrep", "-f", "sleep 987652").Run() == nil {
		t.Error("the program goes on")
	}
}

// The socket's place is the same whatever runtime folder a client was told of, and however long its path is.
func TestPlace(t *testing.T) {
	root := project(t)
	with, err := place.Of(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	without, err := place.Of(root)
	if err != nil || with != without {
		t.Errorf("%v, with another XDG_RUNTIME_DIR %v: %v", with, without, err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	p := place.Place{Socket: filepath.Join(long, "s.sock"), Lock: filepath.Join(long, "s.lock")}
	held, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Leave()
	if _, err := p.Listen(); !errors.Is(err, place.ErrHeld) {
		t.Errorf("a second one: %v", err)
	}
	conn, err := p.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// A runtime folder that is no folder of ours is an error that says so; nothing is started.
func TestRuntimeFolder(t *testing.T) {
	root := project(t)
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "sidecar"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(string) error{
		"is no folder":          func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"symbolic link":         func(path string) error { return os.Symlink("/tmp", path) },
		"belongs to user 65534": func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, 65534, 65534)) },
	} {
		path := filepath.Join(state, "sidecar", "run")
		_ = os.RemoveAll(path)
		if err := make(path); err != nil {
			t.Logf("%s: %v", name, err) // only root can give a folder away
			continue
		}
		cmd := exec.Command(program, "--workspace", root, "run", "--", "true")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), name) || !strings.Contains(string(out), "a folder of your own") {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

// What initialize answers says which sidecar it is.
func TestAbout(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	m := dial(t, root).greet(`{"protocol":1}`)
	var r struct {
		Capabilities struct {
			Experimental struct{ Sidecar protocol.About }
		}
		ServerInfo struct{ Name string }
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	a := r.Capabilities.Experimental.Sidecar
	if a.PID != cmd.Process.Pid || a.Workspace != root || a.Protocol != protocol.Version || a.Build.Time.IsZero() || r.ServerInfo.Name != "sidecar" {
		t.Errorf("got %s", m.Result)
	}
}

// A sidecar that makes way finishes its runs, and until then they are seen and can be cancelled as before.
func TestRunsOfAnEndingSidecarAreSeen(t *testing.T) {
	root := project(t)
	old := serve(t, root)
	c := greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("sleep 600", ""))
	c.event("sidecar/runStarted", any_)
	c.ask("sidecar/stop", `{"finish":true}`)
	next := connect(t, root, client.Options{Name: "next"})
	stopped(t, next)
	out, err := exec.Command(program, "status").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ending") || !strings.Contains(string(out), "sleep 600") {
		t.Errorf("status: %s, %v", out, err)
	}
	var shown []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "run" {
			shown = append(shown, fields[1])
		}
	}
	if len(shown) != 1 {
		t.Fatalf("runs %v", shown)
	}
	if out, err := exec.Command(program, "cancel", shown[0]).CombinedOutput(); err != nil {
		t.Errorf("cancel: %s, %v", out, err)
	}
	if r := result[protocol.RunResult](t, c.answer(id)); !r.Cancelled {
		t.Errorf("%+v", r)
	}
	until(t, "its end", func() bool { return !lives(old.Process.Pid) })
	left, err := filepath.Glob(filepath.Join(filepath.Dir(next.About().State), "sidecar", "run", "*-*.sock"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A sidecar that hangs is named, with what to do; what asks it waits for so long and no longer.
func TestAStoppedSidecar(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	works(t, root)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Signal(syscall.SIGCONT)
	out, err := exec.Command(program, "status").CombinedOutput()
	if want := fmt.Sprintf("process %d does not answer", cmd.Process.Pid); err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "kill -CONT") {
		t.Errorf("status: %s, %v", out, err)
	}
	p, _ := place.Of(root)
	_, err = client.Attach(t.Context(), p, client.Options{Patience: 200 * time.Millisecond})
	var s *client.SilentError
	if !errors.As(err, &s) || s.PID != cmd.Process.Pid {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	_, err = client.Connect(ctx, root, client.Options{Name: "impatient", Program: program})
	var known *protocol.Error
	if !errors.As(err, &known) || known.Kind != protocol.Cancelled {
		t.Errorf("who gives up: %v", err)
	}
}

// Where somebody removed the socket nobody can come: the sidecar ends, and the next client starts another.
func TestASocketThatWasRemoved(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	p, _ := place.Of(root)
	if err := os.Remove(p.Socket); err != nil {
		t.Fatal(err)
	}
	stopped(t, connect(t, root, client.Options{Name: "next"}))
	works(t, root)
	until(t, "the first one's end", func() bool { return !lives(cmd.Process.Pid) })
}

// Who only looks, or never says who it is, keeps no sidecar alive.
func TestObserversKeepNothingAlive(t *testing.T) {
	root := project(t)
	cmd := serve(t, root, "--idle", "300ms")
	greeted(t, root, `{"observer":true}`)
	dial(t, root)
	until(t, "its end", func() bool { return !lives(cmd.Process.Pid) })
}

// What outlives a client has none of its descriptors: a lock of a script's would be held for minutes.
func TestNothingIsInherited(t *testing.T) {
	root := project(t)
	lock, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	cmd := exec.Command(program, "--workspace", root, "run", "--", "true")
	cmd.ExtraFiles = []*os.File{lock}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	c := connect(t, root, client.Options{Name: "looks"})
	stopped(t, c)
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.About().PID))
	if err != nil || len(fds) == 0 {
		t.Fatalf("%v, %v", fds, err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); to == lock.Name() {
			t.Errorf("%s is the lock", fd)
		}
	}
}

// One Ctrl-C ends a command that waits for somebody to read its output.
func TestInterruptWhileOutputWaits(t *testing.T) {
	root := project(t)
	for _, mode := range []string{"--in-process=false", "--in-process"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "--workspace", root, "run", mode, "--", "yes")
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		time.Sleep(700 * time.Millisecond)
		_ = cmd.Process.Signal(os.Interrupt)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("%s: exit status %d", mode, code)
			}
		case <-time.After(60 * time.Second):
			t.Errorf("%s: it goes on", mode)
			_ = cmd.Process.Kill()
			<-done
		}
		r.Close()
	}
	c := connect(t, root, client.Options{Name: "looks"})
	stopped(t, c)
}
