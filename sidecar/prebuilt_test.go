package sidecar

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrebuilt: what is in the folder of environments and is none is there, too, with what is wrong with it.
func TestPrebuilt(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	err := errors.Join(os.MkdirAll(filepath.Join(root, "nix/store/a-env"), 0o700), os.Mkdir(filepath.Join(dir, "folder"), 0o700),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.WriteFile(filepath.Join(dir, ".keep"), nil, 0o600))
	for name, to := range map[string]string{"good": "/nix/store/a-env", "collected": "/nix/store/b-env", "below": "/nix/store/a-env/bin", "elsewhere": root, "dangling": "nowhere", "loop": "loop"} {
		err = errors.Join(err, os.Symlink(to, filepath.Join(dir, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for id, p := range prebuiltIn(dir, root) {
		if got[id] = p.path + p.broken; p.link != filepath.Join(dir, id) || (p.error(id) == nil) != (p.broken == "") {
			t.Errorf("%s: link %s, error %v", id, p.link, p.error(id))
		}
	}
	want := map[string]string{"good": "/nix/store/a-env", "collected": "leads to nothing", "below": "leads to nothing", "elsewhere": "a link that leads to no store path",
		"dangling": "leads to nothing", "loop": "leads to nothing", "folder": "no link to a store path", "file": "no link to a store path"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
