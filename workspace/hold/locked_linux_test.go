package hold

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"code.sidecar.dev/workspace/oddtree"
)

// TestLockedFolder: a run that takes the rights to a folder keeps no placeholder there, and one that a person locked holds some, too.
func TestLockedFolder(t *testing.T) {
	if done, err := oddtree.AsOwner(t.Name()); done {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, mode := range []os.FileMode{0, 0o311, 0o511, 0o600} {
		t.Run(fmt.Sprintf("%04o", mode), func(t *testing.T) {
			l, repo := ledgerAndRepo(t)
			lock := func(mode os.FileMode) {
				if err := os.Chmod(filepath.Join(repo, ".git"), mode); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(repo, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { lock(0o700) })
			before := listing(t, repo)
			in := Placeholder{Path: filepath.Join(repo, ".git/commondir"), Content: ".\n"}
			le := acquire(t, l, "a", in)
			lock(mode)
			again := acquire(t, l, "b", in, Placeholder{Path: filepath.Join(repo, ".git/x/y"), Folder: true, Parents: true})
			release(t, le)
			release(t, again)
			if info, err := os.Stat(filepath.Join(repo, ".git")); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%v, %v", info, err)
			}
			lock(0o700)
			wantListing(t, repo, before)
		})
	}
}
