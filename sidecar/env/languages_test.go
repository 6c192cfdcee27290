package env

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"python": "python", "py": "python", "Python3": "python", " PY ": "python", "bash": "bash", "sh": "bash", "shell": "bash",
		"node": "node", "js": "node", "JavaScript": "node", "nodejs": "node", "rb": "ruby", "perl": "perl", "lua": "lua",
		"hs": "haskell", "octave": "octave", "ts": "typescript", "golang": "go", "php": "php", "R": "r", "rscript": "r", "jl": "julia",
	} {
		if got, err := Lookup(name); err != nil || got.Name != want {
			t.Errorf("Lookup(%q) = %s, %v; want %s", name, got.Name, err, want)
		}
	}
}

func TestLookupOfUnknownNamesNearOnes(t *testing.T) {
	for name, want := range map[string][]string{
		"pyhton": {"python"}, "pythn": {"python"}, "javascipt": {"node"}, "rubi": {"ruby"}, "jul": {"julia"},
		"typescrpt": {"typescript"}, "python2": {"python"}, "jsx": {"node"}, "haskel": {"haskell"},
		"cobol": nil, "": nil, "x": nil, strings.Repeat("python", 1000): nil,
	} {
		_, err := Lookup(name)
		var unknown *UnknownLanguageError
		if !errors.As(err, &unknown) {
			t.Fatalf("Lookup(%q): %v", name, err)
		}
		if len(unknown.Near) > maxNear || len(want) > 0 && (len(unknown.Near) == 0 || unknown.Near[0] != want[0]) || want == nil && len(unknown.Near) > 0 {
			t.Errorf("near %.20q: %q, want %q first", name, unknown.Near, want)
		}
		if len(err.Error()) > 300 {
			t.Errorf("the message about %.20q is %d bytes long", name, len(err.Error()))
		}
	}
}

func TestUnknownLanguageMessage(t *testing.T) {
	_, err := Lookup("pyhton")
	want := `unknown language "pyhton" (did you mean python?); known are python, bash, node, ruby, perl, lua, haskell, octave, typescript, go, php, r, julia`
	if err.Error() != want {
		t.Errorf("got %s\nwant %s", err, want)
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, lang := range Languages {
		for _, name := range append([]string{lang.Name}, lang.Aliases...) {
			if seen[name] != "" {
				t.Errorf("%q is both %s and %s", name, seen[name], lang.Name)
			}
			if name != strings.ToLower(name) {
				t.Errorf("%q of %s cannot be looked up", name, lang.Name)
			}
			seen[name] = lang.Name
		}
		if len(lang.Programs) == 0 || lang.File == "" || lang.Attr == "" {
			t.Errorf("%s lacks something: %+v", lang.Name, lang)
		}
	}
}

func TestSource(t *testing.T) {
	tests := []struct{ lang, code, want string }{
		{"php", "echo 1;", "<?php echo 1;"},
		{"php", "<?php echo 1;", "<?php echo 1;"},
		{"php", "a <?= 1 ?>", "a <?= 1 ?>"},
		{"go", "func main() {}", "package main; func main() {}"},
		{"go", "package main\nfunc main() {}", "package main\nfunc main() {}"},
		{"go", "// a\n/* b */ package main", "// a\n/* b */ package main"},
		{"python", "x", "x"},
	}
	for _, tt := range tests {
		lang, err := Lookup(tt.lang)
		if err != nil {
			t.Fatal(err)
		}
		if got := Source(lang, tt.code); got != tt.want {
			t.Errorf("Source(%s, %q) = %q, want %q", tt.lang, tt.code, got, tt.want)
		}
	}
}

// sample is an environment with two languages.
func sample() Environment {
	python, bash, lua := Languages[0], Languages[1], Languages[5]
	return Environment{
		ID: "host", Provider: "host",
		Interpreters: map[string]Interpreter{
			"python": {Language: python, Program: "/opt/py/bin/python3.12", Version: "3.12.1", Via: "pyenv 3.12.1"},
			"bash":   {Language: bash, Program: "/usr/bin/bash", Via: "PATH"},
		},
		Missing: []Missing{{lua, "apt-get install lua5.4"}},
	}
}

func TestInterpreterOfEnvironment(t *testing.T) {
	e := sample()
	if got, err := e.Interpreter(Languages[1]); err != nil || got.Program != "/usr/bin/bash" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := e.Interpreter(Languages[5])
	want := "environment \"host\" cannot run lua; it has python, bash\napt-get install lua5.4"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestNamed(t *testing.T) {
	envs := []Environment{{ID: "host"}, {ID: "data"}}
	for id, want := range map[string]string{"": "host", "host": "host", "data": "data"} {
		if got, err := Named(id, envs); err != nil || got.ID != want {
			t.Errorf("Named(%q) = %s, %v", id, got.ID, err)
		}
	}
	_, err := Named("hots", envs)
	var unknown *UnknownEnvironmentError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Near, []string{"host"}) {
		t.Fatalf("got %v", err)
	}
	if want := `unknown environment "hots" (did you mean host?); known are host, data`; err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
}

func TestText(t *testing.T) {
	want := `environment host (provider host)
  python  3.12.1  /opt/py/bin/python3.12  pyenv 3.12.1
  bash    -       /usr/bin/bash           PATH
missing
  lua  apt-get install lua5.4
`
	if got := Text(List(sample())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
