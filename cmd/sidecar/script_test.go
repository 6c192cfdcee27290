package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script with the real binary in real sandboxes.
func TestScripts(t *testing.T) {
	requireSandbox(t)
	bin := buildBinary(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("SIDECAR", bin)
			e.Setenv("PATH", filepath.Dir(bin)+":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = T\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n"), 0o600)
		},
	})
}

// requireSandbox skips where bubblewrap cannot run; in CI that is a failure.
func requireSandbox(t *testing.T) {
	t.Helper()
	out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("bubblewrap does not work here: %v: %s", err, out)
	}
	t.Skipf("bubblewrap does not work here: %v: %s", err, out)
}

// buildBinary builds the command as it is released, once for all tests: static, since it is also the shim.
func buildBinary(t *testing.T) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sidecar-test")
	if err != nil {
		return "", err
	}
	leftovers = append(leftovers, dir)
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // a program for everybody
		return "", err
	}
	bin := filepath.Join(dir, "sidecar")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return bin, nil
})

// leftovers are folders that outlive single tests.
var leftovers []string

func TestMain(m *testing.M) {
	// Where this was started by nohup(1), hangups are ignored, and so they would be by every program started here. What is
	// caught is reset for programs (execve(2)).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	status := m.Run()
	for _, dir := range leftovers {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}
