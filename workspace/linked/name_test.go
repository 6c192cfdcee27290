package linked

import (
	"os/exec"
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"topic": "", "feature/x": "", "a+b": "", "grün": "", "修正": "", "fix#12": "", "v1.2": "", "a@b": "", "refs/heads/x": "",
		"":                       "a name is needed",
		"-x":                     "a name cannot begin with a dash",
		"/x":                     "a slash stands only between two words",
		"x/":                     "a slash stands only between two words",
		"a//b":                   "a slash stands only between two words",
		"..":                     "a name cannot end with a dot",
		"a/../b":                 "git allows no two dots in a row",
		".x":                     `no part of a name can begin with a dot or end with ".lock"`,
		"a/.git":                 `no part of a name can begin with a dot or end with ".lock"`,
		"x.lock":                 `no part of a name can begin with a dot or end with ".lock"`,
		"x.":                     "a name cannot end with a dot",
		"@":                      "git means something else by this name",
		"HEAD":                   "git means something else by this name",
		"a@{1}":                  `git allows no "@{"`,
		"a b":                    `git allows no ' ' in a name`,
		"a~1":                    `git allows no '~' in a name`,
		"a\\b":                   `git allows no '\\' in a name`,
		"a\x1b[1":                `git allows no '\x1b' in a name`,
		"a\u202eb":               `git allows no '\u202e' in a name`,
		"a\xff":                  "the name is not UTF-8",
		strings.Repeat("x", 201): "the name is 201 bytes long, want at most 200",
	} {
		diff(t, nameFault(name), want)
	}
}

// What is accepted here git accepts as well, what is offered in its place is accepted here, and no two names have one
// folder, or one that is not below the folder of worktrees.
func FuzzName(f *testing.F) {
	git := gitPath(f)
	for _, s := range []string{"topic", "a/b", "a+b", "a%2Bb", "-x", "../x", "a b", "x.lock/y", "@{-1}", "a/-b", "ü", "a.", "~/x", "HEAD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if nameFault(name) == "" {
			if out, err := exec.Command(git, "check-ref-format", "--branch", name).CombinedOutput(); err != nil || strings.TrimSuffix(string(out), "\n") != name {
				t.Errorf("git refuses %q: %s", name, out)
			}
			folder := folderName(name)
			if strings.ContainsRune(folder, '/') || folder[0] == '.' || folder[0] == '-' {
				t.Errorf("%q lies in %q", name, folder)
			}
			if back := nameOf(folder); back != name {
				t.Errorf("%q is %q, which is %q", name, folder, back)
			}
		} else if near := mendName(name); near != "" && nameFault(near) != "" {
			t.Errorf("%q is offered for %q", near, name)
		}
	})
}

// A POSIX shell reads back what was quoted.
func FuzzShellQuote(f *testing.F) {
	for _, s := range []string{"", "a", "a b", "it's", "$(x)", "-n", "a\nb", "\\", "~", "!x", "*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) {
			return
		}
		out, err := exec.Command("sh", "-c", "printf %s. "+ShellQuote(word)).Output()
		if err != nil || string(out) != word+"." {
			t.Errorf("%q came back as %q: %v", word, out, err)
		}
	})
}
