package nix

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// Each language of the stand-in, with a library where it has one.
func TestEnvironments(t *testing.T) {
	nixpkgs := requireNix(t)
	store := nixpkgs.open(t)
	for _, tt := range []struct {
		interpreter string
		packages    []string
		program     []string
		want        string
	}{
		{"python3", []string{"python3Packages.tinyplot", "ripgrep"}, []string{"python3", "-c", "import tinyplot; print(tinyplot.bars([3]))"}, "###"},
		{"python3", []string{"python3Packages.pyyaml"}, []string{"python3", "-c", "import yaml; print(yaml.safe_load('a: [1]'))"}, "{'a': [1]}"},
		{"bash", []string{"ripgrep", "jq"}, []string{"bash", "-c", "echo '{\"a\":7}' | jq .a | rg 7"}, "7"},
		{"perl", []string{"perlPackages.TinyTable"}, []string{"perl", "-MTinyTable", "-e", "print TinyTable::sum(3, 4)"}, "7"},
		{"perl", nil, []string{"perl", "-e", "print 6*7"}, "42"},
		{"lua5_4", []string{"lua5_4Packages.tinytable"}, []string{"lua", "-e", "print(require('tinytable').sum{3, 4})"}, "7"},
		{"ruby", []string{"rubyPackages.tinytable"}, []string{"ruby", "-r", "tinytable", "-e", "puts TinyTable.sum([3, 4])"}, "7"},
		{"nodejs", []string{"jq"}, []string{"node", "-p", "6*7"}, "42"},
		{"", nil, []string{"sh", "-c", "env echo sh"}, "sh"},
	} {
		t.Run(tt.interpreter+" "+strings.Join(tt.packages, " "), func(t *testing.T) {
			built := nixpkgs.build(t, store, tt.interpreter, tt.packages...)
			if got := built.output(t, tt.program[0], tt.program[1:]...); got != tt.want {
				t.Errorf("%q printed %q, want %q", tt.program, got, tt.want)
			}
			if !slices.Contains(built.Closure, built.Out) || len(built.Closure) < 3 {
				t.Errorf("the closure is %q", built.Closure)
			}
			for _, path := range built.Closure {
				if _, err := os.Lstat(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The presets that the stand-in has all packages for.
func TestPresetsBuild(t *testing.T) {
	nixpkgs := requireNix(t)
	store := nixpkgs.open(t)
	for _, preset := range Presets() {
		if slices.Contains([]string{"haskell", "octave", "typescript", "go", "php", "r", "julia"}, preset.Name) {
			continue
		}
		built, err := store.Build(t.Context(), preset.Spec(nixpkgs.nixpkgs()), nil)
		if err != nil {
			t.Errorf("%s: %v", preset.Name, err)
			continue
		}
		if preset.Name == "shell" {
			script := "git init -q $0 && echo x | gzip | zcat | sed s/x/y/ && which rg tree bc file awk find diff tar grep >/dev/null && file -b $0"
			if got := built.output(t, "bash", "-c", script, "/tmp/r"); !strings.HasPrefix(got, "y\n") {
				t.Errorf("the shell printed %q", got)
			}
		}
	}
}

// What cannot be built says why, each in a type of its own, and the next request works.
func TestFailures(t *testing.T) {
	nixpkgs := requireNix(t)
	store := nixpkgs.open(t)
	for _, tt := range []struct {
		packages []string
		// want are parts of the message that are all there.
		want []string
		kind any
	}{
		{[]string{"ripgerp"}, []string{`"ripgerp" is not in path:`, "did you mean ripgrep?"}, new(*UnknownError)},
		{[]string{"python3Packages.tinytabel"}, []string{"did you mean python3Packages.tinytable?"}, new(*UnknownError)},
		{[]string{"tinytable"}, []string{"did you mean python3Packages.tinytable?"}, new(*UnknownError)},
		{[]string{"python3Packages.jq"}, []string{"did you mean jq"}, new(*UnknownError)},
		{[]string{"pythonn3Packages.x"}, []string{`"pythonn3Packages"`}, new(*UnknownError)},
		{[]string{"writeText"}, []string{"is no package"}, new(*UnknownError)},
		{[]string{"hello.version"}, []string{`"hello"`, "is no set of packages"}, new(*UnknownError)},
		{[]string{"nodejs_20", "nodePackages.prettier"}, []string{`"nodePackages" is not in`}, new(*UnknownError)},
		{[]string{"unfreetool"}, []string{"unfreetool-1.0", "has an unfree license", "nix.allow_unfree"}, new(*RefusedError)},
		{[]string{"insecuretool"}, []string{"is marked as insecure", "nix.allow_insecure: [insecuretool-1.0]"}, new(*RefusedError)},
		{[]string{"brokentool"}, []string{"is marked as broken", "nix.allow_broken"}, new(*RefusedError)},
		{[]string{"python3Packages.markedbroken"}, []string{"marked as broken"}, new(*RefusedError)},
		{[]string{"brokenbuild"}, []string{"exit code 7", "\n  brokenbuild: this build always fails", "the whole log: " + store.options.Dir}, new(*BuildError)},
		{[]string{"python3Packages.brokenbuild"}, []string{"this build always fails"}, new(*BuildError)},
	} {
		_, err := store.Build(t.Context(), Spec{Nixpkgs: nixpkgs.nixpkgs(), Interpreter: "python3", Packages: tt.packages}, nil)
		if err == nil || !errors.As(err, tt.kind) {
			t.Errorf("%q: %T %v; want a %T", tt.packages, err, err, tt.kind)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v\nhas no %q", tt.packages, err, part)
			}
		}
	}
	nixpkgs.build(t, store, "bash")
}

// What nixpkgs refuses is there once it is allowed.
func TestAllowed(t *testing.T) {
	nixpkgs := requireNix(t)
	spec := Spec{Nixpkgs: nixpkgs.nixpkgs(), Packages: []string{"unfreetool", "insecuretool", "brokentool"},
		Allow: Allow{Unfree: true, Broken: true, Insecure: []string{"insecuretool-1.0"}}}
	if _, err := nixpkgs.open(t).Build(t.Context(), spec, nil); err != nil {
		t.Error(err)
	}
}
