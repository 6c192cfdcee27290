// Command sbom writes the bill of materials of a release, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json): what Go
// modules are in its programs, and what npm packages are in the extension's bundle or make it. The same programs and lock
// file give the same bytes.
//
//	sbom -version v1.2.0 -time 2026-01-02T03:04:05Z -npm editors/vscode/package-lock.json PROGRAM...
//
// It knows nothing of what the packages depend on in turn, nor of licenses.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	version := flag.String("version", "dev", "the release's version")
	time := flag.String("time", "", "when its commit was made, RFC 3339")
	npm := flag.String("npm", "", "a package-lock.json; none if empty")
	flag.Parse()
	if err := write(os.Stdout, *version, *time, *npm, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// bom is a CycloneDX document.
type bom struct {
	Format       string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	SerialNumber string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Scope      string     `json:"scope,omitempty"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func write(out io.Writer, version, time, npm string, programs []string) error {
	doc := bom{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []component{}}
	doc.Metadata = metadata{Timestamp: time, Component: component{Type: "application", Name: "sidecar", Version: version, PURL: "pkg:golang/code.sidecar.dev@" + version}}
	doc.Metadata.Component.Ref = doc.Metadata.Component.PURL
	all := map[string]component{}
	for _, program := range programs {
		if err := modules(all, program); err != nil {
			return err
		}
	}
	if npm != "" {
		if err := packages(all, npm); err != nil {
			return err
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(all)) {
		doc.Components = append(doc.Components, all[ref])
	}
	serial, err := serialOf(doc)
	if err != nil {
		return err
	}
	doc.SerialNumber = serial
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// modules are those that are linked into a program (go version -m), and the toolchain with its standard library.
func modules(all map[string]component, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	add := func(path, version, sum string) {
		c := component{Type: "library", Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
		c.Ref = c.PURL
		if sum != "" { // of a tree of files (golang.org/x/mod/sumdb/dirhash), and so none of CycloneDX's hashes
			c.Properties = []property{{"go:sum", sum}}
		}
		all[c.Ref] = c
	}
	add("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, m.Sum)
	}
	return checkSettings(program, info.Settings)
}

// checkSettings refuses a program whose bytes depend on where it was built.
func checkSettings(program string, settings []debug.BuildSetting) error {
	for _, want := range []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"}} {
		if !slices.Contains(settings, want) {
			return fmt.Errorf("%s was not built with %s=%s", program, want.Key, want.Value)
		}
	}
	return nil
}

// packages are those of a lock file of npm, version 2 or 3. What only makes or tests the extension has the scope "excluded".
func packages(all map[string]component, lock string) error {
	text, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	var file struct {
		Packages map[string]struct {
			Version, Integrity string
			Dev                bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return fmt.Errorf("%s: %w", lock, err)
	}
	for path, p := range file.Packages {
		at := strings.LastIndex(path, "node_modules/")
		if at < 0 {
			continue // the package itself
		}
		name := path[at+len("node_modules/"):]
		c := component{Type: "library", Name: name, Version: p.Version, PURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version}
		c.Ref = c.PURL
		if p.Dev {
			c.Scope = "excluded"
		}
		if sum, ok := strings.CutPrefix(p.Integrity, "sha512-"); ok {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return fmt.Errorf("%s: the integrity of %s: %w", lock, name, err)
			}
			c.Hashes = []hash{{"SHA-512", hex.EncodeToString(raw)}}
		}
		if old, there := all[c.Ref]; there && old.Scope == "" { // needed in one place is needed
			continue
		}
		all[c.Ref] = c
	}
	return nil
}

// serialOf is a UUID made of the document (RFC 9562, version 8), so that the same document has the same.
func serialOf(doc bom) (string, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	b := sha256.Sum256(text)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16]), nil
}
