package host

import "testing"

func TestWider(t *testing.T) {
	const all = "/Users/me/.nix-profile/bin:/etc/profiles/per-user/me/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	for _, c := range []struct{ system, path, want string }{
		{"darwin", "/usr/bin:/bin:/usr/sbin:/sbin", all},
		{"darwin", "/bin/:/usr/bin", all},
		{"darwin", "", all},
		{"darwin", "/opt/homebrew/bin:/usr/bin", "/opt/homebrew/bin:/usr/bin"},
		{"darwin", "/Users/me/tools:/usr/bin:/bin", "/Users/me/tools:/usr/bin:/bin"},
		{"linux", "/usr/bin:/bin", "/usr/bin:/bin"},
	} {
		env := Wider(c.system, func(name string) string { return map[string]string{"PATH": c.path, "X": "y"}[name] }, "/Users/me")
		if got := env("PATH"); got != c.want || env("X") != "y" {
			t.Errorf("%s %q: %q, want %q", c.system, c.path, got, c.want)
		}
	}
}
