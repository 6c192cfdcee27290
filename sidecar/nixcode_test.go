package sidecar

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestNixPaths(t *testing.T) {
	for text, want := range map[string]string{
		`import ./a.nix { src = ./.; }`:                       "./a.nix ./.",
		`# ./no` + "\n" + `/* ./no */ [ ../b lib/c ]`:         "../b lib/c",
		`"./no ${./d} \${./no} \" $${./no}" ./e`:              "./d ./e",
		`''./no ${./f} ''${./no} ''' ./no''\n $${./no}'' ./g`: "./f ./g",
		`"${self}/h.nix" + "/i" + "no/${x}/j"`:                "/h.nix /i /j",
		`{ a = "${toString { b = ./k; }}/l"; } ./m`:           "./k /l ./m",
		`/etc/passwd <nixpkgs> https://example.com/x ~/x`:     "",
		`"unclosed ${ ./n`:                                    "./n",
		`}}}} ./o`:                                            "./o",
		strings.Repeat(`"${`, 100_000):                        "",
	} {
		if got := strings.Join(nixPaths(text), " "); got != want {
			t.Errorf("%.60s: %s; want %s", text, got, want)
		}
	}
}

func TestNixAddresses(t *testing.T) {
	got := nixAddresses(`fetchTarball "https://a.org/x.tar.gz"; url = https://b.org/y; "https://c.org/p/${rev}.zip" "https://d${x}" "http://127.0.0.1/x" "https://e.org:8443/z?q=${f}"`)
	if want := []string{"https://a.org/x.tar.gz", "https://b.org/y", "https://c.org/p/", "https://e.org:8443/"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// What a project's code names is found in any folder, and nothing outside of it, nor what does not end.
func TestNixCode(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for name, text := range map[string]string{
		"secret": "s", "project/flake.nix": "[ ./vendor ./lib/hook ./out/secret ../secret ./pipe ./main.c ./gone ]", "project/flake.lock": "{}",
		"project/vendor/default.nix": "./target/x.nix", "project/vendor/target/x.nix": "./x.nix", "project/vendor/unnamed.nix": "",
		"project/lib/hook": "./more", "project/lib/more": "#!/bin/sh\n./flake.nix", "project/main.c": "./unnamed", "project/unnamed": "", "project/data/a": "", "project/data/b": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := nixCode(root, []string{"data", "gone"})
	want := "data/a data/b flake.lock flake.nix lib/hook lib/more main.c vendor/default.nix vendor/target/x.nix"
	if got := strings.Join(slices.Sorted(maps.Keys(files)), " "); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	made := t.TempDir()
	if err := copyTrusted(Trust{Root: root, Files: files}, made); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(made, "unnamed")); err == nil {
		t.Error("the copy has a file that was not trusted")
	}
	if err := os.WriteFile(filepath.Join(root, "lib", "hook"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyTrusted(Trust{Root: root, Files: files}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "lib/hook") {
		t.Errorf("a changed file was copied: %v", err)
	}
}
