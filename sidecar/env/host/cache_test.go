package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCacheNoticesWhatChanges(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *Machine) error
		want   string
	}{
		{"nothing", func(m *Machine) error { return nil }, python311},
		{"a version file appears", func(m *Machine) error {
			return os.WriteFile(filepath.Join(m.Root, "home/me/ws/.python-version"), []byte("3.12.1"), 0o644)
		}, python3121},
		{"a version is removed", func(m *Machine) error {
			return os.RemoveAll(filepath.Join(m.Root, "home/me/.pyenv/versions/3.11.4"))
		}, pythonUsr},
		{"a variable", func(m *Machine) error { m.Getenv = lookup([]string{"PYENV_VERSION=system"}); return nil }, pythonUsr},
		{"PATH", func(m *Machine) error { m.Path = "/usr/bin"; return nil }, pythonUsr},
		{"a folder of PATH", func(m *Machine) error { return os.RemoveAll(filepath.Join(m.Root, "home/me/.pyenv/shims")) }, pythonUsr},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c Cache
			m := fake(t, pyenvTree+"f /home/me/.pyenv/version 3.11.4", pyenvPath)
			if got := summary(c.Find(m), "python"); got != python311 {
				t.Fatalf("before: %s", got)
			}
			if err := tt.change(&m); err != nil {
				t.Fatal(err)
			}
			if got := summary(c.Find(m), "python"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestHints(t *testing.T) {
	tests := []struct{ os, language, want string }{
		{"ID=debian", "lua", "apt-get install lua5.4"},
		{`ID="linuxmint"\nID_LIKE="ubuntu debian"`, "haskell", "apt-get install ghc"},
		{"ID=fedora", "r", "dnf install R-core"},
		{`ID="rocky"\nID_LIKE="rhel centos fedora"`, "go", "dnf install golang"},
		{"ID=arch", "python", "pacman -S python"},
		{"ID=alpine", "node", "apk add nodejs"},
		{"ID=opensuse-tumbleweed", "lua", "zypper install lua54"},
		{"ID=nixos", "typescript", "nix profile install nixpkgs#tsx"},
		{"ID=debian", "typescript", "npm install --global tsx, or install Node 22.6 or later"},
		{"ID=unheard", "perl", "install perl so that it is on PATH"},
	}
	for _, tt := range tests {
		e := Find(fake(t, "f /etc/os-release "+tt.os, ""))
		if got := summary(e, tt.language); got != "missing: "+tt.want {
			t.Errorf("%s on %s: got %s, want %s", tt.language, tt.os, got, tt.want)
		}
	}
}

// TestThisMachine compares the finding with what the shell here would run.
func TestThisMachine(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(filepath.Join(home, ".pyenv/shims/python3")); err != nil {
		t.Skip("no pyenv here")
	}
	versions, err := os.ReadDir(filepath.Join(home, ".pyenv/versions"))
	if err != nil || len(versions) == 0 {
		t.Skip("pyenv has no versions here")
	}
	version := versions[len(versions)-1].Name()
	m := This(t.TempDir())
	m.Path = filepath.Join(home, ".pyenv/shims") + ":/usr/bin"
	m.Getenv = lookup([]string{"PYENV_VERSION=" + version})
	got, ok := Find(m).Interpreters["python"]
	prefix := filepath.Join(home, ".pyenv/versions", version)
	if !ok || filepath.Dir(got.Program) != filepath.Join(prefix, "bin") || got.Version != version {
		t.Fatalf("got %+v", got)
	}
	if len(got.Mounts) != 1 || got.Mounts[0].Path != prefix {
		t.Errorf("mounts %v, want just %s", got.Mounts, prefix)
	}
}

func BenchmarkFind(b *testing.B) {
	m := This(b.TempDir())
	for b.Loop() {
		Find(m)
	}
}

func BenchmarkCached(b *testing.B) {
	m := This(b.TempDir())
	for b.Loop() {
		Cached(m)
	}
}
