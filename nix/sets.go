package nix

import "regexp"

// librarySets are the package sets whose members are no programs but libraries of an interpreter, and how that
// interpreter is put together with them (the names of ways in expr/env.nix). Members of other sets are
// packages like any. The ways are those of nixpkgs' manual.
var librarySets = []struct {
	set func() *regexp.Regexp
	// interpreter is its attribute; $1 is what the set's name holds.
	interpreter string
	how         string
}{
	{compiled(`^(python|pypy)(\d*)Packages$`), "${1}${2}", "withPackages"},
	{compiled(`^lua(\d)_?(\d)Packages$`), "lua${1}_${2}", "withPackages"},
	{compiled(`^lua(jit|)Packages$`), "lua${1}", "withPackages"},
	{compiled(`^rubyPackages((?:_\d+)*)$`), "ruby${1}", "withPackages"},
	{compiled(`^perl(\d*)Packages$`), "perl${1}", "withPackages"},
	{compiled(`^octavePackages$`), "octave", "withPackages"},
	{compiled(`^haskellPackages$`), "ghc", "ghcWithPackages"},
	{compiled(`^rPackages$`), "R", "rWrapper"},
	{compiled(`^php(\d*)Extensions$`), "php${1}", "withExtensions"},
}

// libraryOf is the interpreter that the set's members are libraries of, and how they are put together; "" if
// they are packages of their own.
func libraryOf(set string) (interpreter, how string) {
	for _, row := range librarySets {
		if match := row.set().FindStringSubmatchIndex(set); match != nil {
			return string(row.set().ExpandString(nil, row.interpreter, set, match)), row.how
		}
	}
	return "", ""
}
