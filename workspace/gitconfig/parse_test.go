package gitconfig

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listing is what "git config --list -z" prints.
func listing(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Key)
		if !e.Bare {
			b.WriteString("\n" + e.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// runGit runs git config on a file, with nothing of this machine's settings.
func runGit(t testing.TB, args ...string) (string, bool) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	cmd := exec.Command(git, append([]string{"config"}, args...)...)
	cmd.Env = []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR=/nonexistent", "LC_ALL=C"}
	out, err := cmd.Output()
	return string(out), err == nil
}

var odd = []string{
	"",
	"[core]\n\teditor = vim\n",
	"[core] editor = vim\n[Core]EDITOR=emacs",
	"\ufeff[core]\n\ta = b\n",
	"[a \"b c\"]\n\tkey = value # comment\n\tother = \"quoted # not\" ; comment\n",
	"[a \"b\\\"c\\\\d\"]\nx=1\n",
	"[a.B.c]\nx=1\n",
	"[a]b\n[c]\nd\n",
	"[a]\nb = one \\\n  two\\\n\tthree\n",
	"[a]\nb = \\t\\n\\b\\\\\\\"\n",
	"[a]\nb = \\x\n",
	"[a]\nb = \"open\n",
	"[a]\nb = x\"y z\"w  # c\n",
	"[a]\r\nb = c\r\nd = e\\\r\nf\r\n",
	"[a]\nb=c\rd\n",
	"[a]\nb = c  \t d   \n",
	"[a]\nb\n",
	"[a]\nb # no value\n",
	"[a]\n1b = x\n",
	"[a]\nb- = x\nc-d9=y\n",
	"[a]\nb_c = x\n",
	"[]\na = b\n",
	"[.]\na = b\n",
	"[a \"\"]\nb = c\n",
	"[ a]\nb=c\n",
	"[a ]\nb=c\n",
	"[a\n]\nb=c\n",
	"[a \"x\ny\"]\nb=c\n",
	"[a \"b\" ]\nc=d\n",
	"[a\t\"b\"]c=d\n",
	"[a \"b\"",
	"[a",
	"a = b\n",
	"; c\n# d\n[x]# e\ny=z",
	"[a]\nb = #\n",
	"[a]\nb =\n",
	"[a]\nb = \"\"\n",
	"[a]\nb = c\\",
	"[a]\nb = 'single # x'\n",
	"[a]\n\x0b b = c\n",
	"[a]\nb = \xff\xfe é\n",
	"[include]\npath = x\n[includeIf \"gitdir:~/a.b/\"]\n\tpath = y\n",
}

func TestParseAsGit(t *testing.T) {
	for i, text := range odd {
		t.Run(fmt.Sprint(i), func(t *testing.T) { compareWithGit(t, []byte(text)) })
	}
}

func compareWithGit(t *testing.T, text []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want, ok := runGit(t, "-f", file, "--list", "-z")
	entries, err := Parse(file, text)
	if ok != (err == nil) {
		t.Fatalf("git accepts: %v, Parse says: %v, text %q", ok, err, text)
	}
	if !ok {
		return
	}
	if diff := cmp.Diff(want, listing(entries)); diff != "" {
		t.Errorf("text %q (-git +Parse):\n%s", text, diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range odd {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		// git prints names with a NUL in them cut short and then fails on some: not worth imitating further.
		if bytes.IndexByte(text, 0) >= 0 || len(text) > 4096 {
			t.Skip()
		}
		compareWithGit(t, text)
	})
}

func TestEntryParts(t *testing.T) {
	for key, want := range map[string][3]string{
		"core.editor":               {"core", "", "editor"},
		"a.b.c":                     {"a", "b", "c"},
		"includeif.x:~/a.b/.p":      {"includeif", "x:~/a.b/", "p"},
		"credential.https.x.h":      {"credential", "https.x", "h"},
		"a..b":                      {"a", "", "b"},
		"filter.lfs.clean":          {"filter", "lfs", "clean"},
		"lfs.customtransfer.x.path": {"lfs", "customtransfer.x", "path"},
	} {
		e := Entry{Key: key}
		if got := [3]string{e.Section(), e.Subsection(), e.Name()}; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestSyntaxErrorNamesFileAndLine(t *testing.T) {
	_, err := Parse("/x/config", []byte("[a]\nb = c\n!\n"))
	if err == nil || err.Error() != "bad config line 3 in file /x/config" {
		t.Errorf("error is %v", err)
	}
}
