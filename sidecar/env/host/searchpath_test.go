package host

import (
	"os"
	"path/filepath"
	"testing"
)

// What a program of the host looks for others in holds nothing that a run can put there.
func TestSearchPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, outside := filepath.Join(dir, "ws"), filepath.Join(dir, "bin")
	for _, d := range []string{filepath.Join(root, "bin"), outside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(root, "bin"), link); err != nil {
		t.Fatal(err)
	}
	path := root + ":" + filepath.Join(root, "bin") + ":bin:.:" + link + ":" + outside + ":/usr/bin"
	if got, want := SearchPath(Machine{Path: path, Dir: root, Home: dir}), outside+":/usr/bin"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
