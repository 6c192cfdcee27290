package nix

import "regexp"

// librarySets are the package sets whose members are no programs but libraries of an interpreter, and how that
// interpreter is put together with them (the names of ways in expr/env.nix). Members of other sets are
// packages like any. The ways are those of nixpkgs' manual.
var librarySets = []struct {
	set *regexp.Regexp
	// interpreter is its attribute; $1 is what the set's name holds.
	interpreter string
	how         string
}{
	{regexp.MustCompile(`^(python|pypy)(\d*)Packages$`), "${1}${2}", "withPackages"},
	{regexp.MustCompile(`^lua(\d)_?(\d)Packages$`), "lua${1}_${2}", "withPackages"},
	{regexp.MustCompile(`^lua(jit|)Packages$`), "lua${1}", "withPackages"},
	{regexp.MustCompile(`^rubyPackages((?:_\d+)*)$`), "ruby${1}", "withPackages"},
	{regexp.MustCompile(`^perl(\d*)Packages$`), "perl${1}", "withPackages"},
	{regexp.MustCompile(`^octavePackages$`), "octave", "withPackages"},
	{regexp.MustCompile(`^haskellPackages$`), "ghc", "ghcWithPackages"},
	{regexp.MustCompile(`^rPackages$`), "R", "rWrapper"},
	{regexp.MustCompile(`^php(\d*)Extensions$`), "php${1}", "withExtensions"},
}

// libraryOf is the interpreter that the set's members are libraries of, and how they are put together; "" if
// they are packages of their own.
func libraryOf(set string) (interpreter, how string) {
	for _, row := range librarySets {
		if match := row.set.FindStringSubmatchIndex(set); match != nil {
			return string(row.set.ExpandString(nil, row.interpreter, set, match)), row.how
		}
	}
	return "", ""
}
