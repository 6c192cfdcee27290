package bubblewrap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/shim"
)

// policy is a small one with each kind of thing in it.
func policy() sandbox.Policy {
	return sandbox.Policy{
		UID: 1000, GID: 100, Hostname: "box", Dir: "/home/me/w", Argv: []string{"/usr/bin/env", "x"}, Env: []string{"SECRET=s"},
		Mounts: []sandbox.Mount{
			{Source: "/home/me/w", Target: "/home/me/w", Access: sandbox.ReadWrite},
			{Source: "/usr", Target: "/usr"},
			{Source: "/etc/ssl", Target: "/etc/ssl", Optional: true},
		},
		Scratch: []sandbox.Scratch{{Target: "/home/me", Size: 1 << 20, Mode: 0o700}, {Target: "/tmp", Size: 1 << 20, Mode: 0o1777}},
		Links:   []sandbox.Link{{Target: "/bin", To: "usr/bin"}},
		Files:   []sandbox.File{{Target: "/etc/passwd", Data: []byte("p"), Mode: 0o444}},
		Pins: []sandbox.Pin{
			{Path: "/home/me/w/.git", Kind: sandbox.Border, Folder: true},
			{Path: "/home/me/w/.git/config", Kind: sandbox.Frozen},
			{Path: "/home/me/w/link", Kind: sandbox.Frozen, Link: true},
			{Path: "/home/me/w/sock", Kind: sandbox.Covered},
		},
		Limits: sandbox.Limits{Processes: 64, OpenFiles: 32, Memory: 1 << 30, FileSize: 1 << 20},
	}
}

var host = sandbox.Host{Bubblewrap: "/usr/bin/bwrap", Shim: "/opt/sidecar", Arch: "amd64", UserProcessLimit: true}

// lines breaks an argument list into one option a line, so that a difference can be read.
func lines(args []string) []string {
	var out []string
	for _, a := range args {
		if strings.HasPrefix(a, "--") || len(out) == 0 {
			out = append(out, a)
		} else {
			out[len(out)-1] += " " + a
		}
	}
	return out
}

func TestThePlanWithTheShim(t *testing.T) {
	plan, err := New(policy(), host)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname box", "--cap-drop ALL",
		"--uid 0", "--gid 0", "--cap-add CAP_SYS_ADMIN", "--cap-add CAP_SYS_RESOURCE", "--cap-add CAP_SETFCAP",
		"--symlink usr/bin /bin", "--dev /dev", "--perms 0444", "--file 10 /etc/passwd", "--ro-bind-try /etc/ssl /etc/ssl",
		"--perms 0700", "--size 1048576", "--tmpfs /home/me", "--bind /home/me/w /home/me/w", "--proc /proc",
		"--perms 0555", "--dir /run/sidecar/empty", "--ro-bind /opt/sidecar /run/sidecar/shim",
		"--perms 1777", "--size 1048576", "--tmpfs /tmp", "--ro-bind /usr /usr",
		"--remount-ro /", "--remount-ro /dev", "--chdir /",
	}
	if diff := cmp.Diff(want, lines(plan.Args)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/usr/bin/bwrap", "--args", "9", "--info-fd", "8", "--", "/run/sidecar/shim"}, plan.Argv); diff != "" {
		t.Error(diff)
	}
	if len(plan.Gaps) != 0 {
		t.Errorf("gaps: %q", plan.Gaps)
	}
	got, err := shim.Decode(plan.Inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	got.Filter = nil
	wantShim := shim.Plan{
		Pins: []shim.Pin{{Kind: shim.Border, Folder: true, Path: "/home/me/w/.git"}, {Kind: shim.Frozen, Path: "/home/me/w/.git/config"},
			{Kind: shim.Frozen, Path: "/home/me/w/link"}, {Kind: shim.Covered, Path: "/home/me/w/sock"}},
		Scratch: []shim.Scratch{{Path: "/home/me", Inodes: minInodes}, {Path: "/tmp", Inodes: minInodes}},
		NewUser: true, UID: 1000, GID: 100,
		Limits: []shim.Limit{{Resource: limitFileSize, Value: 1 << 20}, {Resource: limitData, Value: 1 << 30},
			{Resource: limitOpenFiles, Value: 32}, {Resource: limitCore}, {Resource: limitPending, Value: mostPending}, {Resource: limitProcesses, Value: 64}},
		Dir: "/home/me/w", Argv: []string{"/usr/bin/env", "x"}, Env: []string{"SECRET=s"},
	}
	if diff := cmp.Diff(wantShim, got); diff != "" {
		t.Error(diff)
	}
}

// Secrets of the environment go to the shim in memory: no argument list shows them.
func TestNoVariableStandsInAnArgument(t *testing.T) {
	for _, mode := range []sandbox.MountMode{sandbox.ByShim, sandbox.ByArgv} {
		h := host
		h.Mounts = mode
		plan, err := New(policy(), h)
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(append(plan.Args, plan.Argv...), " "); strings.Contains(all, "SECRET") {
			t.Errorf("mode %d: %s", mode, all)
		}
	}
}

func TestThePlanWhereBubblewrapMakesThePins(t *testing.T) {
	h := host
	h.Mounts = sandbox.ByArgv
	plan, err := New(policy(), h)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(plan.Args)
	want := []string{"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname box", "--cap-drop ALL",
		"--uid 1000", "--gid 100", "--disable-userns"}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Error(diff)
	}
	pins := []string{"--bind /home/me/w/.git /home/me/w/.git", "--ro-bind /home/me/w/.git/config /home/me/w/.git/config",
		"--ro-bind /dev/null /home/me/w/sock", "--remount-ro /", "--remount-ro /dev", "--chdir /"}
	if diff := cmp.Diff(pins, got[len(got)-len(pins):]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`the link "/home/me/w/link" is not held by a mount here; the audit looks at it`}, plan.Gaps); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsOnProcesses(t *testing.T) {
	for _, tt := range []struct {
		name       string
		root       bool
		pid        bool
		user       bool
		wantPIDMax int
		wantLimit  bool
		wantGap    bool
	}{
		{"an ordinary user has a resource limit", false, false, true, 0, true, false},
		{"root has only the namespace's", true, true, true, minPIDMax, false, false},
		{"root on an older kernel has none, and that is said", true, false, true, 0, false, true},
		{"a user on a very old kernel has none either", false, false, false, 0, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := host
			h.Root, h.PIDLimit, h.UserProcessLimit = tt.root, tt.pid, tt.user
			plan, err := New(policy(), h)
			if err != nil {
				t.Fatal(err)
			}
			s, err := shim.Decode(plan.Inputs[0])
			if err != nil {
				t.Fatal(err)
			}
			limited := false
			for _, l := range s.Limits {
				limited = limited || l.Resource == limitProcesses
			}
			if s.PIDMax != tt.wantPIDMax || limited != tt.wantLimit || (len(plan.Gaps) > 0) != tt.wantGap {
				t.Errorf("pid_max %d, limit %v, gaps %q", s.PIDMax, limited, plan.Gaps)
			}
		})
	}
}

func TestPoliciesThatCannotBeCarriedOut(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Policy){
		"no program":      func(p *sandbox.Policy) { p.Argv = nil },
		"a NUL byte":      func(p *sandbox.Policy) { p.Argv = []string{"/bin/a\x00b"} },
		"a relative path": func(p *sandbox.Policy) { p.Mounts[0].Target = "w" },
		"an unclean path": func(p *sandbox.Policy) { p.Pins[0].Path = "/home/me/w/../x" },
	} {
		p := policy()
		change(&p)
		if _, err := New(p, host); err == nil {
			t.Errorf("%s: planned", name)
		}
	}
}

func TestThePlanOfAKeeper(t *testing.T) {
	pick := sandbox.Pick{Source: "/store", Target: "/nix/store", Names: []string{"a", "b"}}
	plan, err := Keeper(pick, host)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname keeper", "--cap-drop ALL",
		"--uid 0", "--gid 0", "--cap-add CAP_SYS_ADMIN", "--cap-add CAP_SYS_RESOURCE", "--cap-add CAP_SETFCAP", "--as-pid-1",
		"--perms 0755", "--size 73728", "--tmpfs /nix/store", "--ro-bind /store /run/sidecar/pick0", "--ro-bind /opt/sidecar /run/sidecar/shim",
		"--remount-ro /", "--chdir /",
	}
	if diff := cmp.Diff(want, lines(plan.Args)); diff != "" {
		t.Error(diff)
	}
	work, err := shim.Decode(plan.Inputs[0])
	wantWork := shim.Plan{Picks: []shim.Pick{{From: "/run/sidecar/pick0", To: "/nix/store", Names: pick.Names}}, Keep: true, Filter: []byte{}}
	if diff := cmp.Diff(wantWork, work); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if !plan.Keeps || len(plan.Gaps) > 0 || len(plan.Inputs) != 7 {
		t.Errorf("%+v", plan)
	}
	argv := host
	argv.Mounts = sandbox.ByArgv
	if _, err := Keeper(pick, argv); err == nil {
		t.Error("a keeper without capabilities")
	}
	if _, err := Keeper(sandbox.Pick{Source: "/store", Target: "/nix/store", Names: []string{"../x"}}, host); err == nil {
		t.Error("a keeper of a path elsewhere")
	}
}
