package nix

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Spec asks for an environment: an interpreter and packages of nixpkgs, or, with Output, what other Nix code
// makes.
type Spec struct {
	// System is Nix's name of the machine ("x86_64-linux"); "" is this one.
	System string `json:"system,omitempty"`
	// Nixpkgs is where packages come from. A Source with only a Ref is resolved by the Store, once.
	Nixpkgs Source `json:"nixpkgs,omitzero"`
	// Interpreter is the attribute of a language's interpreter ("python3", "lua5_4"), or "".
	Interpreter string `json:"interpreter,omitempty"`
	// Packages are attribute paths: "ripgrep", "python3Packages.pandas".
	Packages []string `json:"packages,omitempty"`
	// Deny refuses packages; Allow lets nixpkgs give what it refuses by itself.
	Deny  Denylist `json:"-"`
	Allow Allow    `json:"allow,omitzero"`
	// Output is other Nix code's environment; then only System and Nixpkgs count beside it.
	Output Output `json:"output,omitzero"`
}

// Allow is nixpkgs' configuration as far as it lets packages through.
type Allow struct {
	Unfree bool `json:"unfree,omitempty"`
	Broken bool `json:"broken,omitempty"`
	// Insecure are names with versions, as nixpkgs names them when it refuses ("openssl-1.1.1w").
	Insecure []string `json:"insecure,omitempty"`
}

// Base is in every environment made of packages: /bin/sh, /usr/bin/env, and certificates for what may reach
// the network.
var Base = []string{"bash", "coreutils", "cacert"}

const mostPackages = 200

var (
	systemName   = compiled(`^[a-z0-9_]+-[a-z]+$`)
	insecureName = compiled(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
)

// System is Nix's name of the machine that this program was compiled for.
func System() string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "i686", "arm": "armv7l", "loong64": "loongarch64"}
	if name, ok := arch[runtime.GOARCH]; ok {
		return name + "-" + runtime.GOOS
	}
	return runtime.GOARCH + "-" + runtime.GOOS
}

// libraries are what goes through an interpreter's withPackages; the fields are those of expr/env.nix.
type libraries struct {
	Interpreter string   `json:"interpreter"`
	Set         string   `json:"set"`
	How         string   `json:"how"`
	Names       []string `json:"names"`
}

// plan is a valid Spec of packages, sorted out. It is what the key is made of and what Nix gets.
type plan struct {
	System    string         `json:"system"`
	Config    map[string]any `json:"config"`
	Libraries []libraries    `json:"libraries"`
	Packages  [][]string     `json:"packages"`
}

// Check says whether the request can be made at all, before anything starts. The error is a *SpecError or a
// *DeniedError.
func (s Spec) Check() error {
	if s.Output.isSet() {
		return s.Output.Check()
	}
	_, err := s.plan()
	return err
}

// plan validates a Spec and sorts its packages into libraries and the rest.
func (s Spec) plan() (plan, error) {
	p := plan{System: s.system(), Libraries: []libraries{}, Packages: [][]string{}}
	if !systemName().MatchString(p.System) {
		return plan{}, &SpecError{Field: "system", Value: s.System, Reason: `a system is like "x86_64-linux"`}
	}
	config, err := s.Allow.config()
	if err != nil {
		return plan{}, err
	}
	p.Config = config
	attrs, err := s.attrs()
	if err != nil {
		return plan{}, err
	}
	p.sort(attrs)
	return p, nil
}

// system is the asked one, or this machine's.
func (s Spec) system() string {
	if s.System == "" {
		return System()
	}
	return s.System
}

// config is nixpkgs' own form.
func (a Allow) config() (map[string]any, error) {
	for _, name := range a.Insecure {
		if len(name) > longestAttr || !insecureName().MatchString(name) {
			return nil, &SpecError{Field: "insecure package", Value: name, Reason: `it is a name with its version, like "openssl-1.1.1w"`}
		}
	}
	insecure := slices.Clone(a.Insecure)
	slices.Sort(insecure)
	return map[string]any{"allowUnfree": a.Unfree, "allowBroken": a.Broken, "permittedInsecurePackages": append([]string{}, slices.Compact(insecure)...)}, nil
}

// attrs are the interpreter, the packages in the order of their names, and the base, each once.
func (s Spec) attrs() ([]Attr, error) {
	if len(s.Packages) > mostPackages {
		return nil, &SpecError{Field: "packages", Value: fmt.Sprint(len(s.Packages)), Reason: fmt.Sprintf("an environment has at most %d", mostPackages)}
	}
	asked := slices.DeleteFunc(slices.Sorted(slices.Values(s.Packages)), func(name string) bool { return slices.Contains(Base, name) })
	// The base comes last: of two programs with one name, the one that was asked for is taken.
	names := slices.Concat(asked, Base)
	if s.Interpreter != "" {
		names = append([]string{s.Interpreter}, names...)
	}
	var attrs []Attr
	for _, name := range names {
		attr, err := ParseAttr(name)
		if err != nil {
			return nil, err
		}
		if pattern := s.Deny.denies(attr); pattern != "" && !slices.Contains(Base, name) {
			return nil, &DeniedError{Package: name, Pattern: pattern}
		}
		if !slices.Contains(attrs, attr) {
			attrs = append(attrs, attr)
		}
	}
	return attrs, nil
}

// sort puts libraries with their interpreters, which then are no packages beside them. What belongs to the
// first package's interpreter comes first.
func (p *plan) sort(attrs []Attr) {
	with := map[string]bool{}
	for _, attr := range attrs {
		interpreter, how := libraryOf(attr.Set)
		if interpreter == "" {
			continue
		}
		with[interpreter] = true
		at := slices.IndexFunc(p.Libraries, func(l libraries) bool { return l.Interpreter == interpreter && l.How == how })
		if at < 0 {
			at = len(p.Libraries)
			p.Libraries = append(p.Libraries, libraries{Interpreter: interpreter, Set: attr.Set, How: how})
		}
		p.Libraries[at].Names = append(p.Libraries[at].Names, attr.Name)
	}
	for _, attr := range attrs {
		if interpreter, _ := libraryOf(attr.Set); interpreter == "" && !(attr.Set == "" && with[attr.Name]) {
			p.Packages = append(p.Packages, attr.segments())
		}
	}
	first := attrs[0].Name
	slices.SortStableFunc(p.Libraries, func(a, b libraries) int {
		return strings.Compare(rank(a.Interpreter, first), rank(b.Interpreter, first))
	})
}

// rank sorts the first before all others.
func rank(name, first string) string {
	if name == first {
		return ""
	}
	return name
}

// key names what a plan comes to with one nixpkgs and one version of the expression.
func (p plan) key(nixpkgs Source) string {
	return keyOf("packages", expressionVersion(), nixpkgs.NarHash, p)
}

// expressionVersion changes with what requests are made into.
var expressionVersion = sync.OnceValue(func() string { return keyOf(environmentExpression) })

// keyOf is a short hash of values, none of which can be taken for another.
func keyOf(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Errorf("bug: a key's parts are always JSON: %w", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// request is the JSON that expr/env.nix reads.
func (p plan) request(nixpkgs Source) string {
	text, err := json.Marshal(struct {
		plan
		Nixpkgs nixpkgsData `json:"nixpkgs"`
	}{p, nixpkgs.data()})
	if err != nil {
		panic(fmt.Errorf("bug: a request is always JSON: %w", err))
	}
	return string(text)
}
