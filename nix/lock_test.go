package nix

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	lockRev  = "0123456789abcdef0123456789abcdef01234567"
	lockHash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+/AA="
	escaped  = "narHash=sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%2B%2FAA%3D"
)

// lockOf is a lock whose input nixpkgs is of these fields.
func lockOf(fields string) string {
	return fmt.Sprintf(`{"nodes":{"nixpkgs":{"locked":{"narHash":%q,"rev":%q,%s}},"root":{"inputs":{"nixpkgs":"nixpkgs"}}},"root":"root","version":7}`, lockHash, lockRev, fields)
}

func TestLockedNixpkgs(t *testing.T) {
	for _, tt := range []struct {
		name, lock, ref string
		official        bool
		bad             string
	}{
		{"github", lockOf(`"type":"github","owner":"NixOS","repo":"nixpkgs"`), "github:NixOS/nixpkgs/" + lockRev + "?" + escaped, true, ""},
		{"a fork", lockOf(`"type":"github","owner":"someone","repo":"nixpkgs"`), "github:someone/nixpkgs/" + lockRev + "?" + escaped, false, ""},
		{"gitlab", lockOf(`"type":"gitlab","owner":"a","repo":"b","host":"git.example.org"`), "gitlab:a/b/" + lockRev + "?host=git.example.org&" + escaped, false, ""},
		{"a channel", lockOf(`"type":"tarball","url":"https://releases.nixos.org/nixos/unstable/x/nixexprs.tar.xz"`),
			"https://releases.nixos.org/nixos/unstable/x/nixexprs.tar.xz?" + escaped, true, ""},
		{"git", lockOf(`"type":"git","url":"https://example.org/n.git?ref=main"`), "git+https://example.org/n.git?" + escaped + "&ref=main&rev=" + lockRev, false, ""},
		{"follows", fmt.Sprintf(`{"nodes":{"n2":{"locked":{"narHash":%q,"rev":%q,"type":"github","owner":"NixOS","repo":"nixpkgs"}},"u":{"inputs":{"nixpkgs":"n2"}},
			"r":{"inputs":{"utils":"u","nixpkgs":["utils","nixpkgs"]}}},"root":"r"}`, lockHash, lockRev), "github:NixOS/nixpkgs/" + lockRev + "?" + escaped, true, ""},
		{"no nixpkgs", `{"nodes":{"root":{"inputs":{"x":"x"}}},"root":"root"}`, "", false, ""},
		{"empty", `{}`, "", false, ""},
		{"follows itself", `{"nodes":{"root":{"inputs":{"nixpkgs":["nixpkgs"]}}},"root":"root"}`, "", false, ""},
		{"follows in a ring", `{"nodes":{"root":{"inputs":{"nixpkgs":["a","b","nixpkgs"],"a":["nixpkgs"],"b":["a"]}}},"root":"root"}`, "", false, ""},
		{"a node that is not there", `{"nodes":{"root":{"inputs":{"nixpkgs":"x"}}},"root":"root"}`, "", false, ""},
		{"a number", `{"nodes":{"root":{"inputs":{"nixpkgs":7}}},"root":"root"}`, "", false, ""},
		{"no JSON", `nixpkgs`, "", false, "flake.lock: invalid"},
		{"other JSON", `[]`, "", false, "flake.lock: json"},
		{"too long", `{"x":"` + strings.Repeat("x", longestLock) + `"}`, "", false, "bytes, more than"},
		{"a path", lockOf(`"type":"path","path":"./evil"`), "", false, "type"},
		{"indirect", lockOf(`"type":"indirect"`), "", false, "type"},
		{"mercurial", lockOf(`"type":"hg","url":"https://x"`), "", false, "type"},
		{"an owner with an option", lockOf(`"type":"github","owner":"--impure","repo":"x"`), "", false, "repository"},
		{"an owner with a path", lockOf(`"type":"github","owner":"a/../b","repo":"x"`), "", false, "repository"},
		{"a repository with a fragment", lockOf(`"type":"github","owner":"a","repo":"x#y"`), "", false, "repository"},
		{"git that executes", lockOf(`"type":"git","url":"ext::sh -c id"`), "", false, "address"},
		{"git from a file", lockOf(`"type":"git","url":"file:///home/x"`), "", false, "address"},
		{"git by ssh", lockOf(`"type":"git","url":"ssh://git@example.org/x"`), "", false, "address"},
		{"a password", lockOf(`"type":"tarball","url":"https://u:p@example.org/x"`), "", false, "address"},
		{"a tarball of a file", lockOf(`"type":"tarball","url":"file:///etc"`), "", false, "address"},
		{"a hash that is none", strings.Replace(lockOf(`"type":"github","owner":"NixOS","repo":"nixpkgs"`), lockHash, "sha256-x", 1), "", false, "narHash"},
		{"a commit that is a branch", strings.Replace(lockOf(`"type":"github","owner":"NixOS","repo":"nixpkgs"`), lockRev, "main", 1), "", false, "repository"},
	} {
		pin, ok, err := LockedNixpkgs([]byte(tt.lock))
		if tt.bad != "" {
			if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.bad)
			}
			continue
		}
		if err != nil || pin.Ref != tt.ref || ok != (tt.ref != "") || pin.Official() != tt.official {
			t.Errorf("%s: %+v, %v, %v; want %s", tt.name, pin, ok, err, tt.ref)
		}
		if ok && (pin.Revision != lockRev || refRevision(pin.Ref) != lockRev && !strings.HasPrefix(pin.Ref, "https:")) {
			t.Errorf("%s: the revision is %q", tt.name, pin.Revision)
		}
	}
}

// FuzzLockedNixpkgs: whatever a lock holds, what comes of it can be handed to Nix, soon.
func FuzzLockedNixpkgs(f *testing.F) {
	f.Add([]byte(lockOf(`"type":"github","owner":"NixOS","repo":"nixpkgs"`)))
	f.Add([]byte(`{"nodes":{"root":{"inputs":{"nixpkgs":["a","a"],"a":["a"]}}},"root":"root"}`))
	f.Fuzz(func(t *testing.T, lock []byte) {
		pin, ok, err := LockedNixpkgs(lock)
		if ok && (err != nil || checkRef("x", pin.Ref) != nil || !json.Valid(lock)) {
			t.Errorf("%q gives %+v, %v", lock, pin, err)
		}
	})
}
