package nix

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// Names are the names of all that a set of nixpkgs holds ("" is nixpkgs itself), in order. They are evaluated
// once for each nixpkgs.
func (s *Store) Names(ctx context.Context, nixpkgs Source, set string) ([]string, error) {
	if set != "" && !setName().MatchString(set) {
		return nil, &SpecError{Field: "package set", Value: set, Reason: "a set's name has letters, digits, _ and - only"}
	}
	nixpkgs, err := s.Resolve(ctx, nixpkgs, nil)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.options.Dir, "names", keyOf(namesExpression, nixpkgs.NarHash, System(), set))
	var names []string
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &names) == nil {
		return names, nil
	}
	interpreter, _ := libraryOf(set)
	request, err := json.Marshal(struct {
		Nixpkgs     nixpkgsData `json:"nixpkgs"`
		System      string      `json:"system"`
		Set         string      `json:"set"`
		Interpreter string      `json:"interpreter"`
	}{nixpkgs.data(), System(), set, interpreter})
	if err != nil {
		return nil, err
	}
	out, err := s.nix(ctx, job{what: "the names of " + nixpkgs.String(), nixpkgs: nixpkgs}, "eval", "--json", "--expr", namesExpression, "--argstr", "spec", string(request), "names")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &names); err != nil {
		return nil, err
	}
	return names, replace(file, out)
}

// mostNear packages are suggested.
const mostNear = 3

// suggest adds near names to the error of an unknown package. Where the names cannot be had, it stays as it is.
func (s *Store) suggest(ctx context.Context, t target, err error) error {
	var unknown *UnknownError
	if !errors.As(err, &unknown) || unknown.Why != "" {
		return err
	}
	attr, bad := ParseAttr(unknown.Package)
	if bad != nil {
		return err
	}
	var known []Attr
	for _, set := range t.nearSets(attr) {
		names, _ := s.Names(ctx, t.nixpkgs, set)
		for _, name := range names {
			known = append(known, Attr{Set: set, Name: name})
		}
	}
	unknown.Near = nearAttrs(attr, known)
	return err
}

// nearSets are where a package may be that was not found where it was looked for: its set, nixpkgs itself, the
// sets of other packages, and the libraries of the interpreter.
func (t target) nearSets(attr Attr) []string {
	sets := []string{attr.Set, ""}
	for _, name := range t.spec.Packages {
		if other, err := ParseAttr(name); err == nil {
			sets = append(sets, other.Set)
		}
	}
	sets = append(sets, librariesOf[t.spec.Interpreter]...)
	var once []string
	for _, set := range sets {
		if !slices.Contains(once, set) {
			once = append(once, set)
		}
	}
	return once
}

// librariesOf are the sets in which an interpreter's libraries are looked for.
var librariesOf = map[string][]string{
	"python3": {"python3Packages"}, "ruby": {"rubyPackages"}, "perl": {"perlPackages"}, "lua5_4": {"lua5_4Packages"},
	"ghc": {"haskellPackages"}, "octave": {"octavePackages"}, "R": {"rPackages"}, "nodejs": {"nodePackages"}, "php": {"phpExtensions", "phpPackages"},
}
