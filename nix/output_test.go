package nix

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// flake writes a user's flake whose nixpkgs is the stand-in.
func (s *standIn) flake(t *testing.T, outputs string) string {
	t.Helper()
	dir := t.TempDir()
	text := "{\n  inputs.nixpkgs.url = \"path:" + s.tree + "\";\n  outputs = { self, nixpkgs }: let pkgs = nixpkgs.legacyPackages.x86_64-linux; in {\n" + outputs + "\n  };\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "flake.nix"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quiet are options with which Nix asks for no registry.
func (s *standIn) quiet(t *testing.T) Options {
	t.Helper()
	o := s.options(t)
	o.Config = map[string]string{"flake-registry": filepath.Join(s.folder, "registry.json")}
	for name, value := range s.config {
		o.Config[name] = value
	}
	return o
}

// A user's flake makes an environment; it is built anew when the flake changes, and else not.
func TestFlakePackage(t *testing.T) {
	nixpkgs := requireNix(t)
	o := nixpkgs.quiet(t)
	starts := counted(t, &o)
	store := openWith(t, o)
	dir := nixpkgs.flake(t, `packages.x86_64-linux.tools = pkgs.buildEnv { name = "tools"; paths = [ pkgs.bash pkgs.jq ]; };`)
	spec := Spec{Output: Output{Flake: "path:" + dir, Attr: "tools"}}
	for range 2 {
		built, err := store.Build(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := built.output(t, "jq", "-n", "6*7"); got != "42" {
			t.Errorf("jq printed %q", got)
		}
	}
	if n := builds(starts()); n != 1 {
		t.Errorf("%d builds of a flake that is the same", n)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "flake.nix"))
	os.WriteFile(filepath.Join(dir, "flake.nix"), []byte(strings.ReplaceAll(string(text), "pkgs.jq", "pkgs.tree")), 0o644)
	built, err := store.Build(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	built.output(t, "tree", "--version")
	if _, err := os.Stat(filepath.Join(dir, "flake.lock")); err == nil {
		t.Error("a lock file was written into the project")
	}
}

// Flakes that are broken say what is wrong with them.
func TestBrokenFlakes(t *testing.T) {
	nixpkgs := requireNix(t)
	store := openWith(t, nixpkgs.quiet(t))
	good := nixpkgs.flake(t, "")
	for _, tt := range []struct {
		name, outputs string
		output        Output
		want          string
		kind          any
	}{
		{"syntax", "packages = {", Output{}, "syntax error", new(*EvalError)},
		{"no such output", "", Output{Attr: "nothing"}, "does not provide attribute", new(*EvalError)},
		{"its code throws", `packages.x86_64-linux.default = throw "not today";`, Output{}, "not today", new(*EvalError)},
		{"its build fails", `packages.x86_64-linux.default = pkgs.brokenbuild;`, Output{}, "this build always fails", new(*BuildError)},
		{"no flake", "", Output{Flake: "path:" + filepath.Join(good, "nowhere")}, "nowhere", new(*FetchError)},
	} {
		if tt.output.Flake == "" {
			tt.output.Flake = "path:" + nixpkgs.flake(t, tt.outputs)
		}
		_, err := store.Build(t.Context(), Spec{Output: tt.output}, nil)
		if err == nil || !errors.As(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %T %v; want a %T with %q", tt.name, err, err, tt.kind, tt.want)
		}
	}
}

// A dev shell gives its programs, its variables and its hook, from a flake and from a shell.nix.
func TestDevShells(t *testing.T) {
	nixpkgs := requireNix(t)
	store := openWith(t, nixpkgs.quiet(t))
	const shell = `pkgs.mkShell { packages = [ pkgs.jq pkgs.python3 ]; GREETING = "hello there"; shellHook = "echo hook"; }`
	dir := nixpkgs.flake(t, "devShells.x86_64-linux.default = "+shell+";")
	file := filepath.Join(dir, "shell.nix")
	os.WriteFile(file, []byte("{ pkgs ? import <nixpkgs> { } }: "+shell), 0o644)
	for _, spec := range []Spec{
		{Output: Output{Flake: "path:" + dir, Shell: true}},
		{Output: Output{File: file, Shell: true}, Nixpkgs: nixpkgs.nixpkgs()},
	} {
		built, err := store.Build(t.Context(), spec, nil)
		if err != nil {
			t.Errorf("%+v: %v", spec, err)
			continue
		}
		if built.Variables["GREETING"] != "hello there" || built.Hook != "echo hook" || built.Variables["HOME"] != "" {
			t.Errorf("variables %v, hook %q", built.Variables, built.Hook)
		}
		cmd := exec.Command("/bin/sh", "-c", "jq -n 6*7 && python3 -c 'print(1)'")
		cmd.Env = []string{"PATH=" + built.Variables["PATH"]}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "42\n1\n" {
			t.Errorf("%v: %s", err, out)
		}
		// All that PATH names is in the closure.
		for _, folder := range filepath.SplitList(built.Variables["PATH"]) {
			if !contains(built.Closure, strings.TrimSuffix(folder, "/bin")) {
				t.Errorf("%s is not in the closure %q", folder, built.Closure)
			}
		}
		if again, ok := store.Cached(spec); !ok || again.Variables["GREETING"] != "hello there" {
			t.Error("it is not found again")
		}
	}
	if roots, _ := filepath.Glob(filepath.Join(store.options.Dir, "roots", "*.shell*")); len(roots) > 0 {
		t.Errorf("profiles are left over: %q", roots)
	}
}

func contains(all []string, one string) bool {
	for _, path := range all {
		if path == one {
			return true
		}
	}
	return false
}

// A store of one's own: the same names, the files below its folder.
func TestOwnStore(t *testing.T) {
	nixpkgs := requireNix(t)
	o := nixpkgs.quiet(t)
	// Builders of a store of one's own are in a sandbox; the /bin/sh that a Nix was compiled with may not be here.
	o.Config["sandbox"], o.Config["sandbox-paths"] = "true", ""
	o.Root = filepath.Join(t.TempDir(), "store")
	if err := nixpkgs.setup("--no-node", "--store", o.Root); err != nil {
		t.Fatal(err)
	}
	defer nixpkgs.setup()
	store := openWith(t, o)
	built := nixpkgs.build(t, store, "bash")
	for _, path := range built.Closure {
		if !strings.HasPrefix(built.Real(path), o.Root+"/nix/store/") {
			t.Fatalf("%s is at %s", path, built.Real(path))
		}
		if _, err := os.Lstat(built.Real(path)); err != nil {
			t.Error(err)
		}
	}
	if again, ok := store.Cached(built.Spec); !ok || again.Real(again.Out) != built.Real(built.Out) {
		t.Error("it is not found again")
	}
	if got := built.output(t, "bash", "-c", "echo $((6*7)) | cat"); got != "42" {
		t.Errorf("bash printed %q", got)
	}
}
