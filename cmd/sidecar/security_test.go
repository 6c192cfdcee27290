package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// testsIn are the names of the tests and fuzz targets of the repository, with the folders that have them.
func testsIn(t *testing.T) map[string][]string {
	t.Helper()
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	all := map[string][]string{}
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(text, -1) {
			folder, _ := filepath.Rel(repository, filepath.Dir(path))
			all[string(m[1])] = append(all[string(m[1])], folder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// exists says that what SECURITY.md names in backquotes is there: a test, a folder of tests, a script, or cases of
// test/escapes, where * stands for anything.
func exists(tests map[string][]string, folder, name string) bool {
	switch {
	case strings.HasPrefix(name, "Test"), strings.HasPrefix(name, "Fuzz"):
		return folder == "" && len(tests[name]) > 0 || slices.Contains(tests[name], folder)
	case strings.HasPrefix(name, "testdata/"):
		name = filepath.Join("cmd/sidecar", name)
	case !strings.Contains(name, "/"):
		for _, cases := range []string{"test/escapes/attacks", "test/escapes/exec/attacks"} {
			if found, _ := filepath.Glob(filepath.Join(repository, cases, name)); len(found) > 0 {
				return true
			}
		}
		return false
	case strings.HasPrefix(name, "works/"):
		name = filepath.Join("test/escapes", name)
	}
	found, _ := filepath.Glob(filepath.Join(repository, name))
	return len(found) > 0
}

// Each promise of SECURITY.md names what attacks it, and all that it names is there.
func TestEveryPromiseHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsIn(t)
	named := regexp.MustCompile("`([^` ]+)`(:?)")
	promises := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 4 || strings.HasPrefix(line, "| promise") || strings.HasPrefix(line, "| ---") {
			continue
		}
		promises++
		folder, found := "", 0
		for _, m := range named.FindAllStringSubmatch(cells[3], -1) {
			if m[2] == ":" { // `folder`: `TestThis`, `TestThat`
				folder = m[1]
				if _, err := os.Stat(filepath.Join(repository, folder)); err != nil {
					t.Errorf("%q: %v", cells[0], err)
				}
				continue
			}
			found++
			if !strings.HasPrefix(m[1], "Test") && !strings.HasPrefix(m[1], "Fuzz") {
				folder = ""
			}
			if !exists(tests, folder, m[1]) {
				t.Errorf("%q names %s (%s), which is not there", cells[0], m[1], folder)
			}
		}
		if found == 0 && folder == "" {
			t.Errorf("%q names no test", cells[0])
		}
	}
	if promises < 25 {
		t.Errorf("%d promises were read", promises)
	}
	for _, m := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(text), -1) {
		if len(tests[m]) == 0 {
			t.Errorf("SECURITY.md names %s, which is not there", m)
		}
	}
}

// The check above can fail.
func TestWhatIsNotThereIsMissed(t *testing.T) {
	tests := map[string][]string{"TestThere": {"sandbox"}}
	for name, want := range map[string]bool{"TestThere": true, "TestGone": false, "git-config-*": true, "no-such-*": false, "works/git-add-all": true, "works/gone": false,
		"testdata/script/history.txtar": true, "testdata/script/gone.txtar": false, "open-*": true} {
		if got := exists(tests, "", name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if exists(tests, "nix", "TestThere") {
		t.Error("a test of another folder counts")
	}
}
