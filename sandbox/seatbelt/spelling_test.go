package seatbelt

import (
	"regexp"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
)

// TestSpellings: whatever the file systems of macOS take for a name is matched, and names that are merely like it are not.
func TestSpellings(t *testing.T) {
	for pattern, c := range map[string]struct{ same, other string }{
		".git":             {".git .GIT .Git .g\u200cit .gi\ufefft", ".gitignore git .gi .gitx x.git .g .gitattributes"},
		".envrc":           {".envrc .ENVRC .EnvRc", ".env .envrcx envrc .envr"},
		".vscode":          {".vscode .VSCODE .v\u017fcode", ".vscod .vcode .väcode .vscodes"},
		"hooks":            {"hooks HOOKS hoo\u212as hook\u017f", "hook hookss hooös"},
		"config":           {"config CONFIG con\ufb01g CON\ufb01G", "conf confi conäg con"},
		"lefthook.*":       {"lefthook.yml LEFTHOOK.yml lefthook.", "lefthook lefthookyml"},
		"mise.*.toml":      {"mise.local.toml MISE.x.TOML mi\u017fe.a.toml", "mise.toml miselocal.toml"},
		"glass":            {"glass glaß gla\u1e9e glas\u017f", "glas glax"},
		"office":           {"office o\ufb03ce o\ufb00ice of\ufb01ce", "ofice offce"},
		"häken":            {"häken ha\u0308ken HÄKEN h\u00c4ken", "hken haken"},
		"a]b^c":            {"a]b^c A]B^C", "abc"},
		".git/config":      {".git/config .GIT/CONFIG .g\u200dit/con\ufb01g", ".git/configx .git/x/config"},
		".git/**/config":   {".git/modules/a/config .git/a/b/c/config", ".git/config"},
		"st":               {"st \ufb06 \ufb05 \u017ft", "s t sst"},
		"[a](b)*.x|y":      {"[a](b).x|y [A](B)zz.X|Y", "a b"},
		"_darcs":           {"_darcs _DARCS _darc\u017f", "darcs _darc"},
		"name with spaces": {"", "namewithspaces"},
	} {
		re, err := regexp.Compile("^(" + spelling(pattern) + ")$")
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		for _, s := range strings.Fields(c.same) {
			if !re.MatchString(s) {
				t.Errorf("%q is %q and is not matched by %s", s, pattern, re)
			}
		}
		for _, s := range strings.Fields(c.other) {
			if re.MatchString(s) {
				t.Errorf("%q is not %q and is matched by %s", s, pattern, re)
			}
		}
	}
}

// FuzzSpelling: a name is matched by its own expression, whatever it is made of, and cannot end it.
func FuzzSpelling(f *testing.F) {
	for _, s := range []string{".git", "a b", "ä]^", `"\`, "(|)$", "x\ny"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.ContainsAny(name, "*?/\x00") || name == "" || strings.ToValidUTF8(name, "") != name {
			return
		}
		re, err := regexp.Compile("(?s)^(" + anySpelling(name) + ")$")
		if err != nil || !re.MatchString(name) {
			t.Errorf("%q: %v %v", name, err, re)
		}
	})
}

// TestQuote: no text ends a string of the language.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{`a"b`: `"a\"b"`, `a\`: `"a\\"`, `")(allow default)`: `"\")(allow default)"`} {
		if got := quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestHostilePaths: a path is a parameter, and beside it in a comment of one line; it never becomes a rule.
func TestHostilePaths(t *testing.T) {
	root := "/Users/me/x\n(allow default)\n;\")(allow default)"
	p := loaded(t, sandbox.Policy{Dir: root, Argv: []string{"/bin/ls"}, Mounts: []sandbox.Mount{{Source: root, Target: root, Access: sandbox.ReadWrite}},
		Names: []sandbox.Name{{Root: root, Pattern: "\n(allow default)\".x", Anywhere: true}},
		Pins:  []sandbox.Pin{{Path: root + "/\n(allow default)\"", Kind: sandbox.Frozen}}})
	for path, want := range map[string]bool{"/etc/x": false, root + "/f": true, root + "/\n(allow default)\"": false, root + "/a/\n(allow default)\".x": false} {
		if a := p.profile.Write(path); a.Allowed != want {
			t.Errorf("%q: %+v\n%s", path, a, p.text)
		}
	}
}
