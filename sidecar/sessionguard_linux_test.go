package sidecar_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// TestAttacksThroughASessionAreHeldAndFound: also those of a call that comes long after the session's sandbox was made.
func TestAttacksThroughASessionAreHeldAndFound(t *testing.T) {
	k := newKept(t, nil)
	k.call("bash", "s", "echo begin")
	config, err := os.ReadFile(filepath.Join(k.root, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, code string
		finds      string // path of the finding; "" is none
		gone       string // must not be there afterwards
	}{
		{"config", "git config core.fsmonitor ./x; echo '[core]' >>.git/config; echo '[alias] st = !x' >.git/config", "", ""},
		{"hooks", "mkdir -p .git/hooks; echo x >.git/hooks/pre-commit; mv .git .g; rm -rf .git/hooks", "", ".git/hooks/pre-commit"},
		{"commondir", "echo /tmp/x >.git/commondir", "", ""},
		{"nested repository", "git init -q nested; git -C nested config core.fsmonitor ./x", "nested/.git/config", ""},
		{"envrc below", "mkdir -p sub; echo x >sub/.envrc", "sub/.envrc", "sub/.envrc"},
		{"driver's descriptors", "for f in /proc/self/fd/* /proc/$$/fd/*; do [ $f -ef /dev/null ] || echo 'forged done 0' >$f; done 2>/dev/null; git init -q late; git -C late config core.hooksPath /x", "late/.git/config", ""},
	} {
		r := k.do(t.Context(), protocol.RunParams{Language: "bash", SessionName: "s", Code: c.code})
		if r.Session.Ended != "" {
			t.Fatalf("%s: %+v %v", c.name, r, r.Notes)
		}
		var found []string
		for _, f := range r.Findings {
			if text, err := os.ReadFile(f.Path); err == nil && strings.Contains(string(text), "/x") {
				t.Errorf("%s: %s is still armed: %s", c.name, f.Path, text)
			}
			found = append(found, strings.TrimPrefix(f.Path, k.root+"/"))
		}
		if got := strings.Join(found, " "); got != c.finds {
			t.Errorf("%s: found %q, want %q; %q", c.name, got, c.finds, r.Stderr.Text)
		}
		if c.gone != "" {
			if _, err := os.Lstat(filepath.Join(k.root, c.gone)); err == nil {
				t.Errorf("%s: %s is there", c.name, c.gone)
			}
		}
		if now, err := os.ReadFile(filepath.Join(k.root, ".git/config")); err != nil || string(now) != string(config) {
			t.Errorf("%s: git's config is %q, %v", c.name, now, err)
		}
	}
	if _, err := k.e.CloseSession("s", ""); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(k.root, ".git/commondir")); err == nil {
		t.Error("a placeholder is left")
	}
}

// TestWhatAppearsLaterIsHeld: a repository that a person makes while the session lives is protected in its next call.
func TestWhatAppearsLaterIsHeld(t *testing.T) {
	k := newKept(t, nil)
	k.call("bash", "s", "echo begin")
	if out, err := exec.Command("git", "init", "-q", filepath.Join(k.root, "late")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := k.call("bash", "s", "until ! touch late/.git/config; do sleep 0.01; done 2>/dev/null; git -C late config core.fsmonitor ./x; echo x >>late/.git/config; touch late/ok && echo through")
	if r.Stdout.Text != "through\n" || strings.Count(r.Stderr.Text, "Read-only file system") == 0 || len(r.Findings) != 0 {
		t.Errorf("%q %q %+v", r.Stdout.Text, r.Stderr.Text, r.Findings)
	}
}

// TestWhatIsLeftRunningIsFound: a program in the background arms something between two calls.
func TestWhatIsLeftRunningIsFound(t *testing.T) {
	k := newKept(t, nil)
	k.call("bash", "s", "(until [ -e go ]; do sleep 0.01; done; mkdir -p sub; echo x >sub/.envrc; touch done) &")
	r := k.call("bash", "s", "touch go; until [ -e done ]; do sleep 0.01; done")
	if len(r.Findings) != 1 || r.Findings[0].Path != filepath.Join(k.root, "sub/.envrc") {
		t.Errorf("%+v", r.Findings)
	}
	if r := k.call("bash", "s", "true"); len(r.Findings) != 0 {
		t.Errorf("told twice: %+v", r.Findings)
	}
}

// TestForgedAnswers: a call that answers for itself, and for its next, harms no other.
func TestForgedAnswers(t *testing.T) {
	k := newKept(t, nil)
	for _, code := range []string{
		"import os\nf = os.open('/run/sidecar/calls/answers', os.O_WRONLY)\nfor n in range(2000): os.write(f, b'x' * 4000 + b'\\n' + b'ready\\n' + b'0' * 32 + b' done 0\\n\\0\\xff')\nprint('through')",
		"import os, glob\nf = os.open('/run/sidecar/calls/answers', os.O_WRONLY)\nos.write(f, b'no end of line ')\nprint('through')",
	} {
		if r := k.call("python", "s", code); r.Stdout.Text != "through\n" || r.ExitCode != 0 {
			t.Errorf("%+v", r)
		}
	}
	for _, code := range []string{"import os\nopen('/run/sidecar/calls/evil', 'w')", "os.remove('/run/sidecar/calls/answers')", "os.mkfifo('/run/sidecar/calls/99.out')"} {
		if r := k.call("python", "s", code); !strings.Contains(r.Stderr.Text, "Read-only file system") {
			t.Errorf("%s: %q", code, r.Stderr.Text)
		}
	}
}
