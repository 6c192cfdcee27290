package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestParsePolicy(t *testing.T) {
	const file = "/nix/store/x-policy/share/sidecar/claude-sandboxed.json"
	want := Profile{Environment: "/nix/store/e", Home: "kept", RWDirs: []string{"$HOME/.claude"}, Network: "open", AllowNix: true, Memory: 8 << 30,
		AllowedPorts: &Ports{List: []int{5432}}, AllowedDomains: &Domains{Names: []Domain{{Name: "a.org"}, {Name: "b.org", Methods: []string{"GET"}}}},
		Env: map[string]EnvValue{"A": {Text: "b"}, "C": {File: "~/c"}}}
	for _, text := range []string{
		`{"environment":"/nix/store/e","home":"kept","rw_dirs":["$HOME/.claude"],"network":"open","allow_nix":true,"memory":"8GiB","allowed_ports":[5432],` +
			`"allowed_domains":{"a.org":"*","b.org":["GET"]},"env":{"A":"b","C":{"file":"~/c"}}}`,
		"environment: /nix/store/e\nhome: kept\nrw_dirs: [$HOME/.claude]\nnetwork: open\nallow_nix: true\nmemory: 8GiB\nallowed_ports: [5432]\n" +
			"allowed_domains:\n  a.org: \"*\"\n  b.org: [GET]\nenv:\n  A: b\n  C: {file: ~/c}\n",
	} {
		name, p, err := ParsePolicy(file, text)
		if err != nil || name != "claude-sandboxed" {
			t.Errorf("%q %v", name, err)
		}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("%s: -want +got:\n%s", text, diff)
		}
	}
	for text, want := range map[string]Profile{
		"":                        {},
		"{}":                      {},
		`{"allowed_domains":[]}`:  {AllowedDomains: &Domains{Names: []Domain{}}},
		`{"allowed_ports":null}`:  {AllowedPorts: &Ports{All: true}},
		`{"allowed_ports":"all"}`: {AllowedPorts: &Ports{All: true}},
	} {
		_, p, err := ParsePolicy(file, text)
		if diff := cmp.Diff(want, p); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +got:\n%s", text, err, diff)
		}
	}
}

func TestParsePolicyRefuses(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"/x/a.yaml", "rw_dir: [/a]\nhome: mine\n", "/x/a.yaml:1: rw_dir: no such setting; did you mean rw_dirs?\n/x/a.yaml:2: home: have \"mine\", want kept or empty"},
		{"/x/a.yaml", "home: empty\nallowed_ports: [0]\n", `/x/a.yaml:2: allowed_ports: have "0", want a port from 1 to 65535`},
		{"/x/a.yaml", "limits: {timeout: 3s}\n", "/x/a.yaml:1: limits: no such setting; known there: "},
		{"/x/a.yaml", "- a\n", "/x/a.yaml:1: have a list, want a map of settings"},
		{"/x/a.yaml", "a: {", "/x/a.yaml:1: no YAML: "},
		{"/x/a.b.yaml", "", `/x/a.b.yaml: the file's name is the profile's: have "a.b", want a name with letters, digits, _ and -`},
		{"/x/..", "", `/x/..: the file's name is the profile's: have ".", want a name with letters, digits, _ and -`},
	} {
		_, p, err := ParsePolicy(c.file, c.text)
		var known *protocol.Error
		if !errors.As(err, &known) || known.Kind != protocol.BadRequest {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !strings.HasPrefix(known.Message, c.want) || strings.Contains(known.Message, profiles+".") {
			t.Errorf("%s\nhave %s\nwant %s", c.text, known.Message, c.want)
		}
		_ = p
	}
}

func TestReadPolicy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"p.yaml": "home: kept\n", "long.yaml": strings.Repeat("#", maxPolicy+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := ReadPolicy(filepath.Join(dir, "p.yaml")); text != "home: kept\n" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	for name, want := range map[string]string{"none.yaml": "none.yaml: no such file", "": "no regular file", "long.yaml": "have more than 256KiB"} {
		if _, err := ReadPolicy(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
