package doctor

import (
	"encoding/json"
	"errors"
	"testing"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
)

// healthy is a machine with nothing to mend.
func healthy() Machine {
	return Machine{
		OS: "linux", UID: 1000, Distribution: "fedora", Pretty: "Fedora Linux 42", Kernel: "6.14.0-63.fc42.x86_64",
		Sysctls:    map[string]string{"user.max_user_namespaces": "127234", "fs.inotify.max_user_watches": "524288"},
		Cgroup:     Cgroup{Version: 2, Scope: Scope{Asked: true, Controllers: []string{"cpu", "memory", "pids"}}, Facts: cgroup.Facts{Mounted: true, Dir: "/sys/fs/cgroup/user.slice/app.scope", Others: true}},
		Bubblewrap: Program{Path: "/usr/bin/bwrap", Version: "0.10.0"},
		Git:        Program{Path: "/usr/bin/git", Version: "2.49.0"},
		Trial:      Trial{Ran: true, OK: true},
		StateDir:   Folder{Path: "/home/u/.local/state/sidecar", Free: 1 << 40},
		RuntimeDir: Folder{Path: "/run/user/1000/sidecar", Free: 1 << 30}, SessionDir: "/run/user/1000",
	}
}

func TestHealthyReport(t *testing.T) {
	const want = `ok    kernel            Linux 6.14.0-63.fc42.x86_64 (Fedora Linux 42)
ok    bubblewrap        0.10.0 at /usr/bin/bwrap
ok    sandbox           an empty one starts
ok    user namespaces   allowed
ok    cgroups           v2, in a scope of systemd's; each run is held to its memory and processes by one of its own
ok    git               2.49.0 at /usr/bin/git
ok    nix               not found; runs use this machine's own interpreters
ok    inotify           524288 watches
ok    state folder      /home/u/.local/state/sidecar
ok    runtime folder    /run/user/1000/sidecar
ok    settings          can be read

sidecar can run sandboxes here.
`
	r := Examine(healthy())
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r.ExitStatus() != 0 || r.Err() != nil {
		t.Errorf("exit status %d, error %v", r.ExitStatus(), r.Err())
	}
}

func TestFailingReport(t *testing.T) {
	m := with(ubuntu2404(), func(m *Machine) {
		m.Trial = Trial{Ran: true, Stderr: uidMapDenied}
		m.Git, m.Nix = Program{Path: "/usr/bin/git", Version: "2.43.0"}, Program{Path: "/usr/bin/nix", Version: "2.24.9"}
		m.Cgroup.Version = 2
		m.StateDir, m.RuntimeDir = healthy().StateDir, healthy().RuntimeDir
		m.Sysctls["fs.inotify.max_user_watches"] = "8192"
	})
	const want = `ok    kernel            Linux 6.8.0-45-generic (Ubuntu 24.04.1 LTS)
ok    bubblewrap        0.9.0 at /usr/bin/bwrap
fail  sandbox           AppArmor restricts user namespaces, and has no profile in force for bubblewrap: bwrap: setting up uid map: Permission denied
                        fix: allow bubblewrap, and only it:
                             sudo apt-get install -y apparmor-profiles && sudo install -m 0644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/bwrap-userns-restrict && sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict
ok    user namespaces   allowed
fail  apparmor          restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1), and has no profile in force for /usr/bin/bwrap
                        fix: sudo apt-get install -y apparmor-profiles && sudo install -m 0644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/bwrap-userns-restrict && sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict
ok    cgroups           v2, but no file system of control groups v2 is mounted; memory and processes are limited for each process, and sidecar watches the sum of a run
ok    git               2.43.0 at /usr/bin/git
ok    nix               2.24.9 at /usr/bin/nix; sidecar turns flakes on for itself
warn  inotify           fs.inotify.max_user_watches = 8192, want 65536: in a large project, what a run makes may be noticed only after it
                        fix: echo 'fs.inotify.max_user_watches = 524288' | sudo tee /etc/sysctl.d/60-sidecar.conf && sudo sysctl -p /etc/sysctl.d/60-sidecar.conf
ok    state folder      /home/u/.local/state/sidecar
ok    runtime folder    /run/user/1000/sidecar
ok    settings          can be read

sidecar cannot run sandboxes here: 2 failures.
`
	r := Examine(m)
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var pe *protocol.Error
	if r.ExitStatus() != 1 || !errors.As(r.Err(), &pe) || pe.Kind != protocol.BackendMissing {
		t.Errorf("exit status %d, error %v", r.ExitStatus(), r.Err())
	}
}

// TestChecks changes one thing of a healthy machine, and compares the one check that is about it.
func TestChecks(t *testing.T) {
	const each = "; memory and processes are limited for each process, and sidecar watches the sum of a run"
	for name, tc := range map[string]struct {
		change func(*Machine)
		want   Check
	}{
		"old kernel": {func(m *Machine) { m.Kernel = "5.10.0-28-amd64" }, Check{"kernel", Warn,
			"Linux 5.10.0-28-amd64 (Fedora Linux 42); before 5.12 there is no mount_setattr(2), so protected paths cost more to mount", "use Linux 5.14 or newer"}},
		"root's processes": {func(m *Machine) { m.UID, m.Kernel = 0, "6.8.0" }, Check{"kernel", Warn,
			"Linux 6.8.0 (Fedora Linux 42); before 6.14 nothing bounds the processes of root's runs (limits.processes)", "run sidecar as an ordinary user, or use Linux 6.14 or newer"}},
		"processes of all": {func(m *Machine) { m.Kernel = "5.13.1" }, Check{"kernel", Warn,
			"Linux 5.13.1 (Fedora Linux 42); before 5.14 limits.processes also counts your processes outside the run", "use Linux 5.14 or newer"}},
		"WSL 1": {func(m *Machine) { m.Kernel = "4.4.0-19041-Microsoft" }, Check{"wsl", Fail,
			"WSL 1 has no namespaces", "in Windows: wsl --set-version DISTRIBUTION 2   (wsl -l -v lists them)"}},
		"WSL 2": {func(m *Machine) { m.Kernel = "6.6.87.2-microsoft-standard-WSL2" }, Check{"wsl", OK,
			"WSL 2; keep projects in the Linux file system, since /mnt/c is slow and has no Linux permissions", ""}},
		"gVisor":    {func(m *Machine) { m.Kernel = "4.19.0-gvisor" }, Check{"container", Warn, "gVisor: its kernel lacks much of what sandboxes need", ""}},
		"container": {in("podman"), Check{"container", OK, "podman; its confinement bounds what a sandbox inside can do", ""}},
		"no bubblewrap": {func(m *Machine) { m.Bubblewrap, m.Trial = Program{}, Trial{} }, Check{"bubblewrap", Fail,
			`bubblewrap is not installed: no program "bwrap" on PATH`, "sudo dnf install -y bubblewrap"}},
		"old bubblewrap": {func(m *Machine) { m.Bubblewrap.Version = "0.4.1" }, Check{"bubblewrap", Fail, "0.4.1 at /usr/bin/bwrap; want 0.8.0 or newer", healthy().update()}},
		"setuid": {func(m *Machine) { m.Bubblewrap.Setuid = true }, Check{"bubblewrap", Warn,
			"0.10.0 at /usr/bin/bwrap; it is setuid, and so refuses options that sidecar needs", "sudo chmod u-s /usr/bin/bwrap"}},
		"which version": {func(m *Machine) { m.Bubblewrap.Version = "" }, Check{"bubblewrap", Warn, "/usr/bin/bwrap does not say its version; want 0.8.0 or newer", ""}},
		"broken": {func(m *Machine) { m.Bubblewrap.Problem = "asking for its version: exit status 127" }, Check{"bubblewrap", Fail,
			"/usr/bin/bwrap: asking for its version: exit status 127", "reinstall it: sudo dnf install -y bubblewrap"}},
		"sandbox hangs": {func(m *Machine) { m.Trial = Trial{Ran: true, TimedOut: true, Stderr: "context deadline exceeded"} }, Check{"sandbox", Fail,
			"an empty one did not start in time (context deadline exceeded)", ""}},
		"no true": {func(m *Machine) { m.Trial = Trial{Stderr: `there is no program "true" to run inside`} }, Check{"sandbox", Fail,
			`not tried: there is no program "true" to run inside`, ""}},
		"masked /proc": {func(m *Machine) { m.Container, m.Trial = "docker", Trial{Ran: true, Stderr: procMasked} }, Check{"sandbox", Fail,
			"in a container (docker): parts of /proc are masked, so the kernel allows no new one: bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
			containerFlags["docker"]}},
		"no namespaces": {func(m *Machine) {
			m.Sysctls["user.max_user_namespaces"], m.Trial = "0", Trial{Ran: true, Stderr: noSpace}
		}, Check{"user namespaces", Fail, "switched off by user.max_user_namespaces = 0", healthy().setSysctl("user.max_user_namespaces", "15000")}},
		"no namespaces, root": {func(m *Machine) { m.UID, m.Sysctls["user.max_user_namespaces"] = 0, "0" }, Check{"user namespaces", Warn,
			"switched off by user.max_user_namespaces = 0", Machine{}.setSysctl("user.max_user_namespaces", "15000")}},
		"unprivileged": {func(m *Machine) {
			m.Sysctls["kernel.unprivileged_userns_clone"], m.Trial = "0", Trial{Ran: true, Stderr: noPermissions}
		}, Check{"user namespaces", Fail, "switched off by kernel.unprivileged_userns_clone = 0", healthy().setSysctl("kernel.unprivileged_userns_clone", "1")}},
		"apparmor in peace": {func(m *Machine) { m.AppArmor = true }, Check{"apparmor", OK, "enabled, and does not stand in the way", ""}},
		"apparmor's profile": {func(m *Machine) { m.AppArmor, m.Trial.Label = true, "bwrap//&unpriv_bwrap (enforce)" }, Check{"apparmor", OK,
			"the profile bwrap//&unpriv_bwrap takes capabilities away inside; sidecar then has bubblewrap make all mounts (sandbox.mounts: argv)", ""}},
		"apparmor, other failure": {func(m *Machine) {
			m.AppArmor, m.Profile, m.Trial = true, restrictPath, Trial{Ran: true, Stderr: pivot}
			m.Sysctls["kernel.apparmor_restrict_unprivileged_userns"] = "1"
		}, Check{"apparmor", Warn, "restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1)", "sudo apparmor_parser -r " + restrictPath}},
		"cgroups v1": {func(m *Machine) { m.Cgroup = Cgroup{Version: 1} }, Check{"cgroups", OK, "v1" + each, ""}},
		"no cgroups": {func(m *Machine) { m.Cgroup = Cgroup{} }, Check{"cgroups", OK, "none" + each, ""}},
		"cgroups without systemd": {func(m *Machine) { m.Cgroup.Scope = Scope{} }, Check{"cgroups", OK,
			"v2, but this process's control group is not this user's to change" + each, ""}},
		"a scope without memory": {func(m *Machine) { m.Cgroup.Scope.Controllers = []string{"cpu"} }, Check{"cgroups", OK,
			`v2, but systemd gives no scope for it: the controller "memory" is not handed down to this user's control groups` + each, ""}},
		"no scope": {func(m *Machine) { m.Cgroup.Scope = Scope{Asked: true, Problem: "exit status 1 (Access denied)"} }, Check{"cgroups", OK,
			"v2, but systemd gives no scope for it: exit status 1 (Access denied)" + each, ""}},
		"cgroups beside": {func(m *Machine) {
			m.Cgroup.Facts = cgroup.Facts{Mounted: true, Dir: "/sys/fs/cgroup/init", Others: true, Above: cgroup.Node{Writable: true, Enabled: []string{"memory", "pids"}}}
		}, Check{"cgroups", OK, "v2; each run is held to its memory and processes by one of its own", ""}},
		"no git":     {func(m *Machine) { m.Git = Program{Skipped: []string{"/ws/bin/git"}} }, Check{"git", Warn, `not found on PATH where neither runs nor other users write ("/ws/bin/git" is never run); sidecar reads repositories itself, and runs have no git`, "sudo dnf install -y git"}},
		"old git":    {func(m *Machine) { m.Git.Version = "2.25.1" }, Check{"git", Warn, "2.25.1 at /usr/bin/git; before 2.31.0 it takes no settings from the environment, so more commands fail on the read-only config", "sudo dnf install -y git"}},
		"broken git": {func(m *Machine) { m.Git.Problem = "no" }, Check{"git", Warn, "/usr/bin/git: no", "reinstall it: sudo dnf install -y git"}},
		"no group": {func(m *Machine) {
			m.UID, m.Nix, m.NixGroup = 0, Program{Path: "/usr/bin/nix", Version: "2.26.3"}, "nixbld"
		}, Check{"nix", Warn, "2.26.3 at /usr/bin/nix; it builds nothing: there is no group \"nixbld\", which build-users-group names", "put `build-users-group =` into ~/.config/nix/nix.conf, or make the group and its users, as Nix's own installer does"}},
		"settings":     {func(m *Machine) { m.Settings = "/home/u/.config/sidecar/config.yaml:2: limits.x: no such setting" }, Check{"settings", Fail, "/home/u/.config/sidecar/config.yaml:2: limits.x: no such setting", "correct it, or take the line out"}},
		"old nix":      {func(m *Machine) { m.Nix = Program{Path: "/usr/bin/nix", Version: "2.8.0"} }, Check{"nix", Warn, "2.8.0 at /usr/bin/nix; current nixpkgs wants 2.18 or newer", "install it with Nix's own installer in place of the distribution's package, or: nix upgrade-nix"}},
		"no inotify":   {func(m *Machine) { delete(m.Sysctls, "fs.inotify.max_user_watches") }, Check{"inotify", Warn, "unknown limits; new repositories in a run may be noticed only after it", ""}},
		"state folder": {func(m *Machine) { m.StateDir = Folder{Problem: "x is no folder"} }, Check{"state folder", Fail, "x is no folder", "make it yours and private, or set XDG_STATE_HOME to a folder that is"}},
		"full disk":    {func(m *Machine) { m.StateDir.Free = 1 << 20 }, Check{"state folder", Warn, "/home/u/.local/state/sidecar has 1MiB left, want 64MiB", "free some space, or set XDG_STATE_HOME to another disk"}},
		"other session": {func(m *Machine) { m.SessionDir = "/tmp/rt" }, Check{"runtime folder", OK,
			"/run/user/1000/sidecar (not in XDG_RUNTIME_DIR, which many MCP clients hide from servers)", ""}},
		"no runtime": {func(m *Machine) { m.RuntimeDir = Folder{Problem: "full"} }, Check{"runtime folder", Fail, "full", "log in through systemd or elogind, which make /run/user/$(id -u)"}},
		"Plan 9":     {func(m *Machine) { m.OS = "plan9" }, Check{"platform", Fail, "bubblewrap needs Linux; this is plan9", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []Check
			for _, c := range Examine(with(healthy(), tc.change)).Checks {
				if c.Name == tc.want.Name {
					got = append(got, c)
				}
			}
			if diff := cmp.Diff([]Check{tc.want}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	want := Examine(with(healthy(), func(m *Machine) { m.StateDir.Free = 0 }))
	text, err := want.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOlder(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"0.8.0", "0.8.0", false}, {"0.10.0", "0.8.0", false}, {"0.6.1", "0.8.0", true}, {"1", "0.8.0", false}, {"0.8", "0.8.0", false},
		{"5.10.0-28-amd64", "5.12", true}, {"6.18.44-fc", "6.14", false}, {"", "1", false}, {"odd", "1", false}, {"2.39.5.windows.1", "2.40", true},
		{"2.18pre20230901", "2.18", false},
	} {
		if got := older(tc.a, tc.b); got != tc.want {
			t.Errorf("older(%q, %q) = %v", tc.a, tc.b, got)
		}
	}
}

func TestFindVersion(t *testing.T) {
	for text, want := range map[string]string{
		"bubblewrap 0.8.0\n": "0.8.0", "git version 2.39.5 (Apple Git-154)": "2.39.5", "nix (Nix) 2.24.9": "2.24.9",
		"nix (Lix, like Nix) 2.91.1": "2.91.1", "nothing here": "", "": "",
	} {
		if got := findVersion(text); got != want {
			t.Errorf("findVersion(%q) = %q, want %q", text, got, want)
		}
	}
}
