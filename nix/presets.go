package nix

import "slices"

// Preset is an environment that comes with sidecar.
type Preset struct {
	// Name is its id in requests, Summary what it is for.
	Name, Summary string
	// Language is the name of the language that it runs.
	Language string
	// Interpreter and Packages are as in Spec.
	Interpreter string
	Packages    []string
}

// shellTools are what scripts take for granted, and agents ask for.
var shellTools = []string{
	"gnused", "gnugrep", "gawk", "findutils", "diffutils", "gnutar", "gzip", "which", "file", "tree", "bc", "jq", "ripgrep", "gitMinimal",
}

// presets are one for each language, and shell.
var presets = []Preset{
	{Name: "python", Summary: "Python", Language: "python", Interpreter: "python3"},
	{Name: "bash", Summary: "Bash and the usual tools", Language: "bash", Interpreter: "bash", Packages: []string{"gnused", "gnugrep", "gawk", "findutils"}},
	{Name: "shell", Summary: "Bash, the usual tools, jq, ripgrep and git", Language: "bash", Interpreter: "bash", Packages: shellTools},
	{Name: "node", Summary: "Node.js", Language: "node", Interpreter: "nodejs"},
	{Name: "ruby", Summary: "Ruby", Language: "ruby", Interpreter: "ruby"},
	{Name: "perl", Summary: "Perl", Language: "perl", Interpreter: "perl"},
	{Name: "lua", Summary: "Lua", Language: "lua", Interpreter: "lua5_4"},
	{Name: "haskell", Summary: "Haskell (GHC)", Language: "haskell", Interpreter: "ghc"},
	{Name: "octave", Summary: "Octave", Language: "octave", Interpreter: "octave"},
	{Name: "typescript", Summary: "TypeScript (tsx)", Language: "typescript", Interpreter: "tsx", Packages: []string{"nodejs"}},
	{Name: "go", Summary: "Go", Language: "go", Interpreter: "go"},
	{Name: "php", Summary: "PHP", Language: "php", Interpreter: "php"},
	{Name: "r", Summary: "R", Language: "r", Interpreter: "R"},
	{Name: "julia", Summary: "Julia", Language: "julia", Interpreter: "julia"},
}

// Presets are the environments that come with sidecar, in the order in which they are listed.
func Presets() []Preset {
	return slices.Clone(presets)
}

// Spec asks for the preset with further packages.
func (p Preset) Spec(nixpkgs Source, packages ...string) Spec {
	return Spec{Nixpkgs: nixpkgs, Interpreter: p.Interpreter, Packages: slices.Concat(p.Packages, packages)}
}
