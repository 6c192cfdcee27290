package workspace

import "testing"

func TestIsWide(t *testing.T) {
	const home = "/home/me"
	for path, want := range map[string]struct{ system, wide bool }{
		"/": {true, true}, "/tmp": {true, true}, "/etc": {true, true}, "/home": {true, true}, "/var": {true, true}, "/run/user": {true, true},
		"/proc": {true, true}, "/proc/self": {true, true}, "/sys/fs": {true, true}, "/dev": {true, true}, "/dev/mapper": {true, true},
		"/usr": {true, true}, "/usr/lib": {true, true}, "/usr/local": {true, true}, "/usr/local/bin": {true, true}, "/nix/store/abc": {true, true},
		"/private/tmp": {true, true}, "/System/Library": {true, true}, "/lib64": {true, true},

		"/home/me": {false, true},

		"/home/me/p": {}, "/home/you": {}, "/home/me2": {}, "/tmp/p": {}, "/etc/nixos": {}, "/var/www": {}, "/srv": {}, "/mnt": {}, "/workspaces/p": {},
		"/run/media/me/disk/p": {}, "/dev/shm/p": {}, "/usr/local/src/p": {}, "/usr/src/linux": {}, "/libre": {}, "/system": {}, "/private/tmp/p": {},
	} {
		if got := IsSystem(path); got != want.system {
			t.Errorf("IsSystem(%q) = %v", path, got)
		}
		if got := IsWide(path, home); got != want.wide {
			t.Errorf("IsWide(%q) = %v", path, got)
		}
	}
	if !IsWide("/data/homes", "/data/homes/me") || IsWide("/data", "") {
		t.Error("a folder that holds the home, wherever it lies, and that alone")
	}
}
