package workspace

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObeyed(t *testing.T) {
	for name, want := range map[string]bool{
		".vscode": true, "my.code-workspace": true, ".claude": true, ".mcp.json": true, ".envrc": true, ".exrc": true, ".nvim.lua": true, "a/b/.envrc": true,
		".sidecar.yaml": true, "lefthook.yml": true, ".github/hooks": true, "mise.local.toml": true, ".terraform-version": true, "a/.ctags.d": true, "ci.bazelrc": true, ".gitignore.user": false,
		".perldb": true, ".lsp/config.edn": true, ".lazygit.yml": true, "a/latexmkrc": true, ".pi": true, ".github/agents": true, "sub/.flake8": true, "irbrc": true,
		".github/copilot/settings.json": true, ".shadowenv.d": true, ".prototools": true, ".buckconfig.d": true, "ansible.cfg": true, ".config/hk.pkl": true, ".lsp": false, ".nvmrc": false,
		".kilo": true, "lsp.json": true, ".lintr": true, "sub/.rubocop.yml": true, ".repo/repo": true, ".repo": false, ".bundle": false, ".rspec": false,
		"CLAUDE.md": false, "AGENTS.md": false, "package.json": false, "Makefile": false, "eslint.config.js": false, "flake.nix": false, "hooks": false,
		".github": false, "mise": false, ".vscodex": false, "": false, ".": false, "bin": false, ".env": false,
	} {
		e, ok := Obeyed(name)
		if ok != want || ok && e.Reason == "" {
			t.Errorf("Obeyed(%q) = %+v, %v", name, e, ok)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range slices.Concat(obeyed, homeObeyed) {
		if seen[e.Name] || e.Name == "" || e.Reason == "" || strings.HasPrefix(e.Name, "/") {
			t.Errorf("twice or malformed: %+v", e)
		}
		seen[e.Name] = true
		if isPattern(e.Name) && (strings.Count(e.Name, "*") != 1 || strings.ContainsAny(e.Name, `?[\`)) {
			t.Errorf("more of a pattern than one *: %+v", e)
		}
		if e.Anywhere && strings.Count(e.Name, "/") > 1 {
			t.Errorf("a path of more than two parts cannot be anywhere: %+v", e)
		}
	}
}

func TestRulesMatch(t *testing.T) {
	r := Rules{Also: []string{"*.nix", "tools/x"}, Except: []string{".npmrc", "*.code-workspace", ".sidecar", ".git"}}
	for name, want := range map[string]bool{".vscode": true, ".npmrc": false, "a.code-workspace": false, "x.nix": true, "tools/x": true, "x": false, ".sidecar": true} {
		if _, ok := r.Match(name); ok != want {
			t.Errorf("Match(%q) = %v", name, ok)
		}
	}
}

func TestShellWords(t *testing.T) {
	for line, want := range map[string][]string{
		"a  b\tc":                    {"a", "b", "c"},
		`"a b" 'c d' e\ f`:           {"a b", "c", "d", "c d", "e f"},
		"x=./y --opt=z/w":            {"x=./y", "./y", "--opt=z/w", "z/w"},
		"a;b&&c|d>e":                 {"a", "b", "c", "d", "e"},
		`sh -c 'p/q "$1"' --`:        {"sh", "-c", "p/q", `p/q "$1"`, "--"},
		`"$(git rev-parse --x)/s/t"`: {"git rev-parse --x", "/s/t"},
		"$HOME/x ${A:-b}/y $1":       {"/x", "/y"},
		`"open`:                      {"open"},
		"":                           nil,
	} {
		if got := shellWords(line); !cmp.Equal(got, want) {
			t.Errorf("shellWords(%q) = %q, want %q", line, got, want)
		}
	}
}

// FuzzShellWords compares with a shell: no word that a shell makes of plain quoting is missed.
func FuzzShellWords(f *testing.F) {
	for _, s := range []string{`a "b c" d\ e`, `"a\"b" c`, "x'y'z", `\\ \x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		shellWords(line)
		// Operators, blanks in single quotes and "=" are where the two differ on purpose.
		if strings.ContainsAny(line, "'$`;&|()<>\n\r#*?[]{}~!=\x00") || len(line) > 200 {
			return
		}
		out, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).Output()
		if err != nil {
			return
		}
		words := shellWords(line)
		for word := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
			if word != "" && !slices.Contains(words, word) && !strings.Contains(word, `\`) {
				t.Errorf("%q: %q is missing in %q", line, word, words)
			}
		}
	})
}

func TestFromURI(t *testing.T) {
	for text, want := range map[string]string{
		"file:///home/me/p":                 "/home/me/p",
		"file:///home/me/a%20b/%C3%A9%25":   "/home/me/a b/é%",
		"file://localhost/x/":               "/x",
		"file:///a/../b":                    "/b",
		"FILE:///x":                         "/x",
		"file:///a+b?q#f":                   "/a+b",
		"https://example.invalid/x":         "",
		"file://other/x":                    "",
		"vscode-remote://ssh-remote+h/home": "",
		"/plain/path":                       "",
		"":                                  "",
		"file:///a%00b":                     "",
		"file:":                             "/",
	} {
		got, err := FromURI(text)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrURI) {
			t.Errorf("FromURI(%q) = %q, %v", text, got, err)
		}
	}
}

func FuzzFromURI(f *testing.F) {
	f.Add("file:///a%2fb")
	f.Add("file://%2e%2e/x")
	f.Fuzz(func(t *testing.T, text string) {
		if path, err := FromURI(text); err == nil && (!strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0)) {
			t.Errorf("%q gives %q", text, path)
		}
	})
}

// TestIdle: exceptions that come to nothing are told from those that do not.
func TestIdle(t *testing.T) {
	r := Rules{Except: []string{".npmrc", "./.npmrc", ".vscode/", "*.code-workspace", "my.code-workspace", "sub/.npmrc", ".bashrc", ".config/mise", ".nosuch", ".sidecar.yaml", ".git"}}
	if diff := cmp.Diff([]string{".nosuch", ".sidecar.yaml", ".git"}, r.Idle()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
