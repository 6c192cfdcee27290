package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllow(t *testing.T) {
	const begin = newFile + "network:\n  approved:\n    - "
	for name, tc := range map[string]struct{ before, add, after string }{
		"no file":               {"", "pypi.org", begin + "pypi.org\n"},
		"an empty file":         {"\n", "pypi.org", begin + "pypi.org\n"},
		"comments":              {"# mine\n", "pypi.org", "# mine\nnetwork:\n  approved:\n    - pypi.org\n"},
		"a number's look":       {"# mine\n", "10.0.0.7:80", "# mine\nnetwork:\n  approved:\n    - \"10.0.0.7:80\"\n"},
		"every name":            {"# mine\n", "*", "# mine\nnetwork:\n  approved:\n    - \"*\"\n"},
		"another section":       {"limits:\n  timeout: 5s # short\n\n\n", "a.b", "limits:\n  timeout: 5s # short\n\n\nnetwork:\n  approved:\n    - a.b\n"},
		"no newline at end":     {"limits: {timeout: 5s}", "a.b", "limits: {timeout: 5s}\nnetwork:\n  approved:\n    - a.b\n"},
		"a section without it":  {"network: # mine\n    # why\n    exec: none   # x\nlimits: {}\n", "a.b", "network: # mine\n    approved:\n      - a.b\n    # why\n    exec: none   # x\nlimits: {}\n"},
		"an unfinished one":     {"network:\nlimits: {timeout: 5s}\n", "a.b", "network:\n  approved:\n    - a.b\nlimits: {timeout: 5s}\n"},
		"a null section":        {"network: null # x\n", "a.b", "network: {approved: [a.b]} # x\n"},
		"an empty section":      {"network: { }\n", "a.b", "network: {approved: [a.b]}\n"},
		"a section in braces":   {"network: {exec: none}\n", "a.b", "network: {exec: none, approved: [a.b]}\n"},
		"a file in braces":      {"{limits: {timeout: 5s}}\n", "a.b", "{limits: {timeout: 5s}, network: {approved: [a.b]}}\n"},
		"a list":                {"network:\n  approved:\n    # one\n    - x.y # why\n    # end\n  exec: open\n", "a.b", "network:\n  approved:\n    # one\n    - x.y # why\n    - a.b\n    # end\n  exec: open\n"},
		"a list, not indented":  {"network:\n  approved:\n  - \"x.y:80\"\n  - p.q:8443", "a.b", "network:\n  approved:\n  - \"x.y:80\"\n  - p.q:8443\n  - a.b\n"},
		"a list in brackets":    {"network: {approved: [ x.y, 'p.q' ], exec: none}\n", "a.b", "network: {approved: [ x.y, 'p.q', a.b ], exec: none}\n"},
		"over lines":            {"network:\n  approved: [\n    x.y,\n    p.q,\n  ]\n", "a.b", "network:\n  approved: [\n    x.y,\n    p.q, a.b\n  ]\n"},
		"over lines, a comment": {"network:\n  approved: [\n    x.y, # one\n    p.q # two\n  ]\n", "a.b", "network:\n  approved: [a.b, \n    x.y, # one\n    p.q # two\n  ]\n"},
		"an empty list":         {"network:\n  approved: [] # none\n", "a.b", "network:\n  approved: [a.b] # none\n"},
		"a map":                 {"network:\n  approved:\n    x.y: \"*\"\n    p.q:\n      - GET\n      - HEAD\n  exec: open\n", "a.b", "network:\n  approved:\n    x.y: \"*\"\n    p.q:\n      - GET\n      - HEAD\n    a.b: \"*\"\n  exec: open\n"},
		"a map of one":          {"network:\n  approved:\n    x.y: [GET] # x\n", "a.b", "network:\n  approved:\n    x.y: [GET] # x\n    a.b: \"*\"\n"},
		"a map in braces":       {"network: {approved: {x.y: [GET]}}\n", "a.b", "network: {approved: {x.y: [GET], a.b: \"*\"}}\n"},
		"a dotted key":          {"network.approved: [x.y]\nlimits.timeout: 5s\n", "a.b", "network.approved: [x.y, a.b]\nlimits.timeout: 5s\n"},
		"wide characters":       {"# ö☃\nnetwork: {hosts: {\"ö☃\": 1.2.3.4}, approved: [\"x.y\"]} # ☃\n", "a.b", "# ö☃\nnetwork: {hosts: {\"ö☃\": 1.2.3.4}, approved: [\"x.y\", a.b]} # ☃\n"},
		"carriage returns":      {"network:\r\n  approved:\r\n    - x.y\r\nlimits: {timeout: 5s}\r\n", "a.b", "network:\r\n  approved:\r\n    - x.y\r\n    - a.b\r\nlimits: {timeout: 5s}\r\n"},
		"there already":         {"network: {approved: [x.y, A.b.]}\n", "a.b", "network: {approved: [x.y, A.b.]}\n"},
		"a wider one":           {"network: {approved: [b]}\n", "a.b", "network: {approved: [b]}\n"},
		"profiles beside":       {"profiles:\n  x:\n    allowed_domains: [z.z]\nnetwork:\n  run: open\n", "a.b", "profiles:\n  x:\n    allowed_domains: [z.z]\nnetwork:\n  approved:\n    - a.b\n  run: open\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "sub/config.yaml")
			write(t, file, tc.before)
			for range 2 { // the second time changes nothing
				if err := Allow(file, tc.add); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.after, read(t, file)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
			src := Sources{User: file, System: "/nonexistent", Env: func(string) string { return "" }}
			s, _, err := Load(src)
			if err != nil {
				t.Fatal(err)
			}
			if methods, ok := s.Network.Approved.allows(Domain{Name: tc.add}.split()); !ok || methods != nil {
				t.Errorf("%s is not allowed by %s", tc.add, s.Network.Approved)
			}
		})
	}
}

func TestDisallow(t *testing.T) {
	for name, tc := range map[string]struct{ before, remove, after string }{
		"of a list":           {"network:\n  approved:\n    - x.y # why\n    - a.b # not\n    # end\n    - p.q\n", "a.b", "network:\n  approved:\n    - x.y # why\n    # end\n    - p.q\n"},
		"with a port":         {"network:\n  approved:\n  - a.b:80\n  - a.b\n", "a.b:80", "network:\n  approved:\n  - a.b\n"},
		"the last":            {"network:\n  approved: # names\n    - a.b\nlimits: {}\n", "a.b", "network:\n  approved: [] # names\nlimits: {}\n"},
		"of brackets, first":  {"network: {approved: [a.b, 'x.y', p.q]}\n", "a.b", "network: {approved: ['x.y', p.q]}\n"},
		"of brackets, middle": {"network: {approved: [x.y, \"a.b\", p.q]}\n", "a.b", "network: {approved: [x.y, p.q]}\n"},
		"of brackets, end":    {"network: {approved: [ x.y, p.q , a.b ]}\n", "a.b", "network: {approved: [ x.y, p.q  ]}\n"},
		"of brackets, only":   {"network: {approved: [ a.b ]}\n", "a.b", "network: {approved: []}\n"},
		"twice":               {"network: {approved: [a.b, x.y, A.B]}\n", "a.b", "network: {approved: [x.y]}\n"},
		"of a map":            {"network:\n  approved:\n    a.b:\n      - GET\n    x.y: \"*\"\n", "a.b", "network:\n  approved:\n    x.y: \"*\"\n"},
		"the last of a map":   {"network:\n  approved:\n    a.b: \"*\"\n", "a.b", "network:\n  approved: []\n"},
		"of braces":           {"network: {approved: {x.y: '*', a.b: [GET]}}\n", "a.b", "network: {approved: {x.y: '*'}}\n"},
		"not there":           {"network: {approved: [b]}\n", "a.b", "network: {approved: [b]}\n"},
		"nothing set":         {"limits: {}\n", "a.b", "limits: {}\n"},
		"no file":             {"", "a.b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			write(t, file, tc.before)
			if err := Disallow(file, tc.remove); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.after, read(t, file)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func TestAllowRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ before, add, want string }{
		"no name":      {"", "a.*.b", `"a.*.b": a * stands alone or before the first dot`},
		"a line":       {"", "a.b\n- c", `"a.b\n- c": has a space in it`},
		"methods":      {"network: {approved: {a.b: [GET]}}\n", "a.b", `FILE: network.approved: has a rule for "a.b" already, with methods of its own: change it there`},
		"a mistake":    {"network:\n  approved: x\n", "a.b", `FILE:2: network.approved: have "x", want a list of domains, or a map from domains to "*" or lists of HTTP methods; [] is none`},
		"no YAML":      {"a: [\n", "a.b", `FILE:1: no YAML: "sequence end token ']' not found"`},
		"odd writing":  {"network:\n  approved:\n    - \"x.y\\\n      .z\"\n    - 'p\n\n      q.r'\n", "a.b", ""},
		"an ended one": {"limits: {}\n...\n", "a.b", "FILE: network.approved: written in a way that sidecar cannot change; set it by hand to [a.b]"},
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		write(t, file, tc.before)
		err := Allow(file, tc.add)
		if err == nil || tc.want != "" && strings.ReplaceAll(err.Error(), file, "FILE") != tc.want {
			t.Errorf("%s: have %v, want %s", name, err, tc.want)
		}
		if got := read(t, file); got != tc.before {
			t.Errorf("%s: the file is now %q", name, got)
		}
	}
}

// TestAllowLinks: a file that a dotfiles manager links stays a link, and what Nix made is not touched.
func TestAllowLinks(t *testing.T) {
	dir := t.TempDir()
	file, real := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "dotfiles/sidecar.yaml")
	write(t, real, "# mine\n")
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dotfiles/sidecar.yaml", file); err != nil {
		t.Fatal(err)
	}
	if err := Allow(file, "a.b"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(real)
	if err != nil || info.Mode() != 0o640 || !strings.Contains(read(t, real), "a.b") {
		t.Error(info, err, read(t, real))
	}
	if to, err := os.Readlink(file); err != nil || to != "dotfiles/sidecar.yaml" {
		t.Error(to, err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "dotfiles")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	nix := filepath.Join(dir, "nix.yaml")
	if err := os.Symlink("/nix/store/abc-home-manager-files/.config/sidecar/config.yaml", nix); err != nil {
		t.Fatal(err)
	}
	const want = `cannot allow "a.b" in FILE: Nix made it (/nix/store/abc-home-manager-files/.config/sidecar/config.yaml); ` +
		"set programs.sidecar.settings.network.approved in the configuration that it is made of"
	if err := Allow(nix, "a.b"); err == nil || strings.ReplaceAll(err.Error(), nix, "FILE") != want {
		t.Errorf("have %v", err)
	}
}

// TestAllowNoFolder: what the system refuses is said, with what to do.
func TestAllowNoFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/file", "x")
	const want = `cannot allow "a.b" in DIR/file/config.yaml: not a directory; set network.approved there by hand`
	if err := Allow(dir+"/file/config.yaml", "a.b"); err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != want {
		t.Errorf("have %v", err)
	}
}

// TestAllowAtOnce: of several that write at once none is lost.
func TestAllowAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := Allow(file, fmt.Sprintf("a%d.example", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d, err := domainsIn(file, []byte(read(t, file)))
	if err != nil || len(d.Names) != 20 {
		t.Errorf("have %v, %v", d, err)
	}
}

// FuzzAllow: whatever the file, either nothing changes, or the name is added and nothing else.
func FuzzAllow(f *testing.F) {
	for _, text := range []string{"network: {approved: [a, b]}\n", "network:\n  approved:\n  - a # x\n", "network:\n  approved:\n    a: [GET]\nlimits: {timeout: 5s}", "{}", "network: ~", "? network\n: {}\n", "---\nnetwork:\n", "network.approved: []\n...\n"} {
		f.Add(text)
	}
	name := Domain{Name: "new.example"}
	f.Fuzz(func(t *testing.T, text string) {
		had, _ := domainsIn("file", []byte(text))
		with, err := rewritten("file", []byte(text), name, allowing)
		if err != nil {
			checkText(t, err.Error())
			return
		}
		now, err := domainsIn("file", with)
		if methods, ok := now.allows(name.split()); err != nil || !ok || methods != nil {
			t.Fatalf("%v: %q allows %v", err, with, now)
		}
		without, err := rewritten("file", with, name, disallowing)
		if err != nil {
			return
		}
		now, err = domainsIn("file", without)
		if err != nil || had != nil && !sameRules(had.without(name), now) {
			t.Errorf("%v, from %v to %v", err, had, now)
		}
		if diff := cmp.Diff(others("file", []byte(text)), others("file", without), cmp.AllowUnexported(raw{}, rawPair{})); diff != "" {
			t.Error(diff)
		}
	})
}
