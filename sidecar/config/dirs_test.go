package config

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

// home gives the test a home of its own.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(xdg.Reload) // after the variables are back
	t.Setenv("HOME", dir)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	xdg.Reload()
	old := sessions
	sessions = filepath.Join(dir, "run-user")
	t.Cleanup(func() { sessions = old })
	return dir
}

func TestDirs(t *testing.T) {
	dir := home(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "st"))
	xdg.Reload()
	for name, tc := range map[string]struct {
		get  func() (string, error)
		want string
	}{
		"state":   {StateDir, "st/sidecar"},
		"cache":   {CacheDir, ".cache/sidecar"},
		"runtime": {RuntimeDir, "st/sidecar/run"},
	} {
		got, err := tc.get()
		if err != nil || got != filepath.Join(dir, tc.want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tc.want)
		}
		if info, err := os.Lstat(got); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v; want a private folder", name, info.Mode(), err)
		}
	}
	if got := ConfigFile(); got != filepath.Join(dir, ".config/sidecar/config.yaml") {
		t.Errorf("the config file is %s", got)
	}
}

// TestRuntimeDirIsTheSame: a server that an MCP client started without XDG_RUNTIME_DIR finds the terminal's socket.
func TestRuntimeDirIsTheSame(t *testing.T) {
	dir := home(t)
	session := filepath.Join(sessions, strconv.Itoa(os.Geteuid()))
	if err := os.MkdirAll(session, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"", session, filepath.Join(dir, "elsewhere")} {
		t.Setenv("XDG_RUNTIME_DIR", value)
		xdg.Reload()
		if got, err := RuntimeDir(); err != nil || got != filepath.Join(session, "sidecar") {
			t.Errorf("with XDG_RUNTIME_DIR=%s: %s, %v", value, got, err)
		}
	}
}

func TestStateDirRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		plant func(path string) error
		want  string
	}{
		"a link": {func(path string) error { return os.Symlink("/tmp", path) }, `is a symbolic link to "/tmp"; want a folder of its own`},
		"a file": {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "is no folder"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(home(t), ".local/state/sidecar")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tc.plant(path); err != nil {
				t.Fatal(err)
			}
			if got, err := StateDir(); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("have %q, %v; want %s", got, err, tc.want)
			}
		})
	}
}

func TestStateDirOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	path := filepath.Join(home(t), ".local/state/sidecar")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if got, err := StateDir(); err == nil || !strings.HasSuffix(err.Error(), "belongs to user 65534; want user 0") {
		t.Errorf("have %q, %v", got, err)
	}
}

func TestStateDirIsTightened(t *testing.T) {
	path := filepath.Join(home(t), ".local/state/sidecar")
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := StateDir()
	if info, _ := os.Lstat(path); err != nil || got != path || info.Mode().Perm() != 0o700 {
		t.Errorf("have %s, %v, %v; want mode 0700", got, err, info.Mode())
	}
}
