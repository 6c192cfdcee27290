package nix

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An old nix is started in a folder that it cannot be told; a newer one, and for other folders, is told.
func TestReadAs(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "a repo")
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	old := Version{2, 8, 0}
	type read struct{ Flake, Dir string }
	for _, tt := range []struct {
		flake   string
		version Version
		want    read
	}{
		{"path:/a%20b", old, read{"path:.", "/a b"}},
		{"/a b", old, read{"path:.", "/a b"}},
		{"git+file:///a%20b?dir=c", old, read{"git+file:.?dir=c", "/a b"}},
		{repo, old, read{"git+file:.", repo}},
		{"path:/a%20b", Nixpkgs, read{"path:/a%20b", ""}},
		{"path:/ab", old, read{"path:/ab", ""}},
		{"github:a/b", old, read{"github:a/b", ""}},
	} {
		o, dir := Output{Flake: tt.flake, Attr: "x"}.readAs(tt.version)
		if diff := cmp.Diff(tt.want, read{o.Flake, dir}); diff != "" || o.Attr != "x" {
			t.Errorf("%s: %s", tt.flake, diff)
		}
	}
}

// A folder with a space in its name is as good as any: named in each way, with git and without, also what is not committed.
func TestSpacedFolder(t *testing.T) {
	nixpkgs := requireNix(t)
	store := openWith(t, nixpkgs.quiet(t))
	folder := filepath.Join(t.TempDir(), "my project")
	const shell = `pkgs.mkShell { packages = [ pkgs.jq ]; GREETING = "hello"; }`
	source := nixpkgs.flake(t, "packages.x86_64-linux.default = pkgs.jq; devShells.x86_64-linux.default = "+shell+";")
	if err := os.Rename(source, folder); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	build := func(o Output) {
		t.Helper()
		built, err := store.Build(t.Context(), Spec{Output: o, Nixpkgs: nixpkgs.nixpkgs()}, nil)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			return
		}
		if o.Shell && built.Variables["GREETING"] != "hello" {
			t.Errorf("%+v: variables %v", o, built.Variables)
		}
	}
	escaped := filepath.Dir(folder) + "/my%20project"
	file := filepath.Join(folder, "shell.nix")
	if err := os.WriteFile(file, []byte("{ pkgs ? import <nixpkgs> { } }: "+shell), 0o644); err != nil {
		t.Fatal(err)
	}
	build(Output{Flake: "path:" + escaped})
	build(Output{Flake: folder})
	build(Output{File: file, Shell: true})
	git("init", "--quiet")
	git("add", ".")
	build(Output{Flake: "git+file://" + escaped, Shell: true, Watch: []string{"nothing is committed"}})
	git("commit", "--quiet", "--message=x")
	build(Output{Flake: "git+file://" + escaped, Shell: true, Watch: []string{"all is committed"}})
	build(Output{Flake: folder, Shell: true})
}
