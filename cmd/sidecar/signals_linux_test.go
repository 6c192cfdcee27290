package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A signal is the program's first, and a second one, or time, cancels the run.
func TestSignalsOfARun(t *testing.T) {
	t.Parallel()
	const has = `trap "echo bye; touch tidy; exit 3" INT TERM HUP QUIT`
	const deaf = `trap "" INT TERM HUP QUIT`
	for name, is := range map[string]struct {
		trap    string
		signals []unix.Signal
		pause   time.Duration
		status  int
		within  time.Duration
		tidy    bool
	}{
		"interrupted, obeys":    {signals: []unix.Signal{unix.SIGINT}, status: 130, within: toEnd},
		"terminated, obeys":     {signals: []unix.Signal{unix.SIGTERM}, status: 143, within: toEnd},
		"hung up, obeys":        {signals: []unix.Signal{unix.SIGHUP}, status: 129, within: toEnd},
		"quit, obeys":           {signals: []unix.Signal{unix.SIGQUIT}, status: 131, within: toEnd},
		"interrupted, tidies":   {trap: has, signals: []unix.Signal{unix.SIGINT}, status: 3, within: toEnd, tidy: true},
		"terminated, tidies":    {trap: has, signals: []unix.Signal{unix.SIGTERM}, status: 3, within: toEnd, tidy: true},
		"the group, too":        {trap: has, signals: []unix.Signal{unix.SIGTERM, unix.SIGTERM}, status: 3, within: toEnd, tidy: true},
		"interrupted, refuses":  {trap: deaf, signals: []unix.Signal{unix.SIGINT}, status: 130, within: soon},
		"terminated, refuses":   {trap: deaf, signals: []unix.Signal{unix.SIGTERM}, status: 143, within: soon},
		"interrupted once more": {trap: deaf, signals: []unix.Signal{unix.SIGINT, unix.SIGINT}, pause: 2 * doubled, status: 130, within: toEnd},
	} {
		for _, where := range []string{"--json=false", "--in-process"} {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.write(t, "script", is.trap+"\necho ready\nwhile :; do sleep 0.02; done\n")
				d.write(t, "text", "ready\n")
				program := []string{"bash", "script"}
				if is.trap == "" {
					program = []string{"tail", "-f", "text"} // bash would not mind SIGQUIT
				}
				c, out := begun(t, d, append([]string{"run", where, "--"}, program...)...)
				start := time.Now()
				for i, sig := range is.signals {
					if i > 0 {
						time.Sleep(is.pause)
					}
					_ = c.Process.Signal(sig)
				}
				said, _ := io.ReadAll(out)
				_ = c.Wait()
				if code := c.ProcessState.ExitCode(); code != is.status || time.Since(start) > is.within {
					t.Errorf("exit status %d after %s, want %d within %s: %s", code, time.Since(start), is.status, is.within, said)
				}
				if _, err := os.Stat(filepath.Join(d.project, "tidy")); is.tidy != (err == nil) || bytes.Contains(said, []byte("goroutine")) {
					t.Errorf("tidied up: %v; said %s", err == nil, said)
				}
			})
		}
	}
}

// begun starts a sidecar, and waits until its program says that it is ready.
func begun(t *testing.T, d *desk, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c := d.command("sidecar", args...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	c.Stdout, c.Stderr = in, in
	err = c.Start()
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, b); err != nil || string(b) != "ready\n" {
		t.Fatalf("began with %q: %v", b, err)
	}
	return c, out
}

// A session stays, whatever ends its call: its own driver is told.
func TestInterruptedCallOfASession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.host(t, "sidecar", "run", "--session", "s", "-l", "python", "-e", "x = 41")
	for i, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM} {
		c, out := begun(t, d, "run", "--session", "s", "-l", "python", "-e", "import time; print('ready', flush=True); time.sleep(1000)")
		_ = c.Process.Signal(sig)
		said, _ := io.ReadAll(out)
		_ = c.Wait()
		if code := c.ProcessState.ExitCode(); code != 128+int(sig) {
			t.Errorf("%d: exit status %d: %s", i, code, said)
		}
	}
	if got := d.host(t, "sidecar", "run", "--session", "s", "-l", "python", "-e", "print(x + 1)"); got != "42\n" {
		t.Errorf("the session has %q", got)
	}
}
