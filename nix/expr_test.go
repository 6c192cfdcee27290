package nix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shape is a nixpkgs of nothing but the ways in which interpreters are put together with libraries, after
// nixpkgs' manual: the stand-in has no Haskell, R, PHP or Octave. What is made of it is a file that says how.
const shape = `{ system, config, overlays }:
let
  made = name: derivation { inherit name system; builder = "/bin/sh"; args = [ "-c" "echo ${name} > $out" ]; };
  names = ps: builtins.concatStringsSep "-" (map (p: p.name) ps);
  set = { a = made "a"; b = made "b"; };
in {
  bash = made "bash"; coreutils = made "coreutils"; cacert = made "cacert";
  slow = derivation { name = "slow-SLOW"; inherit system; builder = "/bin/sh"; args = [ "-c" "/bin/sleep 60" ]; };
  haskellPackages = set // { ghcWithPackages = f: made "ghc-with-${names (f set)}"; };
  octave = made "octave" // { withPackages = f: made "octave-with-${names (f set)}"; };
  rPackages = set; rWrapper.override = { packages }: made "R-with-${names packages}";
  php = made "php" // { withExtensions = f: made "php-with-${names (f { all = set; enabled = [ (made "opcache") ]; })}"; };
  buildEnv = { name, paths, ... }: derivation { inherit name system; from = paths; unique = "UNIQUE"; builder = "/bin/sh"; args = [ "-c" "echo ${toString (map (p: p.name) paths)} > $out" ]; };
}
`

// tree writes a source of Nix code.
func tree(t *testing.T, files map[string]string) Source {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Source{Ref: "path:" + dir}
}

// unique is a shape that nobody else has built, or keeps in the store.
func unique(t *testing.T) Source {
	t.Helper()
	text := strings.NewReplacer("UNIQUE", t.TempDir(), "SLOW", slowName(t)).Replace(shape)
	return tree(t, map[string]string{"default.nix": text})
}

// slowName is that of the test's own build that takes a minute.
func slowName(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }

func TestWays(t *testing.T) {
	store := requireNix(t).open(t)
	spec := Spec{Nixpkgs: tree(t, map[string]string{"default.nix": shape}), Interpreter: "octave",
		Packages: []string{"haskellPackages.b", "haskellPackages.a", "octavePackages.a", "rPackages.a", "rPackages.b", "phpExtensions.b"}}
	built, err := store.Build(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(built.Out)
	const want = "octave-with-a R-with-a-b ghc-with-a-b php-with-opcache-b bash coreutils cacert\n"
	if string(text) != want {
		t.Errorf("made %q, want %q", text, want)
	}
}

// A flake around nixpkgs serves as well, and what is neither is said.
func TestOtherSources(t *testing.T) {
	store := requireNix(t).open(t)
	flake := tree(t, map[string]string{"shape.nix": shape,
		"flake.nix": `{ outputs = { self }: { legacyPackages.x86_64-linux = import ./shape.nix { system = "x86_64-linux"; config = { }; overlays = [ ]; }; }; }`})
	if _, err := store.Build(t.Context(), Spec{Nixpkgs: flake, System: "x86_64-linux"}, nil); err != nil {
		t.Error(err)
	}
	_, err := store.Build(t.Context(), Spec{Nixpkgs: flake, System: "riscv64-linux"}, nil)
	if err == nil || !strings.Contains(err.Error(), "riscv64-linux") {
		t.Errorf("another system: %v", err)
	}
	_, err = store.Build(t.Context(), Spec{Nixpkgs: tree(t, map[string]string{"flake.nix": "{ outputs = _: { }; }"})}, nil)
	var unknown *UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "not like nixpkgs") {
		t.Errorf("no nixpkgs: %v", err)
	}
}

// The environment's expression reads nothing of the machine, whatever nixpkgs would, and runs nothing while it evaluates.
func TestPure(t *testing.T) {
	store := requireNix(t).open(t)
	for name, body := range map[string]string{
		"a file":                `builtins.readFile /etc/passwd`,
		"a folder":              `builtins.attrNames (builtins.readDir /etc)`,
		"a variable":            `let home = builtins.getEnv "HOME"; in if home == "" then throw "no home" else home`,
		"a build to read":       `builtins.readFile (derivation { name = "ifd"; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" "echo hi > $out" ]; })`,
		"a program":             `builtins.exec [ "id" ]`,
		"a search path":         `import <nixpkgs> { }`,
		"an unlocked tree":      `builtins.fetchTree { type = "path"; path = "/etc"; }`,
		"the machine's own tar": `builtins.fetchTarball "file:///etc/passwd"`,
	} {
		source := tree(t, map[string]string{"default.nix": "{ system, config, overlays }: builtins.seq (" + body + ") { }"})
		_, err := store.Build(t.Context(), Spec{Nixpkgs: source}, nil)
		if err == nil {
			t.Errorf("%s was read", name)
			continue
		}
		if text := err.Error(); strings.Contains(text, "root:x") || strings.Contains(text, `"buildEnv" is`) || strings.Contains(text, `"bash" is not in`) {
			t.Errorf("%s was read: %v", name, err)
		}
	}
}
