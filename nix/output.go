package nix

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Output is an environment that other Nix code makes: a flake's package (lib.mkEnv, lib.mkSandbox), or a dev
// shell with its variables. Building one evaluates that code outside of any sandbox: only what the person
// trusts may be named here.
type Output struct {
	// Flake is a flake reference or an absolute folder; or File is a Nix file ("shell.nix"), absolute.
	Flake string `json:"flake,omitempty"`
	File  string `json:"file,omitempty"`
	// Path is a store path that somebody built before, in place of both; nothing is evaluated.
	Path string `json:"path,omitempty"`
	// Attr is the output ("default" if empty).
	Attr string `json:"attr,omitempty"`
	// Shell takes the output as a dev shell: Built has its variables.
	Shell bool `json:"shell,omitempty"`
	// Watch are files of the host on which the result depends, beside flake.nix, flake.lock and File.
	Watch []string `json:"watch,omitempty"`
	// Restricted keeps the evaluation of File to its folder, nixpkgs and the addresses in Fetched: no other file of the
	// machine is read, and no variable. Flakes are evaluated so by themselves.
	Restricted bool     `json:"restricted,omitempty"`
	Fetched    []string `json:"fetched,omitempty"`
	// Name is what people are told of it, if that is not the flake or the file.
	Name string `json:"-"`
}

var outputAttr = compiled(`^[A-Za-z0-9_][A-Za-z0-9_+-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_+-]*){0,7}$`)

// Check says whether the output can be asked for. The error is a *SpecError.
func (o Output) Check() error {
	if o.Attr != "" && (len(o.Attr) > 200 || !outputAttr().MatchString(o.Attr)) {
		return &SpecError{Field: "attribute", Value: o.Attr, Reason: "it has names with letters, digits, _, + and -, joined by dots"}
	}
	switch {
	case o.Path != "":
		if o.Flake != "" || o.File != "" || o.Attr != "" || o.Shell || !storePath().MatchString(o.Path) {
			return &SpecError{Field: "store path", Value: o.Path, Reason: "it is /nix/store/HASH-NAME, and stands alone"}
		}
		return nil
	case (o.Flake == "") == (o.File == ""):
		return &SpecError{Field: "output", Value: o.Flake, Reason: "it is of a flake or of a file"}
	case o.File != "":
		if !filepath.IsAbs(o.File) || strings.ContainsAny(o.File, "\x00\n") {
			return &SpecError{Field: "file", Value: o.File, Reason: "it is an absolute path"}
		}
		return nil
	}
	if filepath.IsAbs(o.Flake) {
		// Nix reads a path as a reference, so what would be its parts cannot be in it.
		if strings.ContainsAny(o.Flake, "\x00\n?#%") {
			return &SpecError{Field: "flake", Value: o.Flake, Reason: "Nix cannot read a path with ?, # or %"}
		}
		return nil
	}
	return checkRef("flake", o.Flake)
}

// Folder is the folder of the host that the output is made from, or "" for a flake from elsewhere.
func (o Output) Folder() string {
	if o.Path != "" {
		return filepath.Dir(o.Path)
	}
	if o.File != "" {
		return filepath.Dir(o.File)
	}
	path, _, _ := strings.Cut(o.Flake, "?")
	for _, scheme := range []string{"path:", "git+file://", "git+file:"} {
		if rest, ok := strings.CutPrefix(path, scheme); ok {
			if plain, err := url.PathUnescape(rest); err == nil {
				rest = plain // a reference has a space as %20
			}
			path = rest
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// state is what a local output's files hold now.
func (o Output) state() []string {
	files := append([]string{o.File}, o.Watch...)
	if o.Flake != "" {
		files = append(files, filepath.Join(o.Folder(), "flake.nix"), filepath.Join(o.Folder(), "flake.lock"))
	}
	states := make([]string, 0, len(files))
	for _, file := range files {
		states = append(states, file+"="+hashOf(file))
	}
	return states
}

// hashOf is what a file holds, in short; "" if it cannot be read. Only so much of it is read as a person writes.
func hashOf(file string) string {
	if info, err := os.Stat(file); file == "" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, longestLock)); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// String names it for people.
func (o Output) String() string {
	if o.Name != "" {
		return o.Name
	}
	return strings.Join(o.installable(), " ")
}

// installable is the output as an argument of nix.
func (o Output) installable() []string {
	if o.Path != "" {
		return []string{o.Path}
	}
	if o.File != "" {
		args := []string{"--file", o.File}
		if o.Attr != "" {
			args = append(args, o.Attr)
		}
		return args
	}
	if o.Attr != "" {
		return []string{o.Flake + "#" + o.Attr}
	}
	return []string{o.Flake}
}

// readAs is the output as a nix of that version can be asked for it, and the folder that it is to be started in, "" for
// any. Nix before 2.18 reads no reference with a space, also where it is written as %20, but takes the folder it is in.
func (o Output) readAs(v Version) (Output, string) {
	folder := o.Folder()
	if o.Flake == "" || folder == "" || !v.Before(Nixpkgs) || (&url.URL{Path: folder}).EscapedPath() == folder {
		return o, ""
	}
	scheme := "path:."
	if _, err := os.Lstat(filepath.Join(folder, ".git")); strings.HasPrefix(o.Flake, "git+") || filepath.IsAbs(o.Flake) && err == nil {
		scheme = "git+file:."
	}
	if _, query, has := strings.Cut(o.Flake, "?"); has {
		scheme += "?" + query
	}
	o.Flake = scheme
	return o, folder
}

// key names what the output comes to; source is its locked flake, if it is not of this machine.
func (o Output) key(system string, source Source) string {
	if o.Folder() != "" {
		return keyOf("output", system, o, o.state())
	}
	return keyOf("output", system, o, source.NarHash)
}

// isSet says whether there is an output at all.
func (o Output) isSet() bool {
	return o.Flake != "" || o.File != "" || o.Path != "" || o.Attr != "" || o.Shell || len(o.Watch) > 0 || o.Restricted || len(o.Fetched) > 0
}
