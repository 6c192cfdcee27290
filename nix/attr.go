package nix

import (
	"path"
	"strings"
)

// Attr is the path of a package in nixpkgs: a name, or a set and a name in it.
type Attr struct {
	Set, Name string
}

// String is the path as nixpkgs' users write it.
func (a Attr) String() string {
	if a.Set == "" {
		return a.Name
	}
	return a.Set + "." + a.Name
}

// segments are the path as Nix walks it.
func (a Attr) segments() []string {
	if a.Set == "" {
		return []string{a.Name}
	}
	return []string{a.Set, a.Name}
}

const (
	longestAttr = 100
	mostSegment = 2
)

var (
	setName     = compiled(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	packageName = compiled(`^[A-Za-z0-9_][A-Za-z0-9_+-]*$`)
	// npm's scoped names, which are attributes of nodePackages.
	scopedName = compiled(`^@[a-z0-9_-]+/[a-z0-9_-]+$`)
)

// ParseAttr reads "ripgrep" or "python3Packages.pandas". The error is a *SpecError or a *DeniedError.
func ParseAttr(text string) (Attr, error) {
	bad := func(why string) (Attr, error) {
		return Attr{}, &SpecError{Field: "package", Value: text, Reason: why}
	}
	parts := strings.Split(text, ".")
	switch {
	case text == "":
		return bad("it is empty")
	case len(text) > longestAttr:
		return bad("it is longer than any package's name")
	case len(parts) > mostSegment:
		return bad(`a package is a name ("ripgrep") or a set and a name ("python3Packages.pandas")`)
	}
	attr := Attr{Name: parts[len(parts)-1]}
	if len(parts) == mostSegment {
		attr.Set = parts[0]
		if !setName().MatchString(attr.Set) {
			return bad("a set's name has letters, digits, _ and - only")
		}
	}
	scoped := attr.Set == "nodePackages" && scopedName().MatchString(attr.Name)
	if !scoped && !packageName().MatchString(attr.Name) {
		return bad("a package's name has letters, digits, _, + and - only")
	}
	return attr, builtinDenied(attr)
}

// neverNames are attributes that lead out of the list of packages: to the whole of nixpkgs for another
// machine, to tests that start virtual machines, to what packages are made with. Patterns of path.Match.
var neverNames = []struct{ pattern, why string }{
	{"pkgs*", "it is the whole of nixpkgs once more, for another machine or another libc"},
	{"*[bB]uildPackages", "it is the whole of nixpkgs once more, for building"},
	{"targetPackages", "it is the whole of nixpkgs once more, for another machine"},
	{"nixosTests", "they are tests that start virtual machines"},
	{"tests", "they are nixpkgs' own tests"},
	{"testers", "they make tests"},
	{"lib", "it holds functions"},
	{"config", "it is nixpkgs' configuration"},
	{"stdenv*", "it is what packages are built with"},
	{"nixos", "it makes whole systems"},
	{"override*", "it is a function that changes packages"},
	{"extend*", "it is a function that changes nixpkgs"},
	{"callPackage*", "it is a function that makes packages"},
	{"newScope", "it is a function that makes sets of packages"},
	{"passthru", "it is a part of a package"},
	{"meta", "it is a part of a package"},
	{"src", "it is a part of a package"},
	{"drvPath", "it is a part of a package"},
	{"outPath", "it is a part of a package"},
	{"recurseForDerivations", "it is a mark"},
	{"__*", "it is a mark of Nix"},
}

// builtinDenied refuses what is no package for anybody.
func builtinDenied(attr Attr) error {
	for _, segment := range attr.segments() {
		for _, never := range neverNames {
			if ok, _ := path.Match(never.pattern, segment); ok {
				return &DeniedError{Package: attr.String(), Reason: segment + " cannot be asked for: " + never.why}
			}
		}
	}
	return nil
}
