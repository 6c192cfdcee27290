package nix

import (
	"encoding/hex"
	"net/url"
	"strings"
)

// Source is a tree of Nix code: a flake reference, and, once locked, what it was when it was fetched. A locked
// source is read from the store alone.
type Source struct {
	// Ref is a flake reference ("github:NixOS/nixpkgs/nixpkgs-unstable").
	Ref string `json:"ref,omitempty"`
	// Path is the tree in the store, NarHash what it holds; both or none.
	Path    string `json:"path,omitempty"`
	NarHash string `json:"narHash,omitempty"`
	// Revision is its commit, where the reference or Nix tells it.
	Revision string `json:"revision,omitempty"`
}

// DefaultNixpkgs is the nixpkgs of who names none.
const DefaultNixpkgs = "github:NixOS/nixpkgs/nixpkgs-unstable"

const longestRef = 2048

var (
	narHash   = compiled(`^sha256-[A-Za-z0-9+/]{43}=$`)
	storePath = compiled(`^/nix/store/[0-9a-z]{32}-[A-Za-z0-9+._?=-]+$`)
	// What flake references are made of; no fragment, no space, nothing that a shell or Nix would read.
	flakeRef = compiled(`^(?:/|[a-z][a-z0-9+]*:)[A-Za-z0-9._~:/?@!$&*+,;=%-]*$`)
	// An indirect reference is a name in the person's registry.
	registryName = compiled(`^[A-Za-z][A-Za-z0-9_-]*(?:/[A-Za-z0-9._-]+){0,2}$`)
	revision     = compiled(`(?:^|[/=])([0-9a-f]{40})(?:$|[?&])`)
)

// IsStorePath says whether a text is the path of an object of the store, and not of what is in one.
func IsStorePath(text string) bool { return storePath().MatchString(text) }

// Locked says whether the source is fetched and known.
func (s Source) Locked() bool {
	return s.Path != "" && s.NarHash != ""
}

// Official says whether the reference is nixpkgs' own repository or its channels. A commit of a fork can be
// asked for under the name of the repository, so that this is no proof of what it holds.
func (s Source) Official() bool {
	ref := strings.ToLower(s.Ref)
	for _, prefix := range []string{"github:nixos/nixpkgs/", "github:nixos/nixpkgs?", "https://channels.nixos.org/", "https://releases.nixos.org/"} {
		if strings.HasPrefix(ref, prefix) || ref == strings.TrimRight(prefix, "/?") {
			return true
		}
	}
	return false
}

// String names it for people: the reference, and the commit if that tells more.
func (s Source) String() string {
	ref, _, _ := strings.Cut(s.Ref, "?")
	if s.Revision == "" || strings.Contains(ref, s.Revision) {
		return ref
	}
	return ref + " (" + s.Revision[:min(len(s.Revision), 12)] + ")"
}

// check says whether the fields can be handed to Nix.
func (s Source) check() error {
	if s.Path != "" || s.NarHash != "" {
		if !storePath().MatchString(s.Path) || !narHash().MatchString(s.NarHash) {
			return &SpecError{Field: "nixpkgs", Value: s.Path, Reason: "a locked source has a store path and a sha256 narHash"}
		}
		return nil
	}
	return checkRef("nixpkgs", s.Ref)
}

// checkRef refuses what is no flake reference: options, fragments, code, and git's ext: transport, which
// executes what it names.
func checkRef(field, ref string) error {
	bad := func(why string) error { return &SpecError{Field: field, Value: ref, Reason: why} }
	switch {
	case ref == "":
		return bad("it is empty")
	case len(ref) > longestRef:
		return bad("it is too long")
	case strings.Contains(ref, " "):
		return bad("a space is written as %20")
	case strings.HasPrefix(ref, "git+") && !strings.HasPrefix(ref, "git+https:") && !strings.HasPrefix(ref, "git+ssh:") && !strings.HasPrefix(ref, "git+file:") && !strings.HasPrefix(ref, "git+http:"):
		return bad("git fetches over https, ssh, http or from a file only")
	case strings.HasPrefix(ref, "ext:"), !flakeRef().MatchString(ref) && !registryName().MatchString(ref):
		return bad(`a flake reference is like "github:NixOS/nixpkgs/nixos-unstable", "git+https://…" or an absolute path, without #`)
	}
	return nil
}

// nixpkgsData is what the expressions need of a locked source.
type nixpkgsData struct {
	Path    string `json:"path"`
	NarHash string `json:"narHash"`
	Flake   string `json:"flake"`
}

// data is the source as the expressions read it.
func (s Source) data() nixpkgsData {
	return nixpkgsData{Path: s.Path, NarHash: s.NarHash, Flake: "path:" + s.Path + "?narHash=" + url.QueryEscape(s.NarHash)}
}

// refRevision is the commit that a reference names, or "".
func refRevision(ref string) string {
	if match := revision().FindStringSubmatch(ref); match != nil {
		if _, err := hex.DecodeString(match[1]); err == nil {
			return match[1]
		}
	}
	return ""
}
