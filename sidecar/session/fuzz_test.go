//go:build unix

package session

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A shell that sources a request's settings has the arguments, the folder and the variable as they were asked for, whatever
// they are, and has executed nothing of them.
func FuzzScript(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("bash is not installed")
	}
	for _, s := range []string{"", "a b", "it's", "$(touch evil)", "`touch evil`", "-n", "a\nb", "\\", "'\\''", "!x", "*", "\xff", "-", "~", "é"} {
		f.Add(s, "value "+s, s)
	}
	f.Fuzz(func(t *testing.T, arg, value, folder string) {
		if strings.ContainsRune(arg+value+folder, 0) || len(arg+value+folder) > 4096 {
			t.Skip("no argument of a program")
		}
		dir := t.TempDir()
		to := filepath.Join(dir, folder)
		if folder == "" || strings.Contains(folder, "/") || os.Mkdir(to, 0o700) != nil {
			to = dir
		}
		line, files, err := script(number{7, "word", "pipes"}, Request{Args: []string{arg, "last"}, Env: map[string]string{"NAME": value}, Dir: to})
		if err != nil || strings.Count(string(line), "\n") != 1 {
			t.Fatalf("%q, %v", line, err)
		}
		settings := filepath.Join(dir, "settings")
		if err := os.WriteFile(settings, files["7"+settingsSuffix], 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bash, "-c", `. "$0"; printf '%s\0' "$@" "$NAME" "$(pwd; printf x)"`, settings)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if want := strings.Join([]string{arg, "last", value, to + "\nx", ""}, "\x00"); err != nil || string(out) != want {
			t.Errorf("got %q, want %q: %v", out, want, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "evil")); err == nil {
			t.Error("something of it was executed")
		}
	})
}

// A request is one line, of which the interpreters' own reader gets all of it back.
func FuzzObject(f *testing.F) {
	f.Add("a\nb", "\u2028", "\xff")
	f.Fuzz(func(t *testing.T, arg, value, dir string) {
		line, _, err := object(number{7, "word", "pipes"}, Request{Args: []string{arg}, Env: map[string]string{"NAME": value}, Dir: dir})
		if err != nil || strings.Count(string(line), "\n") != 1 || line[len(line)-1] != '\n' {
			t.Fatalf("%q, %v", line, err)
		}
		var back struct {
			N    int
			Word string
			Args []string
			Env  map[string]string
			Dir  string
		}
		if err := json.Unmarshal(line, &back); err != nil || back.N != 7 || back.Word != "word" || len(back.Args) != 1 {
			t.Fatalf("%q is %+v, %v", line, back, err)
		}
		if utf8.ValidString(arg) && utf8.ValidString(value) && utf8.ValidString(dir) && (back.Args[0] != arg || back.Env["NAME"] != value || back.Dir != dir) {
			t.Errorf("%q is %+v", line, back)
		}
	})
}

// What a driver writes is an answer to a call only with that call's word, and then one of few.
func FuzzHear(f *testing.F) {
	for _, s := range []string{"word begun\n", "word done 0\n", "word exit 3\n", "word interrupted 130\n", "word done -1\n", "word done 99999999999999999999\n", "done 0\n", "", "word", "word done", "word  done 0", "wordy done 0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := &Call{number: number{7, "word", "pipes"}, out: [2]*stream{{started: true}, {started: true}}}
		a, done := c.hear(line)
		if a.Status < 0 || a.Status > 255 || a.Ends && a.Interrupted {
			t.Errorf("%q is %+v", line, a)
		}
		kind := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if done != (len(kind) > 1 && kind[0] == "word" && slices.Contains([]string{"done", "exit", "interrupted"}, kind[1])) {
			t.Errorf("%q is an answer: %v", line, done)
		}
	})
}
