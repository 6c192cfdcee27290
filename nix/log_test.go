package nix

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded is what Nix 2.8 and 2.34 print, shortened: a fetch and two builds.
const recorded = `warning: something of the time before the log
@nix {"action":"start","id":1,"level":0,"text":"","type":104}
@nix {"action":"start","id":2,"level":0,"parent":0,"text":"","type":103}
@nix {"action":"result","fields":[0,2,0,0],"id":1,"type":105}
@nix {"action":"start","fields":["/nix/store/00000000000000000000000000000000-jq-1.7","https://cache.example.org"],"id":3,"level":3,"text":"","type":108}
@nix {"action":"result","fields":[0,1,1,0],"id":2,"type":105}
@nix {"action":"start","fields":["https://cache.example.org/x.nar"],"id":4,"level":4,"text":"","type":101}
@nix {"action":"result","fields":[100,400],"id":4,"type":105}
@nix {"action":"result","fields":[400,400],"id":4,"type":105}
@nix {"action":"stop","id":4}
@nix {"action":"result","fields":[1,1,0,0],"id":2,"type":105}
@nix {"action":"start","fields":["/nix/store/00000000000000000000000000000000-hello-2.10.drv","",1,1],"id":5,"level":3,"text":"building","type":105}
@nix {"action":"result","fields":["\u001b[31mred\u001b[0m"],"id":5,"type":101}
@nix {"action":"result","fields":[1,2,1,0],"id":1,"type":105}
@nix {"action":"stop","id":5}
`

func TestProgress(t *testing.T) {
	var all []Progress
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	tr := newTranscript(log, func(p Progress) { all = append(all, p) })
	for _, b := range []byte(recorded) { // a byte at a time, as a pipe may
		tr.Write([]byte{b})
	}
	want := Progress{Stage: "building", Name: "hello-2.10", Built: 1, ToBuild: 2, Fetched: 1, ToFetch: 1, Bytes: 400, BytesTotal: 400}
	if diff := cmp.Diff(want, all[len(all)-1]); diff != "" {
		t.Error(diff)
	}
	if all[0] != (Progress{Stage: "evaluating", ToBuild: 2}) || all[1].Stage != "fetching" || all[1].Name != "jq-1.7" {
		t.Errorf("it begins %+v", all[:2])
	}
	text, _ := os.ReadFile(log.Name())
	const wantLog = "warning: something of the time before the log\nbuilding /nix/store/00000000000000000000000000000000-hello-2.10.drv\nhello-2.10> red\n"
	if string(text) != wantLog {
		t.Errorf("the log is %q", text)
	}
}

// No log, however strange, does harm.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte("@nix {\"action\":\"result\",\"fields\":[null,\"a\",{}],\"id\":1,\"type\":105}\n@nix [\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr := newTranscript(nil, func(Progress) {})
		if n, err := tr.Write(text); n != len(text) || err != nil {
			t.Error(n, err)
		}
		if tr.failure("x", "", false, Source{}) == nil {
			t.Error("a failure is no error")
		}
	})
}

// A line without end, and a log without end, are bounded.
func TestLongLog(t *testing.T) {
	log, _ := os.Create(filepath.Join(t.TempDir(), "log"))
	tr := newTranscript(log, nil)
	block := []byte(strings.Repeat("x", 1<<16))
	for range 40 {
		tr.Write(block)
	}
	if len(tr.partial) != longestLine {
		t.Errorf("%d bytes of a line are held", len(tr.partial))
	}
	tr.Write([]byte("\n"))
	tr.Write([]byte(`@nix {"action":"start","fields":["/nix/store/00000000000000000000000000000000-a.drv"],"id":5,"type":105}` + "\n"))
	for range 1000 {
		tr.Write([]byte(`@nix {"action":"result","fields":["line"],"id":5,"type":101}` + "\n"))
	}
	if got := tr.tail("/nix/store/00000000000000000000000000000000-a.drv"); len(got) != tailLines {
		t.Errorf("the tail has %d lines", len(got))
	}
}

// What nixpkgs and Nix say, in the words of several releases. The two of nixpkgs are from its documented
// behaviour and its check-meta.nix; the stand-in uses the first.
func TestFailureKinds(t *testing.T) {
	const drv = "/nix/store/00000000000000000000000000000000-hello-2.10.drv"
	for _, tt := range []struct {
		name, says string
		want       error
	}{
		{"unfree, older", "error: Package ‘vscode-1.90’ in /nix/store/x/pkgs/vscode.nix:7 has an unfree license (‘unfree’), refusing to evaluate.\n\n a) To temporarily",
			&RefusedError{Package: "vscode-1.90", Kind: "unfree", Reason: "Package ‘vscode-1.90’ in /nix/store/x/pkgs/vscode.nix:7 has an unfree license (‘unfree’), refusing to evaluate.", Setting: "nix.allow_unfree: true"}},
		{"unfree, newer", "error: Refusing to evaluate package 'vscode-1.90' in /nix/store/x.nix:7 because it has an unfree license ('unfree')",
			&RefusedError{Package: "vscode-1.90", Kind: "unfree", Reason: "Refusing to evaluate package 'vscode-1.90' in /nix/store/x.nix:7 because it has an unfree license ('unfree')", Setting: "nix.allow_unfree: true"}},
		{"insecure", "error: Package ‘openssl-1.1.1w’ in /x.nix:7 is marked as insecure, refusing to evaluate.\n\n\nKnown issues:\n - OpenSSL 1.1 is reaching its end of life\n\nYou can install",
			&RefusedError{Package: "openssl-1.1.1w", Kind: "insecure", Reason: "Package ‘openssl-1.1.1w’ in /x.nix:7 is marked as insecure, refusing to evaluate.",
				Details: []string{"- OpenSSL 1.1 is reaching its end of life"}, Setting: "nix.allow_insecure: [openssl-1.1.1w]"}},
		{"broken", "error: Package ‘a-1’ in /x.nix:7 is marked as broken, refusing to evaluate.",
			&RefusedError{Package: "a-1", Kind: "broken", Reason: "Package ‘a-1’ in /x.nix:7 is marked as broken, refusing to evaluate.", Setting: "nix.allow_broken: true"}},
		{"unsupported", "error: Package ‘a-1’ in /x.nix:7 is not available on the requested hostPlatform:\n  hostPlatform.config = \"x\"",
			&RefusedError{Package: "a-1", Kind: "unsupported", Reason: "Package ‘a-1’ in /x.nix:7 is not available on the requested hostPlatform:"}},
		{"build, 2.8", "error: builder for '" + drv + "' failed with exit code 7;\n last 1 log lines:\n > x",
			&BuildError{What: "x", Derivation: drv, Reason: "hello-2.10.drv failed with exit code 7", LogFile: "log"}},
		{"build, 2.34", "error: Cannot build '" + drv + "'.\n       Reason: builder failed with exit code 7.\n       Output paths:\n",
			&BuildError{What: "x", Derivation: drv, Reason: "hello-2.10.drv failed with exit code 7", LogFile: "log"}},
		{"no daemon", "error: cannot connect to socket at '/nix/var/nix/daemon-socket/socket': Connection refused",
			&StoreError{Reason: "cannot connect to socket at '/nix/var/nix/daemon-socket/socket': Connection refused", Hint: storeHint("daemon")}},
		{"not writable", "error: opening lock file '/nix/var/nix/db/big-lock': Permission denied",
			&StoreError{Reason: "opening lock file '/nix/var/nix/db/big-lock': Permission denied", Hint: storeHint("")}},
		{"another's", "error: could not set permissions on '/nix/var/nix/profiles/per-user' to 755: Operation not permitted",
			&StoreError{Reason: "could not set permissions on '/nix/var/nix/profiles/per-user' to 755: Operation not permitted", Hint: storeHint("")}},
		{"no group", "error: the group 'nixbld' specified in 'build-users-group' does not exist",
			&StoreError{Reason: "the group 'nixbld' specified in 'build-users-group' does not exist", Hint: groupHint}},
		{"no network", "error:\n  … while fetching the input\n\n  error: unable to download 'https://x': Couldn't resolve host name (6)",
			&FetchError{What: "x", Reason: "unable to download 'https://x': Couldn't resolve host name (6)", LogFile: "log"}},
		{"syntax", "error: syntax error, unexpected '}'\n\n       at /x/flake.nix:3:1:\n            2| {\n", &EvalError{What: "x",
			Reason: "syntax error, unexpected '}'\n       at /x/flake.nix:3:1:\n            2| {", LogFile: "log"}},
		{"unknown", "error: sidecar:unknown:python3Packages.x:", &UnknownError{Package: "python3Packages.x"}},
		{"nothing", "", &EvalError{What: "x", Reason: "nix failed and said nothing", LogFile: "log"}},
	} {
		tr := newTranscript(nil, nil)
		tr.message(tt.says, true)
		if diff := cmp.Diff(tt.want, tr.failure("x", "log", false, Source{})); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"nix (Nix) 2.8.0\n": {2, 8, 0}, "nix (Nix) 2.34.8\n": {2, 34, 8}, "nix (Nix) 2.19pre20231019_abc": {2, 19, 0},
		"nix (Lix, like Nix) 2.91.1\nSystem type": {2, 91, 1}, "nix (Determinate Nix 3.6.2) 2.29.0": {2, 29, 0},
	} {
		if got, ok := parseVersion(text); got != want || !ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	if _, ok := parseVersion("nix: command not found"); ok {
		t.Error("that is no version")
	}
	if !(Version{2, 3, 16}).Before(Oldest) || (Version{2, 18, 0}).Before(Nixpkgs) || !(Version{1, 99, 0}).Before(Oldest) || !(Version{2, 18, 0}).Before(Version{2, 18, 1}) {
		t.Error("versions are out of order")
	}
}

func TestNear(t *testing.T) {
	known := []Attr{{"", "ripgrep"}, {"", "ripgrep-all"}, {"", "jq"}, {"", "pkgsCross"}, {"python3Packages", "pandas"}, {"python3Packages", "pandas-stubs"}, {"python3Packages", "panda"}, {"", "r"}}
	for wanted, want := range map[string]string{
		"ripgerp": "ripgrep", "RipGrep": "ripgrep ripgrep-all", "pandas": "python3Packages.pandas python3Packages.panda python3Packages.pandas-stubs", "grep": "ripgrep ripgrep-all",
		"zzz": "", "jk": "jq", "pkgsCros": "", "python3Packages.jq": "jq",
	} {
		attr := Attr{Name: wanted}
		if set, name, ok := strings.Cut(wanted, "."); ok {
			attr = Attr{set, name}
		}
		if got := strings.Join(nearAttrs(attr, known), " "); got != want {
			t.Errorf("near %q is %q, want %q", wanted, got, want)
		}
	}
}

// Settings that would become others are refused, and what is not named does not reach nix.
func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"relative":   {Dir: "cache"},
		"relative 2": {Dir: "/c", Root: "store"},
		"a line":     {Dir: "/c", Substituters: []string{"https://a\nsandbox = false"}},
		"a comment":  {Dir: "/c", TrustedKeys: []string{"k #"}},
		"a name":     {Dir: "/c", Config: map[string]string{"sandbox = false\nx": "1"}},
		"a value":    {Dir: "/c", Config: map[string]string{"x": "1\ny = 2"}},
	} {
		if o.check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	home := t.TempDir()
	o := Options{Dir: "/c", Path: "bin:/usr/bin::./x:/bin", Environ: []string{"HOME=" + home, "NIX_PATH=/evil", "NIX_CONFIG=x", "LD_PRELOAD=/x", "https_proxy=http://p", "SECRET=1"},
		Substituters: []string{}, TrustedKeys: []string{"k1", "k2"}, Builders: []string{"ssh://a x86_64-linux", "ssh://b"}, Config: map[string]string{"max-jobs": "2"}}
	want := []string{"PATH=/usr/bin:/bin", "TERM=dumb", "NIX_PAGER=cat", "PAGER=cat", "HOME=" + home, "https_proxy=http://p",
		"NIX_CONFIG=extra-experimental-features = nix-command flakes\nconnect-timeout = 5\nstalled-download-timeout = 10\ndownload-attempts = 2\nwarn-dirty = false\naccept-flake-config = false\n" +
			"substituters = \nextra-trusted-public-keys = k1 k2\nbuilders = ssh://a x86_64-linux ; ssh://b\nmax-jobs = 2"}
	if diff := cmp.Diff(want, o.environment()); diff != "" {
		t.Error(diff)
	}
	o.Environ = []string{"HOME=/nonexistent"}
	if got := o.environment(); !contains(got, "HOME=/c/home") {
		t.Errorf("no home that can be written: %q", got)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "others can write") {
		t.Errorf("a folder that all can write: %v", err)
	}
}

// What is no nix, or none that is of use, says so.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	script := func(text string) string {
		file := filepath.Join(dir, "nix")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, tt := range []struct{ name, script, want string }{
		{"too old", "echo 'nix (Nix) 2.3.16'", "is 2.3.16, which has no flakes\ninstall 2.4 or newer (nixpkgs wants 2.18)"},
		{"no Nix", "echo hello", "does not tell its version: it printed hello"},
		{"fails", "echo 'no such thing' >&2; exit 1", "no such thing"},
		{"no features", `[ "$1" = --version ] && echo 'nix (Nix) 2.20.0' || { echo "error: unknown setting" >&2; exit 1; }`, "does not evaluate with flakes: unknown setting"},
	} {
		_, err := Find(t.Context(), Finding{Program: script(tt.script)})
		var version *VersionError
		if !errors.As(err, &version) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	var missing *MissingError
	if _, err := Find(t.Context(), Finding{Path: "relative:" + t.TempDir()}); !errors.As(err, &missing) {
		t.Errorf("no nix: %v", err)
	}
	script("echo 'nix (Nix) 2.8.0'")
	if tool, err := Find(t.Context(), Finding{Path: dir}); err != nil || len(tool.Warnings) != 1 || tool.Store != filepath.Join(dir, "nix-store") {
		t.Errorf("%+v, %v", tool, err)
	}
}

func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Presets() {
		if err := p.Spec(Source{Ref: DefaultNixpkgs}).Check(); err != nil || seen[p.Name] || p.Summary == "" || p.Language == "" {
			t.Errorf("%+v: %v", p, err)
		}
		seen[p.Name] = true
	}
	if spec := Presets()[0].Spec(Source{}, "jq"); !contains(spec.Packages, "jq") {
		t.Errorf("%+v", spec)
	}
}
