package nix

import (
	"encoding/json"
	"fmt"
	"net/url"
)

const (
	longestLock = 4 << 20
	mostFollows = 32
)

// lockFile is what is read of a flake.lock.
type lockFile struct {
	Nodes map[string]lockNode `json:"nodes"`
	Root  string              `json:"root"`
}

type lockNode struct {
	// An input is the name of a node, or the path of the input that it follows, from the root.
	Inputs map[string]json.RawMessage `json:"inputs"`
	Locked *lockedInput               `json:"locked"`
}

// lockedInput are the fields of Nix's lock that a reference is made of.
type lockedInput struct {
	Type    string `json:"type"`
	Owner   string `json:"owner"`
	Repo    string `json:"repo"`
	Host    string `json:"host"`
	URL     string `json:"url"`
	Rev     string `json:"rev"`
	NarHash string `json:"narHash"`
}

var (
	forgeName = compiled(`^[A-Za-z0-9~][A-Za-z0-9._-]*$`)
	commit    = compiled(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// LockedNixpkgs is the nixpkgs that a project's flake.lock pins: its input of that name. It is a reference
// with commit and hash, which Nix checks when it fetches. ok is false when the lock pins none.
//
// The lock is the project's, and whoever can write it chooses which nixpkgs is evaluated; ask Official, or the
// person, before using it.
func LockedNixpkgs(lock []byte) (pin Source, ok bool, err error) {
	if len(lock) > longestLock {
		return Source{}, false, fmt.Errorf("flake.lock: %d bytes, more than the %d of any real one", len(lock), longestLock)
	}
	var file lockFile
	if err := json.Unmarshal(lock, &file); err != nil {
		return Source{}, false, fmt.Errorf("flake.lock: %w", err)
	}
	steps := 0
	name, ok := file.input(file.Root, "nixpkgs", &steps)
	if !ok {
		return Source{}, false, nil
	}
	node, ok := file.Nodes[name]
	if !ok || node.Locked == nil {
		return Source{}, false, nil
	}
	pin, err = node.Locked.source()
	return pin, err == nil, err
}

// input is the node that an input of a node leads to.
func (f lockFile) input(node, input string, steps *int) (string, bool) {
	if *steps++; *steps > mostFollows {
		return "", false
	}
	raw, ok := f.Nodes[node].Inputs[input]
	if !ok {
		return "", false
	}
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name, true
	}
	var follows []string
	if json.Unmarshal(raw, &follows) != nil || len(follows) == 0 {
		return "", false
	}
	at := f.Root
	for _, step := range follows {
		if at, ok = f.input(at, step, steps); !ok {
			return "", false
		}
	}
	return at, true
}

// source is the reference with its commit and hash.
func (l lockedInput) source() (Source, error) {
	bad := func(field, value string) (Source, error) {
		return Source{}, fmt.Errorf("flake.lock: nixpkgs' %s %q is not one that can be fetched from anywhere", field, value)
	}
	if !narHash().MatchString(l.NarHash) {
		return bad("narHash", l.NarHash)
	}
	query := url.Values{"narHash": {l.NarHash}}
	pin := Source{Revision: l.Rev}
	switch l.Type {
	case "github", "gitlab", "sourcehut":
		if !forgeName().MatchString(l.Owner) || !forgeName().MatchString(l.Repo) || !commit().MatchString(l.Rev) {
			return bad("repository", l.Owner+"/"+l.Repo+"/"+l.Rev)
		}
		if l.Host != "" {
			query.Set("host", l.Host)
		}
		pin.Ref = l.Type + ":" + l.Owner + "/" + l.Repo + "/" + l.Rev + "?" + query.Encode()
	case "tarball", "git":
		u, err := url.Parse(l.URL)
		if err != nil || u.Scheme != "https" || u.Fragment != "" || u.User != nil {
			return bad("address", l.URL)
		}
		for name, values := range u.Query() {
			query[name] = values
		}
		query.Set("narHash", l.NarHash)
		if l.Type == "git" {
			if !commit().MatchString(l.Rev) {
				return bad("rev", l.Rev)
			}
			query.Set("rev", l.Rev)
			u.Scheme = "git+https"
		}
		u.RawQuery = query.Encode()
		pin.Ref = u.String()
	default:
		return bad("type", l.Type)
	}
	return pin, checkRef("flake.lock", pin.Ref)
}
