package env

import (
	"fmt"
	"strings"
)

// Program is a name looked for on PATH, and the arguments that go before the file with the code.
type Program struct {
	Name string
	Args []string
}

// Language is one row of the table of languages.
type Language struct {
	Name string
	// Aliases are other names for it in requests, in lower case.
	Aliases []string
	// Programs run it, the preferred one first.
	Programs []Program
	// File is the name that a file of code gets; FileName refines it.
	File string
	// Attr is the interpreter's attribute in nixpkgs.
	Attr string
	// PackageSet is the attribute set of its libraries in nixpkgs, "" if it has none.
	PackageSet string
}

// Languages are all that sidecar knows, in the order in which they are listed. TypeScript comes after node,
// since some of its programs need a node beside them.
var Languages = []Language{
	{Name: "python", Aliases: []string{"py", "python3", "py3"}, Programs: programs("python3", "python"),
		File: "main.py", Attr: "python3", PackageSet: "python3Packages"},
	{Name: "bash", Aliases: []string{"sh", "shell", "shellscript"}, Programs: programs("bash"),
		File: "main.sh", Attr: "bash"},
	{Name: "node", Aliases: []string{"js", "javascript", "nodejs", "node.js", "mjs", "cjs"}, Programs: programs("node", "nodejs"),
		File: "main.cjs", Attr: "nodejs", PackageSet: "nodePackages"},
	{Name: "ruby", Aliases: []string{"rb"}, Programs: programs("ruby"),
		File: "main.rb", Attr: "ruby", PackageSet: "rubyPackages"},
	{Name: "perl", Aliases: []string{"pl", "perl5"}, Programs: programs("perl"),
		File: "main.pl", Attr: "perl", PackageSet: "perlPackages"},
	{Name: "lua", Aliases: []string{"lua5", "lua5.4"}, Programs: programs("lua", "lua5.4", "lua5.3", "luajit"),
		File: "main.lua", Attr: "lua5_4", PackageSet: "lua5_4Packages"},
	{Name: "haskell", Aliases: []string{"hs", "runhaskell", "ghc"}, Programs: programs("runhaskell", "runghc"),
		File: "main.hs", Attr: "ghc", PackageSet: "haskellPackages"},
	// --no-gui: plain octave starts a window, or fails for want of a display.
	{Name: "octave", Aliases: []string{"m", "matlab"}, Programs: programs("octave --no-gui --quiet", "octave-cli --quiet"),
		File: "main.m", Attr: "octave", PackageSet: "octavePackages"},
	// deno's and bun's own permissions are left wide: the sandbox is what confines them.
	{Name: "typescript", Aliases: []string{"ts", "mts", "cts"}, Programs: programs("tsx", "deno run --allow-all --no-prompt", "bun run", "ts-node", "node --experimental-strip-types"),
		File: "main.ts", Attr: "tsx", PackageSet: "nodePackages"},
	{Name: "go", Aliases: []string{"golang"}, Programs: programs("go run"),
		File: "main.go", Attr: "go"},
	{Name: "php", Programs: programs("php"),
		File: "main.php", Attr: "php", PackageSet: "phpPackages"},
	{Name: "r", Aliases: []string{"rscript", "rlang"}, Programs: programs("Rscript"),
		File: "main.R", Attr: "R", PackageSet: "rPackages"},
	{Name: "julia", Aliases: []string{"jl"}, Programs: programs("julia"),
		File: "main.jl", Attr: "julia"},
}

// programs reads "name arg arg" into Programs; the table's words hold no spaces of their own.
func programs(lines ...string) []Program {
	all := make([]Program, len(lines))
	for i, line := range lines {
		words := strings.Fields(line)
		all[i] = Program{Name: words[0], Args: words[1:]}
	}
	return all
}

// Lookup finds a language by its name or an alias, whatever the case. The error is an *UnknownLanguageError.
func Lookup(name string) (Language, error) {
	wanted := strings.ToLower(strings.TrimSpace(name))
	for _, lang := range Languages {
		if lang.isCalled(wanted) {
			return lang, nil
		}
	}
	return Language{}, &UnknownLanguageError{Name: name, Near: nearLanguages(wanted)}
}

// isCalled says whether name, in lower case, is this language's name or an alias.
func (l Language) isCalled(name string) bool {
	if l.Name == name {
		return true
	}
	for _, alias := range l.Aliases {
		if alias == name {
			return true
		}
	}
	return false
}

// UnknownLanguageError says that no language has this name.
type UnknownLanguageError struct {
	Name string
	// Near are the names of languages whose name or alias is like it, the nearest first.
	Near []string
}

// Error names the near languages and all known ones.
func (e *UnknownLanguageError) Error() string {
	return fmt.Sprintf("unknown language %s%s; known are %s", quoted(e.Name), suggestion(e.Near), listed(Names()))
}

// Names are the names of all languages.
func Names() []string {
	all := make([]string, len(Languages))
	for i, lang := range Languages {
		all[i] = lang.Name
	}
	return all
}
