package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// program builds this very program with the settings of a release.
func program(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sbom")
	cmd := exec.Command("go", append(append([]string{"build", "-o", file}, args...), ".")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

func TestTheSameTwice(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "package-lock.json")
	text := `{"lockfileVersion": 3, "packages": {"": {"version": "1.0.0"}, "node_modules/@a/b": {"version": "2.0.0", "integrity": "sha512-AAEC"},
		"node_modules/c": {"version": "3.0.0", "dev": true}, "node_modules/d/node_modules/c": {"version": "3.0.0"}}}`
	if err := os.WriteFile(lock, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := program(t, "-trimpath")
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := write(out, "v1.2.3", "2026-01-02T03:04:05Z", lock, []string{file}); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Errorf("%s\nand then\n%s", &first, &second)
	}
	var doc bom
	if err := json.Unmarshal(first.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(doc.SerialNumber) || doc.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("%+v", doc)
	}
	var got []string
	for _, c := range doc.Components {
		name, _, _ := strings.Cut(c.PURL, "@1") // the toolchain's version
		got = append(got, strings.TrimSpace(name+" "+c.Scope))
	}
	if want := []string{"pkg:golang/stdlib", "pkg:npm/%40a/b@2.0.0", "pkg:npm/c@3.0.0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if h := doc.Components[1].Hashes; len(h) != 1 || h[0] != (hash{"SHA-512", "000102"}) {
		t.Errorf("%+v", h)
	}
}

// A program that says where it was built is none of a release.
func TestOtherSettingsAreRefused(t *testing.T) {
	err := write(new(bytes.Buffer), "v1", "", "", []string{program(t)})
	if err == nil || !strings.Contains(err.Error(), "-trimpath") {
		t.Errorf("got %v", err)
	}
}
