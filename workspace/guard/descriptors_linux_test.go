package guard

import (
	"os"
	"path/filepath"
	"testing"
)

// A guard lives as long as its sidecar: what one run opens must not be open after it.
func TestNoDescriptorStaysOpen(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		for _, dir := range []string{".git/hooks", "tools"} {
			if err := os.MkdirAll(filepath.Join(p.root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", "tools/run": "x", "plain": "y"} {
			if err := os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("plain", filepath.Join(p.root, "link")); err != nil {
			t.Fatal(err)
		}
		var watched []Watched
		for _, name := range []string{"tools", "plain", "link", "absent", "absent/deeper"} {
			watched = append(watched, Watched{Path: filepath.Join(p.root, name), Reason: "test"})
		}
		w := p.guard(o, BeginOptions{RunID: "r0", Watched: watched})
		w.End(t.Context())
		before := descriptors(t)
		for range 5 {
			w := p.g.Begin(BeginOptions{RunID: "r", Watched: watched})
			write(t, filepath.Join(p.root, "plain"), "changed")
			write(t, filepath.Join(p.root, "absent"), "new")
			w.End(t.Context())
			write(t, filepath.Join(p.root, "plain"), "y")
		}
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors after five runs, %d before", after, before)
		}
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	_ = os.RemoveAll(path)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
