package sidecar

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
)

// What is advised about a session's link in the kept home is to remove the link: beyond it is what it leads to.
func TestWhatToRemoveFromAKeptHome(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(home, real string) error
		want string
	}{
		"a folder that is a link": {func(home, real string) error { return os.Symlink(real, filepath.Join(home, ".agent")) }, "remove the link itself: rm KEPT/.agent, "},
		"a deeper one": {func(home, real string) error {
			return errors.Join(os.Mkdir(filepath.Join(home, ".agent"), 0o700), os.Symlink(real, filepath.Join(home, ".agent/it's")))
		}, `remove the link itself: rm 'KEPT/.agent/it'\''s', `},
		"the last one": {func(home, real string) error {
			return errors.Join(os.MkdirAll(filepath.Join(home, ".agent/it's"), 0o700), os.Symlink(real, filepath.Join(home, ".agent/it's/x")))
		}, `remove the link itself: rm 'KEPT/.agent/it'\''s/x', `},
		"a file for a folder": {func(home, _ string) error { return os.WriteFile(filepath.Join(home, ".agent"), nil, 0o600) }, "remove it: rm KEPT/.agent, "},
		"a folder for a file": {func(home, _ string) error { return os.MkdirAll(filepath.Join(home, ".agent/it's/x"), 0o700) }, `look what it has, and remove it: rm -r 'KEPT/.agent/it'\''s/x', `},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			kept, real := filepath.Join(dir, "kept"), filepath.Join(dir, "real")
			if err := errors.Join(os.Mkdir(kept, 0o700), os.Mkdir(real, 0o700), os.WriteFile(filepath.Join(real, "x"), nil, 0o600), tt.make(kept, real)); err != nil {
				t.Fatal(err)
			}
			err = mountPoints(sandbox.Policy{Bases: []sandbox.Base{{Source: kept, Target: "/home/me"}},
				Mounts: []sandbox.Mount{{Source: filepath.Join(real, "x"), Target: "/home/me/.agent/it's/x"}}}, "/home/me")
			var why *protocol.Error
			if !errors.As(err, &why) {
				t.Fatalf("%v", err)
			}
			if want := strings.ReplaceAll(tt.want, "KEPT", kept); !strings.HasPrefix(why.Hint, want) {
				t.Errorf("%s, want %s", why.Hint, want)
			}
		})
	}
}
