package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var both = []string{"cpu", "memory", "pids"}

func TestWhereATreeIsMade(t *testing.T) {
	ours, given := Node{Writable: true, Controllers: both}, Node{Writable: true, Controllers: both, Enabled: both}
	const cg = "/sys/fs/cgroup"
	for name, tt := range map[string]struct {
		facts Facts
		want  string
		err   error
	}{
		"v1":                                   {Facts{}, "", ErrNotMounted},
		"a mount of somewhere else":            {Facts{Mounted: true}, "", ErrNotSeen},
		"root's first group, whoever is in it": {Facts{Mounted: true, Dir: cg, Own: ours, Root: true, Others: true}, cg, nil},
		"the first group, as a user":           {Facts{Mounted: true, Dir: cg, Own: Node{Controllers: both}, Root: true, Others: true}, "", ErrNotOurs},
		"a container's, with its first process": {Facts{Mounted: true, Dir: cg, Own: ours, Others: true,
			Above: Node{}}, "", ErrShared},
		"a container's, whose entry point made way": {Facts{Mounted: true, Dir: cg + "/init", Own: ours, Others: true, Above: given}, cg, nil},
		"alone":                           {Facts{Mounted: true, Dir: cg + "/mine/alone", Own: ours}, cg + "/mine/alone", nil},
		"alone in a scope that was given": {Facts{Mounted: true, Dir: cg + "/user.slice/run-u1.scope", Own: ours, Above: given}, cg + "/user.slice/run-u1.scope", nil},
		"with others in a terminal's scope, beside which is systemd's": {Facts{Mounted: true, Dir: cg + "/user.slice/vte.scope", Own: ours, Others: true, Above: given}, "", ErrShared},
		"a login by ssh": {Facts{Mounted: true, Dir: cg + "/user.slice/session-1.scope", Own: Node{Controllers: both}, Others: true, Above: Node{Controllers: both, Enabled: both}}, "", ErrNotOurs},
	} {
		if got, err := tt.facts.Base(); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q %v, want %q %v", name, got, err, tt.want, tt.err)
		}
	}
}

func TestAControllerThatIsMissing(t *testing.T) {
	f := Facts{Mounted: true, Dir: "/sys/fs/cgroup/a", Own: Node{Writable: true, Controllers: []string{"pids", "cpu"}}}
	if _, err := f.Base(); err == nil || err.Error() != `the controller "memory" is not handed down to this user's control groups` {
		t.Error(err)
	}
	if _, err := f.ForChild().Base(); !errors.Is(err, ErrShared) {
		t.Error("who starts a process is in its group: ", err)
	}
}

func TestScope(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		uid   int
		want  string
	}{
		"no systemd":             {[]string{"usr/bin/systemd-run"}, 1000, ""},
		"no systemd-run":         {[]string{"run/user/1000/systemd/private"}, 1000, ""},
		"another user's manager": {[]string{"run/user/1000/systemd/private", "usr/bin/systemd-run"}, 1001, ""},
		"a user":                 {[]string{"run/user/1000/systemd/private", "usr/bin/systemd-run"}, 1000, "/usr/bin/systemd-run --user --scope"},
		"root":                   {[]string{"run/systemd/private", "run/user/0/systemd/private", "bin/systemd-run"}, 0, "/bin/systemd-run --scope --quiet"},
		"NixOS":                  {[]string{"run/user/1000/systemd/private", "run/current-system/sw/bin/systemd-run"}, 1000, "/run/current-system/sw/bin/systemd-run --user --scope"},
		"a user without manager": {[]string{"run/systemd/private", "usr/bin/systemd-run"}, 1000, ""},
	} {
		root := t.TempDir()
		for _, file := range tt.files {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755), os.WriteFile(filepath.Join(root, file), nil, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		argv, env := Scope(root, tt.uid)
		if tt.want == "" {
			if argv != nil {
				t.Errorf("%s: %q", name, argv)
			}
			continue
		}
		if len(argv) < 3 || len(env) != 1 || argv[0]+" "+argv[1]+" "+argv[2] != tt.want || argv[len(argv)-1] != "--" {
			t.Errorf("%s: %q, want %s", name, argv, tt.want)
		}
	}
}
