package gitconfig

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// write makes the files in a new folder, and returns it.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadIncludesAsGit(t *testing.T) {
	dir := write(t, map[string]string{
		"config":     "[a]\nx = 1\n[include]\npath = sub/one\npath = absent\n[a]\nx = 4\n",
		"sub/one":    "[a]\nx = 2\n[include]\npath = ../two\n",
		"two":        "[a]\nx = 3\n[b]\nflag\n",
		"not/loaded": "[a]\nx = 9\n",
	})
	file := filepath.Join(dir, "config")
	want, _ := runGit(t, "-f", file, "--includes", "--list", "-z")
	cfg := Load(file, Options{})
	if diff := cmp.Diff(want, listing(cfg.Entries)); diff != "" {
		t.Errorf("(-git +Load):\n%s", diff)
	}
	wantFiles := []File{
		{file, true, ""}, {filepath.Join(dir, "sub/one"), true, file}, {filepath.Join(dir, "two"), true, filepath.Join(dir, "sub/one")},
		{filepath.Join(dir, "absent"), false, file},
	}
	if diff := cmp.Diff(wantFiles, cfg.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if last := cfg.Entries[len(cfg.Entries)-1]; last.File != file || last.Line != 7 {
		t.Errorf("origin is %s:%d", last.File, last.Line)
	}
}

func TestLoadCondition(t *testing.T) {
	dir := write(t, map[string]string{
		"config": "[includeIf \"gitdir:/a/\"]\npath = a\n[includeIf \"onbranch:b.c\"]\npath = b\n[includeIf \"gitdir:x\"]\nother = c\n",
		"a":      "[k]\nv = a\n", "b": "[k]\nv = b\n",
	})
	file := filepath.Join(dir, "config")
	all := Load(file, Options{})
	if v, _ := all.Last("k.v"); v != "b" || len(all.Files) != 3 {
		t.Errorf("all conditions: %q, %d files", v, len(all.Files))
	}
	some := Load(file, Options{Condition: func(c, from string) bool { return c == "gitdir:/a/" && from == file }})
	if v, _ := some.Last("k.v"); v != "a" || len(some.Files) != 2 {
		t.Errorf("one condition: %q, %d files", v, len(some.Files))
	}
}

func TestLoadHomeAndLinks(t *testing.T) {
	dir := write(t, map[string]string{
		"repo/real": "[include]\npath = ~/mine\npath = ~other/x\npath = beside\n",
		"home/mine": "[k]\nv = mine\n", "repo/beside": "[k]\nw = 1\n",
	})
	link := filepath.Join(dir, "config")
	if err := os.Symlink("repo/real", link); err != nil {
		t.Fatal(err)
	}
	cfg := Load(link, Options{Home: filepath.Join(dir, "home")})
	if v, _ := cfg.Last("k.v"); v != "mine" {
		t.Errorf("k.v = %q", v)
	}
	// What is relative is relative to the link's folder, as git has it.
	if _, ok := cfg.Last("k.w"); ok {
		t.Error("an include was followed relative to the link's target")
	}
	if len(cfg.Problems) != 1 || !strings.Contains(cfg.Problems[0], "~other/x") {
		t.Errorf("problems: %q", cfg.Problems)
	}
}

func TestLoadEnds(t *testing.T) {
	fan := "[k]\nv = 1\n" + strings.Repeat("[include]\npath = config\npath = other\n", 50)
	dir := write(t, map[string]string{"config": fan, "other": fan, "big": strings.Repeat("#\n", 1<<20)})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config", "fifo", "loop", "big", "."} {
		start := time.Now()
		cfg := Load(filepath.Join(dir, name), Options{})
		if len(cfg.Problems) == 0 {
			t.Errorf("%s: no problem named", name)
		}
		if took := time.Since(start); took > 60*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

func TestBool(t *testing.T) {
	entries, err := Parse("f", []byte("[a]\nbare\nyes = yes\nno = no\noff = OFF\nempty =\nnum = 1\nzero = 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := &Config{Entries: entries}
	for key, want := range map[string]bool{"a.bare": true, "a.yes": true, "a.no": false, "a.off": false, "a.empty": false, "a.num": true, "a.zero": false, "a.none": false} {
		if got := cfg.Bool(key); got != want {
			t.Errorf("%s is %v", key, got)
		}
	}
}

func TestWildmatch(t *testing.T) {
	// The cases are those of git's t3070-wildmatch.sh that concern pathmatch.
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"foo", "foo", true}, {"bar", "foo", false}, {"", "", true}, {"???", "foo", true}, {"??", "foo", false}, {"*", "foo", true},
		{"f*", "foo", true}, {"*f", "foo", false}, {"*foo*", "foo", true}, {"*ob*a*r*", "foobar", true}, {`foo\*`, "foo*", true},
		{`f\\oo`, `f\oo`, true}, {"*[al]?", "ball", true}, {"[ten]", "ten", false}, {"**[!te]", "ten", true}, {"t[a-g]n", "ten", true},
		{"t[!a-g]n", "ten", false}, {"t[^a-g]n", "ton", true}, {"a[]]b", "a]b", true}, {"a[]-]b", "a-b", true}, {"a[]a-]b", "aab", true},
		{"]", "]", true}, {"foo*bar", "foo/baz/bar", false}, {"foo**bar", "foo/baz/bar", false}, {"foo**bar", "foobazbar", true},
		{"foo/**/bar", "foo/baz/bar", true}, {"foo/**/**/bar", "foo/b/a/z/bar", true}, {"foo/**/bar", "foo/bar", true},
		{"foo?bar", "foo/bar", false}, {"foo[/]bar", "foo/bar", false}, {"**/foo", "foo", true}, {"**/foo", "XXX/foo", true},
		{"**/foo", "bar/baz/foo", true}, {"*/foo", "bar/baz/foo", false}, {"**/bar*", "foo/bar/baz", false}, {"**/bar/*", "deep/foo/bar/baz", true},
		{"**/bar/**", "deep/foo/bar/baz/", true}, {"**/bar/*", "deep/foo/bar", false}, {"**/bar/**", "deep/foo/bar/", true},
		{"*/bar/**", "foo/bar/baz/x", true}, {"*/bar/**", "deep/foo/bar/baz/x", false}, {"**/bar/*/*", "deep/foo/bar/baz/x", true},
		{"[[:alpha:]][[:digit:]][[:upper:]]", "a1B", true}, {"[[:digit:][:upper:][:space:]]", "a", false}, {"[[:xdigit:]]", "5", true},
		{"[a-c]b*", "bbb", true}, {"[\\-^]", "-", true}, {"[[-\\]]", "]", true}, {"[", "[", false}, {"[a", "a", false},
		{"/home/me/work/**", "/home/me/work/x/.git", true}, {"/home/me/work/**", "/home/me/worker/.git", false},
	} {
		if got := Wildmatch(c.pattern, c.text, false); got != c.want {
			t.Errorf("Wildmatch(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
	if !Wildmatch("/Home/**", "/home/x", true) {
		t.Error("case counts although it is to be ignored")
	}
	long := strings.Repeat("a*", 40) + "b"
	if Wildmatch(long, strings.Repeat("a", 200), false) {
		t.Error("a hard pattern matched")
	}
}

func FuzzText(f *testing.F) {
	for _, v := range []string{"", "plain", " lead and trail ", "a\"b\\c", "# no; comment", "line\nline\ttab\b", "crlf\r\n", "\r", "'", "$(x) `y`", "é\xff"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.ContainsRune(value, 0) || len(value) > 4096 {
			t.Skip()
		}
		settings := [][2]string{{"user.name", value}, {"user.email", "x"}, {`a.s "\.b`, value}}
		dir := write(t, map[string]string{"config": Text(settings)})
		out, ok := runGit(t, "-f", filepath.Join(dir, "config"), "--list", "-z")
		want := ""
		for _, s := range settings {
			want += s[0] + "\n" + s[1] + "\x00"
		}
		if !ok || out != want {
			t.Errorf("git reads %q, want %q", out, want)
		}
	})
}
