package doctor

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
)

// The machines of other people.
func ubuntu2404() Machine {
	return Machine{
		OS: "linux", UID: 1000, Distribution: "ubuntu", Like: "debian", Pretty: "Ubuntu 24.04.1 LTS", Kernel: "6.8.0-45-generic",
		AppArmor: true, Sysctls: map[string]string{"kernel.apparmor_restrict_unprivileged_userns": "1",
			"kernel.unprivileged_userns_clone": "1", "user.max_user_namespaces": "127234"},
		Bubblewrap: Program{Path: "/usr/bin/bwrap", Version: "0.9.0"},
	}
}

func debian12() Machine {
	return Machine{
		OS: "linux", UID: 1000, Distribution: "debian", Pretty: "Debian GNU/Linux 12 (bookworm)", Kernel: "6.1.0-18-amd64",
		Sysctls:    map[string]string{"kernel.unprivileged_userns_clone": "1", "user.max_user_namespaces": "96365"},
		Bubblewrap: Program{Path: "/usr/bin/bwrap", Version: "0.8.0"},
	}
}

// with changes a machine.
func with(m Machine, change func(*Machine)) Machine {
	change(&m)
	return m
}

func in(kind string) func(*Machine) { return func(m *Machine) { m.Container = kind } }

// What bubblewrap printed on them (versions 0.4 to 0.11).
const (
	uidMapDenied  = "bwrap: setting up uid map: Permission denied\n"
	loopback      = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n"
	procMasked    = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n"
	noPermissions = "bwrap: No permissions to creating new namespace, likely because the kernel does not allow non-privileged user namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.\n"
	newerNoPerm   = "bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.\n"
	cloneDenied   = "bwrap: Creating new namespace failed: Operation not permitted\n"
	slaveDenied   = "bwrap: Failed to make / slave: Permission denied\n"
	noSpace       = "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)\n"
	noUserns      = "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.  bwrap must be installed setuid on such systems.\n"
	noSize        = "bwrap: Unknown option --size\n"
	setuidSize    = "bwrap: The --size option is not permitted in setuid mode\n"
	fileCaps      = "bwrap: Unexpected capabilities but not setuid, old file caps config?\n"
	pivot         = "bwrap: pivot_root: Invalid argument\n"
	seccomp       = "bwrap: prctl(PR_SET_SECCOMP): Invalid argument\n"
)

const restrictFix = "sudo install -m 0644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/bwrap-userns-restrict" +
	" && sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"

func TestDiagnose(t *testing.T) {
	docker, podman, kubernetes := containerFlags["docker"], containerFlags["podman"], containerFlags["kubernetes"]
	for name, tc := range map[string]struct {
		stderr        string
		m             Machine
		message, hint string
	}{
		"missing": {"", with(debian12(), func(m *Machine) { m.Bubblewrap = Program{} }),
			`bubblewrap is not installed: no program "bwrap" on PATH`, "install it: sudo apt-get install -y bubblewrap"},
		"inside of one": {cloneDenied, with(debian12(), func(m *Machine) { m.Inside = true }), "this is inside of one already (SIDECAR=1), and none starts in it",
			"start the program directly: it runs in this sandbox; where an agent has `sidecar mcp`, let it use its own tools here"},
		"inside, without bubblewrap": {"", with(debian12(), func(m *Machine) { m.Inside, m.Bubblewrap = true, Program{} }), "this is inside of one already (SIDECAR=1), and none starts in it",
			"start the program directly: it runs in this sandbox; where an agent has `sidecar mcp`, let it use its own tools here"},
		"missing on fedora, as root": {"", Machine{OS: "linux", Distribution: "fedora"},
			`bubblewrap is not installed: no program "bwrap" on PATH`, "install it: dnf install -y bubblewrap"},
		"missing on a derivative": {"", Machine{OS: "linux", UID: 1, Distribution: "endeavouros", Like: "arch"},
			`bubblewrap is not installed: no program "bwrap" on PATH`, "install it: sudo pacman -S --needed bubblewrap"},
		"missing on nixos": {"", Machine{OS: "linux", UID: 1, Distribution: "nixos"},
			`bubblewrap is not installed: no program "bwrap" on PATH`, "install it: nix profile install nixpkgs#bubblewrap"},
		"missing, who knows where": {"", Machine{OS: "linux", UID: 1},
			`bubblewrap is not installed: no program "bwrap" on PATH`, "install it: install the package bubblewrap of your distribution"},
		"only in the workspace": {"", with(debian12(), func(m *Machine) { m.Bubblewrap = Program{Skipped: []string{"/ws/bin/bwrap"}} }),
			`bubblewrap is not installed: no program "bwrap" on PATH where neither runs nor other users write ("/ws/bin/bwrap" is never run)`,
			"install it: sudo apt-get install -y bubblewrap"},
		"too old": {noSize, with(debian12(), func(m *Machine) { m.Bubblewrap.Version = "0.4.1" }),
			`bubblewrap is too old: /usr/bin/bwrap, version 0.4.1, says "bwrap: Unknown option --size"; want 0.8.0 or newer`,
			"update it: sudo apt-get install -y bubblewrap\nwhere that is no newer: nix profile install nixpkgs#bubblewrap, and name the program in the user's config as sandbox.bubblewrap"},
		"apparmor, no package": {uidMapDenied, ubuntu2404(),
			"AppArmor restricts user namespaces, and has no profile in force for bubblewrap: bwrap: setting up uid map: Permission denied",
			"allow bubblewrap, and only it:\nsudo apt-get install -y apparmor-profiles && " + restrictFix},
		"apparmor, loopback, package": {loopback, with(ubuntu2404(), func(m *Machine) { m.Extra = restrictExtra }),
			"AppArmor restricts user namespaces, and has no profile in force for bubblewrap: bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
			"allow bubblewrap, and only it:\n" + restrictFix},
		"apparmor, profile not loaded": {uidMapDenied, with(ubuntu2404(), func(m *Machine) { m.Profile = restrictPath }),
			"AppArmor restricts user namespaces, and has no profile in force for bubblewrap: bwrap: setting up uid map: Permission denied",
			"allow bubblewrap, and only it:\nsudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"},
		"apparmor, bubblewrap of nix": {uidMapDenied, with(ubuntu2404(), func(m *Machine) { m.Bubblewrap.Path = "/nix/store/abc-bubblewrap-0.11.0/bin/bwrap" }),
			"AppArmor restricts user namespaces, and has no profile in force for bubblewrap: bwrap: setting up uid map: Permission denied",
			"allow bubblewrap, and only it:\nprintf '%s' 'abi <abi/4.0>,\ninclude <tunables/global>\nprofile sidecar-bwrap /nix/store/*-bubblewrap-*/bin/bwrap flags=(unconfined) {\n  userns,\n}\n'" +
				" | sudo tee /etc/apparmor.d/sidecar-bwrap >/dev/null && sudo apparmor_parser -r /etc/apparmor.d/sidecar-bwrap"},
		"apparmor, odd path": {uidMapDenied, with(ubuntu2404(), func(m *Machine) { m.Bubblewrap.Path = "/opt/it's mine/bwrap" }),
			"AppArmor restricts user namespaces, and has no profile in force for bubblewrap: bwrap: setting up uid map: Permission denied",
			"allow bubblewrap, and only it:\ninstall bubblewrap as /usr/bin/bwrap: sudo apt-get install -y bubblewrap"},
		"docker's seccomp filter": {noPermissions, with(debian12(), in("docker")),
			"in a container (docker): its confinement forbids namespaces or mounts: " + strings.TrimSpace(noPermissions), docker},
		"docker as root": {cloneDenied, with(debian12(), func(m *Machine) { m.Container, m.UID = "docker", 0 }),
			"in a container (docker): its confinement forbids namespaces or mounts: bwrap: Creating new namespace failed: Operation not permitted", docker},
		"docker's apparmor": {slaveDenied, with(debian12(), in("docker")),
			"in a container (docker): its confinement forbids namespaces or mounts: bwrap: Failed to make / slave: Permission denied", docker},
		"docker on ubuntu": {cloneDenied, with(ubuntu2404(), in("docker")),
			"in a container (docker): its confinement forbids namespaces or mounts: bwrap: Creating new namespace failed: Operation not permitted", docker},
		"podman's /proc": {procMasked, with(debian12(), in("podman")),
			"in a container (podman): parts of /proc are masked, so the kernel allows no new one: bwrap: Can't mount proc on /newroot/proc: Operation not permitted", podman},
		"kubernetes' /proc": {procMasked, with(debian12(), in("kubernetes")),
			"in a container (kubernetes): parts of /proc are masked, so the kernel allows no new one: bwrap: Can't mount proc on /newroot/proc: Operation not permitted", kubernetes},
		"masked /proc, no container seen": {procMasked, debian12(),
			"in a container (whatever confines this machine): parts of /proc are masked, so the kernel allows no new one: bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
			docker + "\n(or what these mean to whatever confines this machine)"},
		"namespaces only for root": {noPermissions, with(debian12(), func(m *Machine) {
			m.Sysctls = map[string]string{"kernel.unprivileged_userns_clone": "0"}
		}), "user namespaces are only for root here (kernel.unprivileged_userns_clone = 0): " + strings.TrimSpace(noPermissions),
			"echo 'kernel.unprivileged_userns_clone = 1' | sudo tee /etc/sysctl.d/60-sidecar.conf && sudo sysctl -p /etc/sysctl.d/60-sidecar.conf"},
		"no namespaces at all": {noSpace, with(debian12(), func(m *Machine) {
			m.UID, m.Sysctls = 0, map[string]string{"user.max_user_namespaces": "0"}
		}), "user namespaces are switched off (user.max_user_namespaces = 0): " + strings.TrimSpace(noSpace),
			"echo 'user.max_user_namespaces = 15000' | tee /etc/sysctl.d/60-sidecar.conf && sysctl -p /etc/sysctl.d/60-sidecar.conf"},
		"too many namespaces": {noSpace, debian12(),
			"the kernel's limit on namespaces, or on their depth, is reached: " + strings.TrimSpace(noSpace),
			"raise it: echo 'user.max_user_namespaces = 15000' | sudo tee /etc/sysctl.d/60-sidecar.conf && sudo sysctl -p /etc/sysctl.d/60-sidecar.conf"},
		"kernel without them": {noUserns, debian12(),
			"the kernel 6.1.0-18-amd64 has no user namespaces, or forbids them by a filter: " + strings.TrimSpace(noUserns), "use a kernel with CONFIG_USER_NS=y"},
		"somebody says no": {newerNoPerm, debian12(),
			"the kernel, or a policy (SELinux, a seccomp filter, a chroot), forbids namespaces: " + strings.TrimSpace(newerNoPerm),
			"as root, see why: sudo dmesg | tail; `sidecar doctor` looks at the whole machine"},
		"setuid": {setuidSize, debian12(),
			"/usr/bin/bwrap is setuid and so refuses what sidecar needs: bwrap: The --size option is not permitted in setuid mode",
			"with user namespaces it need not be: sudo chmod u-s /usr/bin/bwrap"},
		"file capabilities": {fileCaps, debian12(),
			"/usr/bin/bwrap has capabilities, or this process has: bwrap: Unexpected capabilities but not setuid, old file caps config?",
			"take the file's away: sudo setcap -r /usr/bin/bwrap"},
		"initial RAM disk": {pivot, debian12(),
			"the root file system cannot be replaced (a chroot, or an initial RAM disk): bwrap: pivot_root: Invalid argument",
			"start sidecar outside of the chroot, or with a root that is a mount point: sudo mount --bind / / before chroot(1)"},
		"no seccomp": {seccomp, debian12(),
			"the kernel takes no system call filter: bwrap: prctl(PR_SET_SECCOMP): Invalid argument", "use a kernel with CONFIG_SECCOMP_FILTER=y"},
		"WSL 1": {noUserns, with(debian12(), func(m *Machine) { m.Kernel = "4.4.0-19041-Microsoft" }),
			"WSL 1 has no namespaces", "in Windows: wsl --set-version DISTRIBUTION 2   (wsl -l -v lists them)"},
		"gVisor": {loopback, with(debian12(), func(m *Machine) {
			m.Container, m.Banner = "docker", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"
		}), "this machine is gVisor, which lacks a part that bubblewrap needs: bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
			"run sidecar outside of gVisor, or under another runtime (docker run --runtime=runc …)"},
		"macOS":   {"", Machine{OS: "darwin"}, "bubblewrap needs Linux; this is darwin", ""},
		"unknown": {"bwrap: Can't chdir to /x\x1b[2J\n", debian12(), "bubblewrap failed: bwrap: Can't chdir to /x\uFFFD[2J", "`sidecar doctor` looks at the whole machine"},
		"silent":  {" \n", debian12(), "bubblewrap failed: it said nothing", "`sidecar doctor` looks at the whole machine"},
	} {
		t.Run(name, func(t *testing.T) {
			message := "starting a sandbox: " + tc.message
			if strings.HasPrefix(tc.message, "in a ") {
				message = "starting a sandbox " + tc.message
			}
			want := &protocol.Error{Kind: protocol.BackendMissing, Message: message, Hint: tc.hint}
			if diff := cmp.Diff(want, Diagnose(tc.stderr, tc.m)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestNeverSwitchesTheRestrictionOff: people refuse to, and are right.
func TestNeverSwitchesTheRestrictionOff(t *testing.T) {
	for _, stderr := range []string{uidMapDenied, loopback, noPermissions, procMasked, slaveDenied} {
		if e := Diagnose(stderr, ubuntu2404()); strings.Contains(e.Hint, "apparmor_restrict_unprivileged_userns") {
			t.Errorf("the hint for %q is %s", stderr, e.Hint)
		}
	}
}

// TestProfileCommand runs the part of the command that needs no rights, with the shell that it is pasted into.
func TestProfileCommand(t *testing.T) {
	m := with(ubuntu2404(), func(m *Machine) { m.Bubblewrap.Path = "/opt/bwrap" })
	printf, _, _ := strings.Cut(m.allowBubblewrap(), " | ")
	got, err := exec.Command("sh", "-c", printf).Output()
	want := "abi <abi/4.0>,\ninclude <tunables/global>\nprofile sidecar-bwrap /opt/bwrap flags=(unconfined) {\n  userns,\n}\n"
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func FuzzDiagnose(f *testing.F) {
	for _, s := range []string{uidMapDenied, procMasked, noSize, "\x1b]0;x\x07", "\xff\xfe"} {
		f.Add(s, "docker")
	}
	f.Fuzz(func(t *testing.T, stderr, container string) {
		e := Diagnose(stderr, with(debian12(), in(clean(container))))
		for _, r := range e.Message + strings.ReplaceAll(e.Hint, "\n", "") {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q in %q", r, e.Error())
			}
		}
		if e.Kind != protocol.BackendMissing || len([]rune(e.Message)) > 2000 {
			t.Errorf("an odd error: %v", e)
		}
	})
}

func FuzzShellQuote(f *testing.F) {
	f.Add("it's")
	f.Add("$(id) `id` \\ \n")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsRune(s, 0) {
			return
		}
		got, err := exec.Command("sh", "-c", "printf '%s' "+shellQuote(s)).Output()
		if err != nil || string(got) != s {
			t.Errorf("%q is quoted as %s, which the shell reads as %q (%v)", s, shellQuote(s), got, err)
		}
	})
}
