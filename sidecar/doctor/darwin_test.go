package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// aMac is one on which everything is right.
func aMac() Machine {
	return Machine{OS: "darwin", UID: 501, Git: Program{Path: "/usr/bin/git", Version: "2.50.1"}, Nix: Program{Path: "/nix/var/nix/profiles/default/bin/nix", Version: "2.34.1"},
		Trial: Trial{Ran: true, OK: true}, Mac: Mac{Version: "15.7.1", Developer: "/Library/Developer/CommandLineTools", NixVolume: true, NixDaemon: true},
		StateDir: Folder{Path: "/Users/me/Library/Application Support/sidecar", Free: 1 << 40}, RuntimeDir: Folder{Path: "/Users/me/Library/Application Support/sidecar/run"}}
}

func TestExamineMac(t *testing.T) {
	want := Report{Checks: []Check{
		{"macOS", OK, "15.7.1", ""},
		{"sandbox", OK, "an empty one starts (/usr/bin/sandbox-exec, which Apple calls deprecated and uses itself)", ""},
		{"developer tools", OK, "/Library/Developer/CommandLineTools", ""},
		{"git", OK, "2.50.1 at /usr/bin/git", ""},
		{"nix", OK, "2.34.1 at /nix/var/nix/profiles/default/bin/nix; sidecar turns flakes on for itself", ""},
		{"state folder", OK, "/Users/me/Library/Application Support/sidecar", ""},
		{"runtime folder", OK, "/Users/me/Library/Application Support/sidecar/run", ""},
		{"settings", OK, "can be read", ""},
	}}
	if diff := cmp.Diff(want, Examine(aMac())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		change func(*Machine)
		want   Check
	}{
		"old":        {func(m *Machine) { m.Mac.Version = "12.7" }, Check{"macOS", Warn, "12.7; want 13 or newer", "update macOS"}},
		"no version": {func(m *Machine) { m.Mac.Version = "" }, Check{"macOS", Warn, "does not say its version; want 13 or newer", ""}},
		"in a sandbox": {func(m *Machine) {
			m.Trial = Trial{Ran: true, Stderr: "sandbox-exec: sandbox_apply: Operation not permitted\n"}
		}, Check{"sandbox", Fail, "this is inside a sandbox already, and macOS has none within another: sandbox-exec: sandbox_apply: Operation not permitted", "start sidecar outside of the agent's or the editor's own sandbox"}},
		"no tools":      {func(m *Machine) { m.Mac.Developer = "" }, Check{"developer tools", Warn, "none: git, make, clang and python3 of macOS are found in them only", "xcode-select --install"}},
		"no nix volume": {func(m *Machine) { m.Mac.NixVolume = false }, Check{"nix", Warn, "2.34.1 at /nix/var/nix/profiles/default/bin/nix; sidecar turns flakes on for itself; its volume is not mounted at /nix", "mount it (diskutil list), or install Nix anew"}},
		"no nix daemon": {func(m *Machine) { m.Mac.NixDaemon = false }, Check{"nix", Warn, "2.34.1 at /nix/var/nix/profiles/default/bin/nix; sidecar turns flakes on for itself; its daemon does not listen", "sudo launchctl kickstart -k system/org.nixos.nix-daemon"}},
		"a long folder": {func(m *Machine) {
			m.RuntimeDir.Path = "/Users/a-rather-long-name-of-a-person-with-a-long-name/Library/Application Support/sidecar/run"
		}, Check{"runtime folder", Fail, "/Users/a-rather-long-name-of-a-person-with-a-long-name/Library/Application Support/sidecar/run is too long for a socket in it", "set XDG_STATE_HOME to a shorter path"}},
	} {
		m := aMac()
		c.change(&m)
		found := false
		for _, got := range Examine(m).Checks {
			if got.Name == c.want.Name {
				found = true
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		}
		if !found {
			t.Errorf("%s: no check %s", name, c.want.Name)
		}
	}
}

func TestMacFacts(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"System/Library/CoreServices/SystemVersion.plist": "<plist><dict>\n<key>ProductName</key>\n<string>macOS</string>\n<key>ProductVersion</key>\n\t<string>26.1</string>\n</dict></plist>",
		"nix/store/x": "", "Library/Developer/CommandLineTools/usr/bin/git": "",
	} {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := Mac{Version: "26.1", Developer: "/Library/Developer/CommandLineTools", NixVolume: true}
	if diff := cmp.Diff(want, system{root: root}.mac()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
