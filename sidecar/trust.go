package sidecar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/nix"
	"code.sidecar.dev/sidecar/protocol"
)

// projectEnvironment is the id of a project's own dev shell. It is Nix code of the project, evaluated outside of any
// sandbox, so only what a person has looked at and trusted is: the very content, as with direnv.
const projectEnvironment = "project"

// Trust is what a person trusted of a project's Nix code.
type Trust struct {
	Root string    `json:"root"`
	At   time.Time `json:"at"`
	// Files are the hashes of all that evaluation can read of the project, by path from the root.
	Files map[string]string `json:"files"`
	// With are files and folders that the person named beside what the code names.
	With []string `json:"with,omitempty"`
}

// Trust records that a person trusts the Nix code of the project at root as it is now, with the files and folders, by paths
// from there, that they name now or named before.
func (e *Engine) Trust(root string, with ...string) (Trust, error) {
	before, _ := e.trusted(root)
	for i, name := range with {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil || !filepath.IsLocal(name) {
			return Trust{}, bad("name it by its path from "+root, "%s is no file of the project", name)
		}
		with[i] = path.Clean(name)
	}
	with = slices.Compact(slices.Sorted(slices.Values(slices.Concat(before.With, with))))
	files, err := nixCode(root, with)
	if err != nil {
		return Trust{}, bad("name the flake in nix.environments instead", "the project's Nix code: %v", err)
	}
	if len(files) == 0 {
		return Trust{}, bad("it is a project's flake.nix or shell.nix that is trusted", "%s has no Nix code", root)
	}
	t := Trust{Root: root, At: time.Now().Round(0), Files: files, With: with}
	file, err := e.trustFile(root)
	if err != nil {
		return t, err
	}
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return t, err
	}
	return t, errors.Join(os.RemoveAll(copiesOf(file)), os.WriteFile(file, text, 0o600))
}

// Distrust takes it back; was says that there was something to take back.
func (e *Engine) Distrust(root string) (was bool, err error) {
	file, err := e.trustFile(root)
	if err == nil {
		err = errors.Join(os.Remove(file), os.RemoveAll(copiesOf(file)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// trustFile is where the trust in a project is recorded.
func (e *Engine) trustFile(root string) (string, error) {
	state, err := e.stateDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, "trust")
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, hex.EncodeToString(sum[:8])+".json"), os.MkdirAll(dir, 0o700)
}

// trusted is what was trusted of a project; ok is false when nothing was.
func (e *Engine) trusted(root string) (t Trust, ok bool) {
	file, err := e.trustFile(root)
	if err != nil {
		return t, false
	}
	text, err := os.ReadFile(file)
	return t, err == nil && json.NewDecoder(bytes.NewReader(text)).Decode(&t) == nil && t.Root == root
}

// Trusts are all projects whose Nix code was trusted.
func (e *Engine) Trusts() []Trust {
	state, err := e.stateDir()
	if err != nil {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(state, "trust", "*.json"))
	all := []Trust{}
	for _, file := range files {
		var t Trust
		if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &t) == nil {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Trust) int { return strings.Compare(a.Root, b.Root) })
	return all
}

// projectAttr is which of the project's outputs an environment's id means: "project" its dev shell, "project#NAME" that with
// a name, "project#packages.NAME" a package in place of a shell. ok is false for another id.
func projectAttr(id string) (attr string, shell, ok bool) {
	name, attr, _ := strings.Cut(id, "#")
	kind, rest, dotted := strings.Cut(attr, ".")
	if dotted && (kind == "packages" || kind == "devShells") && !strings.HasPrefix(rest, nix.System()+".") {
		attr = kind + "." + nix.System() + "." + rest
	}
	return attr, kind != "packages", name == projectEnvironment
}

// projectShell is the project's dev shell, or what an id of projectAttr means, as a request to Nix: of the copy of what was
// trusted. ok is false when it has none.
func (e *Engine) projectShell(root, id string, t Trust) (spec nix.Spec, ok bool) {
	attr, shell, _ := projectAttr(id)
	t.Root = root
	dir, err := e.copyFolder(t)
	if err != nil {
		return spec, false
	}
	file := "shell.nix"
	if isFile(filepath.Join(root, "flake.nix")) {
		file = "flake.nix"
	}
	out := nix.Output{Attr: attr, Shell: shell, Name: strings.TrimSuffix(filepath.Join(root, file)+"#"+attr, "#")}
	for _, rel := range slices.Sorted(maps.Keys(t.Files)) {
		out.Watch = append(out.Watch, filepath.Join(root, rel))
	}
	if file == "flake.nix" {
		out.Flake = "path:" + (&url.URL{Path: dir}).EscapedPath() // it may have a space
		return nix.Spec{Output: out}, true
	}
	out.File, out.Restricted, out.Fetched = filepath.Join(dir, file), true, copiedAddresses(dir, t)
	return nix.Spec{Output: out, Nixpkgs: e.nixpkgs(dir)}, isFile(filepath.Join(root, file))
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// project is the project's own dev shell, or another of its outputs. What is built of trusted code is used again without a question; to evaluate
// anew, every file must be as it was trusted.
func (e *Engine) project(root, id string) (nix.Spec, error) {
	t, ok := e.trusted(root)
	spec, has := e.projectShell(root, id, t)
	switch {
	case !has:
		return spec, bad("it is made of the project's flake.nix or shell.nix", "the project %s has no dev shell", root)
	case !ok:
		return spec, untrusted("was not trusted yet")
	}
	if store, err := e.store(root); err == nil {
		if _, built := store.Cached(spec); built {
			return spec, nil
		}
	}
	if err := unchanged(root, t); err != nil {
		return spec, err
	}
	err := e.copyTrust(t)
	spec, _ = e.projectShell(root, id, t) // with the addresses of the copy
	return spec, err
}

// unchanged refuses Nix code that is not what was trusted.
func unchanged(root string, t Trust) error {
	now, err := nixCode(root, t.With)
	if err != nil {
		return bad("", "the project's Nix code: %v", err)
	}
	if changed := changes(t.Files, now); changed != "" {
		return untrusted("has changed since it was trusted (" + changed + ")")
	}
	return nil
}

func untrusted(what string) error {
	return &protocol.Error{Kind: protocol.Denied, Message: "the project's Nix code " + what + ", and is evaluated outside of the sandbox",
		Hint: "look at it, then run `sidecar trust` in a terminal of your own", Err: errUntrusted}
}

// changes names the first file that differs.
func changes(was, is map[string]string) string {
	for _, rel := range slices.Sorted(maps.Keys(is)) {
		if was[rel] != is[rel] {
			return rel
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(was)) {
		if is[rel] == "" {
			return rel
		}
	}
	return ""
}
