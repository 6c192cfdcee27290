package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sidecar/env"
)

// mainPrograms are the main programs of interpreters in nixpkgs (meta.mainProgram) that are not called as their attribute.
var mainPrograms = map[string]string{"nodejs": "node", "lua5_4": "lua"}

// knownExpression asks nix/mkEnv.nix for an environment of each language, of a nixpkgs with those interpreters alone, and of
// packages with those main programs.
const knownExpression = `{ mkEnv, spec }: let
  inherit (builtins.fromJSON spec) attrs languages programs;
  package = name: main: { type = "derivation"; inherit name; meta.mainProgram = main; };
  listed = builtins.listToAttrs (map (a: { inherit (a) name; value = package a.name a.main; }) attrs);
  pkgs = listed // { coreutils = package "coreutils" "ls"; writeTextFile = a: package "written" "none"; buildEnv = a: a; };
  make = args: (import mkEnv) ({ inherit pkgs; name = "x"; } // args);
  names = env: map (p: p.name) env.paths;
in {
  typed = map (l: let made = make { interpreter_type = l; }; in { languages = made.passthru.sidecar.languages; paths = names made; }) languages;
  found = map (p: (make { packages = [ (package "p" p) ]; }).passthru.sidecar.languages) programs;
}`

// TestMkEnvKnowsTheLanguages holds the table of nix/mkEnv.nix to that of sidecar/env and to the presets.
func TestMkEnvKnowsTheLanguages(t *testing.T) {
	type attr struct {
		Name string `json:"name"`
		Main string `json:"main"`
	}
	type made struct{ Languages, Paths []string }
	var spec struct {
		Attrs     []attr   `json:"attrs"`
		Languages []string `json:"languages"`
		Programs  []string `json:"programs"`
	}
	var want, got struct {
		Typed []made
		Found [][]string
	}
	for _, lang := range env.Languages {
		main := lang.Attr
		if name := mainPrograms[lang.Attr]; name != "" {
			main = name
		}
		spec.Attrs = append(spec.Attrs, attr{lang.Attr, main})
		spec.Languages = append(spec.Languages, lang.Name)
		spec.Programs = append(spec.Programs, lang.Programs[0].Name)
		attrs := interpreters(t, lang)
		want.Typed = append(want.Typed, made{languagesOf(attrs...), append(attrs, "bash", "coreutils", "written")})
		want.Found = append(want.Found, languagesOf(lang.Attr))
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(evaluate(t, string(text)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nix/mkEnv.nix and sidecar/env/languages.go differ:\n%s", diff)
	}
	spec.Languages = []string{"no such language"}
	if text, err = json.Marshal(spec); err != nil {
		t.Fatal(err)
	}
	all := env.Names()
	slices.Sort(all)
	if said := refusalOf(t, string(text)); !strings.Contains(said, "Must be one of: "+strings.Join(all, ", ")) {
		t.Errorf("the languages that nix/mkEnv.nix knows are not %q: %s", all, said)
	}
}

// languagesOf are the languages of an environment with these interpreters: bash is in each.
func languagesOf(attrs ...string) []string {
	list := []string{"bash"}
	for _, lang := range env.Languages {
		if slices.Contains(attrs, lang.Attr) {
			list = append(list, lang.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// interpreters are what runs a language, as its preset has it.
func interpreters(t *testing.T, lang env.Language) []string {
	t.Helper()
	for _, p := range nix.Presets() {
		if p.Name == lang.Name && p.Interpreter != lang.Attr {
			t.Errorf("the preset %s has %s, and the table of languages %s", p.Name, p.Interpreter, lang.Attr)
		}
		if p.Name == lang.Name && lang.Name != "bash" { // which has tools beside it
			return append([]string{p.Interpreter}, p.Packages...)
		}
	}
	return []string{lang.Attr}
}

func evaluation(t *testing.T, spec string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("nix-instantiate"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	mkEnv, err := filepath.Abs("../../nix/mkEnv.nix")
	if err == nil {
		_, err = os.Stat(mkEnv) // so that go test knows on what the result depends
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nix-instantiate", "--eval", "--strict", "--json", "--store", "dummy://", "--expr", knownExpression, "--arg", "mkEnv", mkEnv, "--argstr", "spec", spec)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	return cmd
}

func evaluate(t *testing.T, spec string) []byte {
	t.Helper()
	out, err := evaluation(t, spec).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, refusalOf(t, spec))
	}
	return out
}

// refusalOf is what Nix says of what does not evaluate.
func refusalOf(t *testing.T, spec string) string {
	t.Helper()
	out, err := evaluation(t, spec).CombinedOutput()
	if err == nil {
		t.Errorf("it evaluates: %s", out)
	}
	return string(out)
}
