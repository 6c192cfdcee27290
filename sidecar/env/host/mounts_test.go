package host

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/env"
)

func TestPlainPath(t *testing.T) {
	check(t, []findCase{
		{"the system's", "x /usr/bin/python3", "/usr/bin", "python", pythonUsr, nil},
		{"the first folder wins", "x /opt/a/bin/lua\nd /opt/a/lib\nx /opt/b/bin/lua\nd /opt/b/lib", "/opt/a/bin:/opt/b/bin", "lua", "/opt/a/bin/lua, via PATH, bin /opt/a/bin, mount /opt/a", nil},
		{"the preferred name before the first folder", "x /opt/a/bin/python\nd /opt/a/lib\nx /usr/bin/python3", "/opt/a/bin:/usr/bin", "python", pythonUsr, nil},
		{"spaces", "x /opt/my%20python/bin/python3\nd /opt/my%20python/lib", "/opt/my python/bin", "python", "/opt/my python/bin/python3, via PATH, bin /opt/my python/bin, mount /opt/my python", nil},
		{"a folder below /usr", "x /usr/local/go/bin/go", "/usr/local/go/bin", "go", "/usr/local/go/bin/go, via PATH, bin /usr/local/go/bin", nil},
		{"relative, empty and missing folders", "x /home/me/ws/bin/python3", "bin::.:/none", "python", without, nil},
		{"not executable", "f /usr/bin/python3 x", "/usr/bin", "python", without, nil},
		{"a folder", "d /usr/bin/python3", "/usr/bin", "python", without, nil},
		{"a broken link", "l /usr/bin/python3 python9", "/usr/bin", "python", without, nil},
		{"a loop of links", "l /usr/bin/python3 python\nl /usr/bin/python python3", "/usr/bin", "python", without, nil},
		{"a folder that is a loop", "l /usr/bin bin", "/usr/bin", "python", without, nil},
		{"inside the workspace", "x /home/me/ws/tools/bin/python3", "/home/me/ws/tools/bin", "python", "/home/me/ws/tools/bin/python3, via PATH, bin /home/me/ws/tools/bin", nil},
		{"a link elsewhere, whose folder is not visible", "x /opt/n/bin/node\nd /opt/n/lib\nl /home/me/.local/bin/node /opt/n/bin/node", "/home/me/.local/bin", "node", "/opt/n/bin/node, via PATH, bin /opt/n/bin, mount /opt/n", nil},
	})
}

func TestSystems(t *testing.T) {
	check(t, []findCase{
		{"Debian's alternatives", "x /usr/bin/lua5.4\nl /etc/alternatives/lua-interpreter /usr/bin/lua5.4\nl /usr/bin/lua /etc/alternatives/lua-interpreter", "/usr/bin", "lua", "/usr/bin/lua5.4, via PATH", nil},
		{"what Debian keeps in /etc", "x /usr/bin/python3.11\nl /usr/bin/python3 python3.11\nd /etc/python3.11", "/usr/bin", "python", "/usr/bin/python3.11, via PATH, mount /etc/python3.11", nil},
		{"a merged /usr", "x /usr/bin/bash\nl /bin usr/bin", "/bin", "bash", "/usr/bin/bash, via PATH", nil},
		{"busybox stays a link", "x /bin/busybox\nl /bin/bash busybox", "/bin", "bash", "/bin/bash, via PATH", nil},
		{"a snap", "x /usr/bin/snap\nl /snap/bin/julia /usr/bin/snap", "/snap/bin", "julia",
			"missing: /snap/bin/julia is a snap, which cannot start inside a sandbox; or install it with juliaup (julialang.org/downloads)", nil},
		{"a snap before the real one", "x /usr/bin/snap\nl /snap/bin/node /usr/bin/snap\nx /usr/bin/node", "/snap/bin:/usr/bin", "node", "/usr/bin/node, via PATH", nil},
		{"Homebrew", "x /home/linuxbrew/.linuxbrew/Cellar/lua/5.4.6/bin/lua\nd /home/linuxbrew/.linuxbrew/opt\nd /home/linuxbrew/.linuxbrew/lib\nl /home/linuxbrew/.linuxbrew/bin/lua ../Cellar/lua/5.4.6/bin/lua",
			"/home/linuxbrew/.linuxbrew/bin", "lua", "/home/linuxbrew/.linuxbrew/Cellar/lua/5.4.6/bin/lua, via PATH, bin /home/linuxbrew/.linuxbrew/Cellar/lua/5.4.6/bin, " +
				"mount /home/linuxbrew/.linuxbrew/Cellar, mount /home/linuxbrew/.linuxbrew/lib, mount /home/linuxbrew/.linuxbrew/opt", nil},
		{"a Nix profile", "x /nix/store/0a1b2c3d4f5g6h7i8j9k0l1m2n3p4q5r-python3-3.12.1/bin/python3.12\nl /nix/store/env/bin/python3 ../../0a1b2c3d4f5g6h7i8j9k0l1m2n3p4q5r-python3-3.12.1/bin/python3.12\nl /home/me/.nix-profile /nix/store/env",
			"/home/me/.nix-profile/bin", "python", "/nix/store/0a1b2c3d4f5g6h7i8j9k0l1m2n3p4q5r-python3-3.12.1/bin/python3.12, via PATH, bin /nix/store/env/bin, mount /nix/store", nil},
		{"GHC of ghcup", "x /home/me/.ghcup/ghc/9.4.7/lib/ghc-9.4.7/bin/runghc\nl /home/me/.ghcup/ghc/9.4.7/bin/runhaskell ../lib/ghc-9.4.7/bin/runghc\nl /home/me/.ghcup/bin/runhaskell ../ghc/9.4.7/bin/runhaskell",
			"/home/me/.ghcup/bin", "haskell", "/home/me/.ghcup/ghc/9.4.7/lib/ghc-9.4.7/bin/runghc, via PATH, bin /home/me/.ghcup/ghc/9.4.7/lib/ghc-9.4.7/bin, mount /home/me/.ghcup/ghc/9.4.7", nil},
	})
}

func TestFoldersThatAreNeverMounted(t *testing.T) {
	const installed = "; or install python so that it is on PATH"
	check(t, []findCase{
		{"the home", "x /home/me/bin/python3\nd /home/me/lib", "/home/me/bin", "python", "missing: /home/me/bin/python3 would need /home/me mounted, which holds a home" + installed, nil},
		{"the home, for a program of one file", "x /home/me/bin/lua\nd /home/me/lib", "/home/me/bin", "lua", "/home/me/bin/lua, via PATH, bin /home/me/bin, mount /home/me/bin/lua", nil},
		{"~/.local", "x /home/me/.local/bin/python3\nd /home/me/.local/lib", "/home/me/.local/bin", "python",
			"missing: /home/me/.local/bin/python3 would need /home/me/.local mounted, which holds other programs' files too" + installed, nil},
		{"/", "x /python3", "/", "python", "missing: /python3 would need / mounted, which is a folder of the whole system" + installed, nil},
		{"/opt", "x /opt/bin/python3\nd /opt/lib", "/opt/bin", "python", "missing: /opt/bin/python3 would need /opt mounted, which is a folder of the whole system" + installed, nil},
		{"/etc", "x /etc/x/bin/python3\nd /etc/x/lib", "/etc/x/bin", "python", "missing: /etc/x/bin/python3 would need /etc/x mounted, which is the system's" + installed, nil},
		{"another's home", "x /home/you/bin/python3\nd /home/you/lib", "/home/you/bin", "python", "missing: /home/you/bin/python3 would need /home/you mounted, which holds a home" + installed, nil},
		{"a folder of projects", "x /home/me/work/bin/python3", "/home/me/work/bin", "python",
			"missing: /home/me/work/bin/python3 would need /home/me/work mounted, which does not look like the folder of one installed program" + installed, nil},
	})
}

func TestFolderAroundTheWorkspace(t *testing.T) {
	m := fake(t, "x /srv/all/bin/python3\nd /srv/all/lib\nd /srv/all/ws", "/srv/all/bin")
	m.Dir = "/srv/all/ws"
	want := "missing: /srv/all/bin/python3 would need /srv/all mounted, which holds the workspace; or install python so that it is on PATH"
	if got := summary(Find(m), "python"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestFolderThatEverybodyMayWriteTo(t *testing.T) {
	for mode, want := range map[os.FileMode]string{
		0o777:                 without,
		0o777 | os.ModeSticky: "/shared/py/bin/python3, via PATH, bin /shared/py/bin, mount /shared/py",
		0o775:                 "/shared/py/bin/python3, via PATH, bin /shared/py/bin, mount /shared/py",
	} {
		m := fake(t, "x /shared/py/bin/python3\nd /shared/py/lib", "/shared/py/bin")
		if err := os.Chmod(filepath.Join(m.Root, "shared/py/bin"), mode); err != nil {
			t.Fatal(err)
		}
		if got := summary(Find(m), "python"); got != want {
			t.Errorf("mode %v: got %s, want %s", mode, got, want)
		}
	}
}

func TestHostileFilesAreNotReadForever(t *testing.T) {
	within := func(t *testing.T, m Machine) {
		done := make(chan string, 1)
		go func() { done <- summary(Find(m), "python") }()
		select {
		case got := <-done:
			if got != pythonUsr {
				t.Errorf("got %s, want %s", got, pythonUsr)
			}
		case <-time.After(60 * time.Second):
			t.Fatal("Find hangs")
		}
	}
	t.Run("a pipe", func(t *testing.T) {
		m := fake(t, pyenvTree, pyenvPath)
		if err := syscall.Mkfifo(filepath.Join(m.Root, "home/me/ws/.python-version"), 0o644); err != nil {
			t.Fatal(err)
		}
		within(t, m)
	})
	t.Run("a link to a pipe", func(t *testing.T) {
		m := fake(t, pyenvTree+"l /home/me/ws/.python-version pipe", pyenvPath)
		if err := syscall.Mkfifo(filepath.Join(m.Root, "home/me/ws/pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		within(t, m)
	})
	t.Run("a megabyte", func(t *testing.T) {
		m := fake(t, pyenvTree, pyenvPath)
		text := make([]byte, 1<<20)
		copy(text, "3.11.4\n")
		if err := os.WriteFile(filepath.Join(m.Root, "home/me/ws/.python-version"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		within(t, m)
	})
	t.Run("a folder", func(t *testing.T) { within(t, fake(t, pyenvTree+"d /home/me/ws/.python-version", pyenvPath)) })
	t.Run("a loop", func(t *testing.T) {
		within(t, fake(t, pyenvTree+"l /home/me/ws/.python-version .python-version", pyenvPath))
	})
}

func TestSandboxPathKeepsTheUsersOrder(t *testing.T) {
	m := fake(t, `
x /opt/n/bin/node
x /opt/n/bin/python3
d /opt/n/lib
x /usr/bin/python3
d /opt/unused/bin
d /usr/local/bin`, "/opt/unused/bin:/usr/bin:/opt/n/bin:/usr/local/bin")
	got := Find(m).Path
	want := []string{"/usr/bin", "/opt/n/bin", "/usr/local/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestOutermostMounts(t *testing.T) {
	got := outermost([]env.Mount{{Path: "/b/c"}, {Path: "/a-b"}, {Path: "/a/b"}, {Path: "/b"}, {Path: "/a"}, {Path: "/a"}})
	want := []string{"/a", "/a-b", "/b"}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i].Path != want[i] {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestToolsOfTheWorkspaceAreNotTheHosts(t *testing.T) {
	m := fake(t, "x /home/me/ws/bin/git\nx /usr/bin/git\nl /home/me/bin/git ../ws/bin/git", "/home/me/ws/bin:/home/me/bin:/usr/bin")
	if got, ok := Tool(m, "git"); !ok || got != "/usr/bin/git" {
		t.Errorf("got %q %v, want /usr/bin/git", got, ok)
	}
	if got, ok := Tool(m, "bwrap"); ok {
		t.Errorf("got %q, want none", got)
	}
}
