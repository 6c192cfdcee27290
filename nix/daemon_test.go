package nix

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the probes of a daemon come to. The keys of answers are a probe's "bare" and "off".
func TestJudge(t *testing.T) {
	const plain, off, bare, bareOff = "", "off", "bare", "bare off"
	strange := errors.New("the connection ended\nand more")
	for _, tt := range []struct {
		name    string
		answers map[string]any
		want    string
	}{
		{"sandbox = true", map[string]any{bareOff: notBuilt, off: builtInside}, ""},
		{"sandbox = relaxed", map[string]any{bareOff: builtOutside, bare: builtOutside}, "lets builds ask for none"},
		{"sandbox = false", map[string]any{bareOff: builtOutside, bare: builtOutside}, "without a sandbox"},
		{"trusted", map[string]any{bareOff: builtOutside, bare: notBuilt}, "trusts you"},
		{"odd", map[string]any{bareOff: builtInside, bare: builtInside}, "without a sandbox"},
		{"sandbox-fallback", map[string]any{bareOff: notBuilt, off: builtOutside}, "sandbox-fallback"},
		{"not allowed", map[string]any{bareOff: strange}, "cannot be found out: the connection ended"},
		{"ends", map[string]any{bareOff: notBuilt, off: strange}, "cannot be found out"},
		{"trusted, then gone", map[string]any{bareOff: builtOutside, bare: strange}, "without a sandbox"},
	} {
		err := judge(func(p probe) (outcome, error) {
			var key []string
			if p.bare {
				key = append(key, bare)
			}
			if p.off {
				key = append(key, off)
			}
			switch answer := tt.answers[strings.Join(key, " ")].(type) {
			case error:
				return 0, answer
			case outcome:
				return answer, nil
			}
			t.Errorf("%s: asks %v", tt.name, p)
			return 0, errors.New("no answer")
		})
		var refusal *DaemonError
		if (err == nil) != (tt.want == "") || err != nil && (!errors.As(err, &refusal) || refusal.Hint == "" || !strings.Contains(refusal.Reason, tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// What a nix says of a probe; the texts are those of 2.8.
func TestProbeFailed(t *testing.T) {
	const drv = "/nix/store/hl5qialc47wg2rxmsjvgzpnwh4zvjnj6-sidecar-probe.drv"
	for _, tt := range []struct {
		err  error
		want outcome
		ok   bool
	}{
		{&EvalError{Reason: "derivation '" + drv + "' has '__noChroot' set, but that's not allowed when 'sandbox' is 'true'"}, notBuilt, true},
		{&BuildError{Derivation: drv, Tail: []string{"Error D executing '/bin/sh': No such file or directory"}}, builtInside, true},
		{&BuildError{Derivation: drv, Tail: []string{"out of memory"}}, 0, false},
		{&StoreError{Reason: "cannot connect to socket"}, 0, false},
	} {
		if got, err := probeFailed(tt.err); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%v: %v, %v", tt.err, got, err)
		}
	}
}

// Builders have the rights of somebody; root's and the person's are none for a run.
func TestRightsOfBuilders(t *testing.T) {
	const person = 1000
	for _, tt := range []struct {
		name   string
		daemon int
		conf   map[string]string
		want   string
	}{
		{"usual", 0, map[string]string{"build-users-group": "nixbld"}, ""},
		{"not said", 0, nil, ""},
		{"as root", 0, map[string]string{"build-users-group": ""}, "builds as root"},
		{"ids by itself", 0, map[string]string{"build-users-group": "", "auto-allocate-uids": "true"}, ""},
		{"the person's own", person, nil, "runs as yourself"},
		{"a user of its own", 77, map[string]string{"build-users-group": ""}, ""},
	} {
		err := rightsOfBuilders(tt.daemon, person, tt.conf)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// nix.conf(5): later lines win, comments end lines, files are included from where they are named.
func TestConfOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nix.conf": "a = 1 # one\n# b = 2\nc=3\nempty =\n!include sub/more.conf\n!include nowhere\nlast = here\n", "sub/more.conf": "a = 2 3\ninclude more.conf\nlast = there\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"a": "2 3", "empty": "", "last": "here"}
	if diff := cmp.Diff(want, confOf(filepath.Join(dir, "nix.conf"))); diff != "" {
		t.Error(diff)
	}
	if got := confOf(filepath.Join(dir, "nowhere")); len(got) > 0 {
		t.Errorf("no file: %v", got)
	}
}

func TestSocketOf(t *testing.T) {
	for _, tt := range []struct {
		vars map[string]string
		want string
	}{
		{nil, DaemonSocket},
		{map[string]string{"NIX_STATE_DIR": "/s"}, "/s/daemon-socket/socket"},
		{map[string]string{"NIX_STATE_DIR": "/s", "NIX_DAEMON_SOCKET_PATH": "/x/socket"}, "/x/socket"},
		{map[string]string{"NIX_STATE_DIR": "s", "NIX_DAEMON_SOCKET_PATH": "socket"}, DaemonSocket},
	} {
		if got := SocketOf(func(name string) string { return tt.vars[name] }); got != tt.want {
			t.Errorf("%v: %s", tt.vars, got)
		}
	}
}

// A store of one's own that cannot be made where the settings have it is the store's fault; other errors are left alone.
func TestStoreAtFault(t *testing.T) {
	for _, tt := range []struct {
		root, reason string
		want         bool
	}{
		{"/dev/null/store", "'/dev/null' is not a directory", true},
		{"/srv/store", "creating directory '/srv/store': Permission denied", true},
		{"/srv/store", "cannot coerce '/srv/other'", false},
		{"/srv/store", "path '/' is odd", false},
		{"", "creating directory '/srv/store': Permission denied", false},
	} {
		s := &Store{options: Options{Root: tt.root}}
		var store *StoreError
		if err := s.storeAtFault(&EvalError{Reason: tt.reason}); errors.As(err, &store) != tt.want {
			t.Errorf("%+v: %T", tt, err)
		}
	}
}
