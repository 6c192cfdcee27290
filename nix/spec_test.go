package nix

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No name that is not plainly a package reaches Nix.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{
		"", ".", "..", "a.", ".a", "a..b", "a.b.c", "python3Packages.pkgs.hello", " ripgrep", "ripgrep ", "rip grep", "a\nb", "a\x00b", "ripgrep\n",
		"-f", "--expr", "-", "--impure", "/etc/passwd", "./x", "../x", "~/x", "<nixpkgs>", "${builtins.readFile \"/etc/passwd\"}", "a${b}", "\"a\"", "a;b",
		"(import /etc/x)", "a b", "a\tb", "a#b", "a?b", "a^out", "a,b", "a:b", "a=b", "a'b", "a@b", "@scope/name", "ripgrep.@scope/name", "python3Packages.@a/b",
		"nodePackages.@a/../b", "nodePackages.@a/b/c", "nodePackages.@/b", "naïve", "рipgrep", "a\u202eb", strings.Repeat("a", 101), strings.Repeat("a.", 5000),
		"+a", "python3+.a", "3python.a", "{}", "[ ]", "''a''", "a\\b", "a$b", "a`b`", "https://example.org/x.tar.gz",
	} {
		var bad *SpecError
		if _, err := ParseAttr(name); !errors.As(err, &bad) {
			t.Errorf("%q: %v, want a *SpecError", name, err)
		} else if len(err.Error()) > 700 {
			t.Errorf("%q: the message has %d bytes", name, len(err.Error()))
		}
	}
	for _, name := range []string{
		"pkgs", "pkgsCross", "pkgsStatic", "pkgsMusl.hello", "pkgsi686Linux.hello", "pkgsCross.aarch64", "buildPackages.hello", "targetPackages.hello",
		"pkgsBuildBuild.hello", "nixosTests.login", "tests.x", "testers.x", "lib.x", "stdenv", "stdenv.cc", "hello.drvPath", "hello.outPath", "hello.src",
		"hello.override", "hello.overrideAttrs", "hello.meta", "hello.passthru", "python3Packages.override", "python3Packages.overrideScope", "extend",
		"callPackage", "python3Packages.callPackage", "newScope", "nixos", "config", "__splicedPackages.hello", "python3Packages.__attrs", "hello.__toString",
		"haskellPackages.buildPackages", "python3Packages.pkgs",
	} {
		var denied *DeniedError
		if _, err := ParseAttr(name); !errors.As(err, &denied) {
			t.Errorf("%q: %v, want a *DeniedError", name, err)
		}
	}
	for name, want := range map[string]Attr{
		"ripgrep": {"", "ripgrep"}, "python3Packages.pandas": {"python3Packages", "pandas"}, "7zz": {"", "7zz"}, "_7zz": {"", "_7zz"}, "gtk+3": {"", "gtk+3"},
		"haskellPackages.3d-graphics-examples": {"haskellPackages", "3d-graphics-examples"}, "nodePackages.@angular/cli": {"nodePackages", "@angular/cli"},
		"rubyPackages_3_3.nokogiri": {"rubyPackages_3_3", "nokogiri"}, "xorg.xeyes": {"xorg", "xeyes"}, "pkg-config": {"", "pkg-config"}, "srcOnly": {"", "srcOnly"},
	} {
		if got, err := ParseAttr(name); got != want || err != nil {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}

// FuzzParseAttr: what is accepted has nothing that Nix would read as more than a name.
func FuzzParseAttr(f *testing.F) {
	for _, seed := range []string{"ripgrep", "python3Packages.pandas", "nodePackages.@a/b", "${x}", "a\nb", "-f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		attr, err := ParseAttr(name)
		if err == nil && (attr.String() != name || strings.ContainsAny(name, "\"'`$\\{}()[]<>;:#?^!&|* \n\t\x00") || name[0] == '-' || name[0] == '/') {
			t.Errorf("%q is accepted as %v", name, attr)
		}
	})
}

func TestDenylist(t *testing.T) {
	for _, tt := range []struct {
		list     Denylist
		refused  []string
		accepted []string
	}{
		{Denylist{"nmap"}, []string{"nmap", "perlPackages.nmap"}, []string{"nmapsi4", "zenmap"}},
		{Denylist{"python3"}, []string{"python3", "python3Packages.pandas"}, []string{"python311", "python311Packages.pandas"}},
		{Denylist{"python*"}, []string{"python3", "python311Packages.x"}, []string{"bpython", "perlPackages.x"}},
		{Denylist{"nodePackages"}, []string{"nodePackages.x"}, []string{"nodejs"}},
		{Denylist{"perlPackages.*"}, []string{"perlPackages.x"}, []string{"perl", "x"}},
		{Denylist{"*-unwrapped", "metasploit"}, []string{"go-unwrapped", "metasploit"}, []string{"go"}},
		{nil, nil, []string{"nmap"}},
	} {
		for _, name := range append(append([]string{}, tt.refused...), tt.accepted...) {
			err := Spec{Packages: []string{name}, Deny: tt.list}.Check()
			var denied *DeniedError
			if refused := errors.As(err, &denied); refused != contains(tt.refused, name) {
				t.Errorf("%q with %q: %v", tt.list, name, err)
			}
		}
	}
	for _, bad := range []string{"", "[", "a[", "\\"} {
		if (Denylist{bad}).Check() == nil {
			t.Errorf("the pattern %q is accepted", bad)
		}
	}
	if err := (Spec{Packages: []string{"nmap"}, Deny: Denylist{"nm?p"}}).Check(); err == nil || err.Error() != `package "nmap" is not allowed: "nm?p" is in nix.package_denylist` {
		t.Error(err)
	}
}

// Libraries go to their interpreter, which then is no package beside them, and comes first when it was asked for.
func TestPlan(t *testing.T) {
	base := [][]string{{"bash"}, {"coreutils"}, {"cacert"}}
	for _, tt := range []struct {
		interpreter string
		packages    []string
		libraries   []libraries
		rest        [][]string
	}{
		{"python3", nil, []libraries{}, [][]string{{"python3"}}},
		{"python3", []string{"ripgrep", "python3Packages.b", "python3Packages.a", "python3Packages.a"},
			[]libraries{{"python3", "python3Packages", "withPackages", []string{"a", "b"}}}, [][]string{{"ripgrep"}}},
		{"", []string{"python3", "python3Packages.a"}, []libraries{{"python3", "python3Packages", "withPackages", []string{"a"}}}, nil},
		{"ruby", []string{"haskellPackages.lens", "rubyPackages.x"},
			[]libraries{{"ruby", "rubyPackages", "withPackages", []string{"x"}}, {"ghc", "haskellPackages", "ghcWithPackages", []string{"lens"}}}, nil},
		{"lua5_4", []string{"lua54Packages.a", "lua5_4Packages.b"}, []libraries{{"lua5_4", "lua54Packages", "withPackages", []string{"a", "b"}}}, nil},
		{"nodejs", []string{"nodePackages.x"}, []libraries{}, [][]string{{"nodejs"}, {"nodePackages", "x"}}},
		{"R", []string{"rPackages.dplyr"}, []libraries{{"R", "rPackages", "rWrapper", []string{"dplyr"}}}, nil},
		{"php", []string{"phpExtensions.x", "phpPackages.y"}, []libraries{{"php", "phpExtensions", "withExtensions", []string{"x"}}}, [][]string{{"phpPackages", "y"}}},
		{"perl", []string{"perl538Packages.x"}, []libraries{{"perl538", "perl538Packages", "withPackages", []string{"x"}}}, [][]string{{"perl"}}},
		{"octave", []string{"octavePackages.x", "rubyPackages_3_3.y", "luajitPackages.z"}, []libraries{{"octave", "octavePackages", "withPackages", []string{"x"}},
			{"luajit", "luajitPackages", "withPackages", []string{"z"}}, {"ruby_3_3", "rubyPackages_3_3", "withPackages", []string{"y"}}}, nil},
	} {
		got, err := Spec{System: "x86_64-linux", Interpreter: tt.interpreter, Packages: tt.packages}.plan()
		want := plan{System: "x86_64-linux", Libraries: tt.libraries, Packages: append(tt.rest, base...),
			Config: map[string]any{"allowUnfree": false, "allowBroken": false, "permittedInsecurePackages": []string{}}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s %q: %v\n%s", tt.interpreter, tt.packages, err, diff)
		}
	}
}

// The key is the same for what comes to the same, and another for all else.
func TestKey(t *testing.T) {
	nixpkgs := func(hash string) Source { return Source{NarHash: hash} }
	key := func(s Spec, n Source) string {
		p, err := s.plan()
		if err != nil {
			t.Fatal(err)
		}
		return p.key(n)
	}
	one := Spec{System: "x86_64-linux", Interpreter: "python3", Packages: []string{"jq", "ripgrep"}}
	same := Spec{System: "x86_64-linux", Interpreter: "python3", Packages: []string{"ripgrep", "jq", "bash", "jq"}, Deny: Denylist{"x"}}
	if key(one, nixpkgs("a")) != key(same, nixpkgs("a")) {
		t.Error("the order of packages, or the denylist, is in the key")
	}
	seen := map[string]string{}
	for name, k := range map[string]string{
		"one":         key(one, nixpkgs("a")),
		"nixpkgs":     key(one, nixpkgs("b")),
		"interpreter": key(Spec{System: "x86_64-linux", Interpreter: "ruby", Packages: one.Packages}, nixpkgs("a")),
		"system":      key(Spec{System: "aarch64-linux", Interpreter: "python3", Packages: one.Packages}, nixpkgs("a")),
		"packages":    key(Spec{System: "x86_64-linux", Interpreter: "python3", Packages: []string{"jq"}}, nixpkgs("a")),
		"unfree":      key(Spec{System: "x86_64-linux", Interpreter: "python3", Packages: one.Packages, Allow: Allow{Unfree: true}}, nixpkgs("a")),
		"insecure":    key(Spec{System: "x86_64-linux", Interpreter: "python3", Packages: one.Packages, Allow: Allow{Insecure: []string{"a-1"}}}, nixpkgs("a")),
		"output":      Output{Flake: "github:a/b"}.key("x86_64-linux", nixpkgs("a")),
		"attribute":   Output{Flake: "github:a/b", Attr: "x"}.key("x86_64-linux", nixpkgs("a")),
		"shell":       Output{Flake: "github:a/b", Shell: true}.key("x86_64-linux", nixpkgs("a")),
	} {
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[k] = name
	}
}

func TestSpecCheck(t *testing.T) {
	many := make([]string, mostPackages+1)
	for i := range many {
		many[i] = "a"
	}
	for name, spec := range map[string]Spec{
		"system":        {System: "x86_64-linux; rm"},
		"too many":      {Packages: many},
		"insecure":      {Allow: Allow{Insecure: []string{"a b"}}},
		"nothing":       {Output: Output{Attr: "x"}},
		"two":           {Output: Output{Flake: "github:a/b", File: "/x"}},
		"fragment":      {Output: Output{Flake: "github:a/b#c"}},
		"option":        {Output: Output{Flake: "--impure"}},
		"option as a":   {Output: Output{Flake: "github:a/b", Attr: "--impure"}},
		"outputs":       {Output: Output{Flake: "github:a/b", Attr: "x^*"}},
		"ext":           {Output: Output{Flake: "git+ext::sh -c id"}},
		"ext too":       {Output: Output{Flake: "git+ext:x"}},
		"relative":      {Output: Output{Flake: "./x"}},
		"relative file": {Output: Output{File: "shell.nix"}},
		"odd path":      {Output: Output{Flake: "/home/a?b"}},
		"new line":      {Output: Output{Flake: "/home/a\nb"}},
	} {
		var bad *SpecError
		if err := spec.Check(); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spec := range map[string]Spec{
		"empty": {}, "path": {Output: Output{Flake: "/home/ä b/c"}}, "git": {Output: Output{Flake: "git+ssh://git@example.org/x?ref=main", Attr: "packages.x86_64-linux.y"}},
		"registry": {Output: Output{Flake: "nixpkgs/nixos-24.05"}}, "file": {Output: Output{File: "/p/shell.nix", Shell: true}},
	} {
		if err := spec.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
