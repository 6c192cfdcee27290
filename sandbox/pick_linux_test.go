package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
)

// Of a store only what is picked is there: files, folders and links, read-only, and nothing leads to the rest.
func TestPicks(t *testing.T) {
	bothModes(t, func(t *testing.T, b *box) {
		store, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"folder/bin/x": "in a folder", "file": "a file", "other/secret": "hunter2", "not": "hunter2"} {
			path := filepath.Join(store, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("folder/bin", filepath.Join(store, "link")); err != nil {
			t.Fatal(err)
		}
		b.policy.Picks = []sandbox.Pick{{Source: store, Target: "/nix/store", Names: []string{"file", "folder", "link"}}}
		_, out, err := b.run(t.Context(), `exec 2>&1
			ls /nix/store | tr '\n' ' '; echo; cat /nix/store/file /nix/store/folder/bin/x /nix/store/link/x
			echo evil >/nix/store/file; echo evil >/nix/store/folder/new; mkdir /nix/store/more; rm -rf /nix/store/folder; mv /nix/store/file /nix/store/f2
			mount -o remount,rw,bind /nix/store; umount /nix/store/file; umount /nix/store
			find / -xdev -name secret 2>/dev/null; ls -A /run/sidecar/pick0 2>/dev/null; grep -c hunter2 -r /run/sidecar /nix 2>/dev/null | grep -v :0; cat /proc/self/mountinfo | grep -c other`)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"file folder link \n", "a file\nin a folder\nin a folder\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("want %q in\n%s", want, out)
			}
		}
		if strings.Contains(out, "secret") || strings.Contains(out, "hunter2") {
			t.Errorf("the rest of the store is seen:\n%s", out)
		}
		for name, want := range map[string]string{"file": "a file\n", "folder/bin/x": "in a folder\n"} {
			if text, err := os.ReadFile(filepath.Join(store, name)); err != nil || string(text) != want {
				t.Errorf("%s holds %q, %v", name, text, err)
			}
		}
		if _, err := os.Stat(filepath.Join(store, "folder/new")); err == nil {
			t.Error("the store was written to")
		}
	})
}

// What is picked and is not there is an error that names it.
func TestAPickThatIsGone(t *testing.T) {
	b := newBox(t, sandbox.ByShim)
	b.policy.Picks = []sandbox.Pick{{Source: b.dir, Target: "/nix/store", Names: []string{"gone"}}}
	if _, _, err := b.run(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "/nix/store/gone") {
		t.Errorf("got %v", err)
	}
}
