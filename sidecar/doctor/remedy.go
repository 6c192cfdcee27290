package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// installers are the package commands of distributions, by the ids of /etc/os-release.
var installers = []struct {
	ids     []string
	command string
	// names are packages that are called otherwise there.
	names map[string]string
}{
	{[]string{"debian", "ubuntu"}, "apt-get install -y", map[string]string{"nix": "nix-bin"}},
	{[]string{"fedora", "rhel", "centos", "amzn"}, "dnf install -y", nil},
	{[]string{"arch"}, "pacman -S --needed", nil},
	{[]string{"alpine"}, "apk add", nil},
	{[]string{"suse", "opensuse", "opensuse-tumbleweed", "opensuse-leap", "sles"}, "zypper install -y", nil},
	{[]string{"void"}, "xbps-install -S", nil},
	{[]string{"gentoo"}, "emerge", map[string]string{"bubblewrap": "sys-apps/bubblewrap", "git": "dev-vcs/git"}},
}

// install is the command that installs a package on this distribution.
func (m Machine) install(name string) string {
	ids := append([]string{m.Distribution}, strings.Fields(m.Like)...)
	if slices.Contains(ids, "nixos") {
		return "nix profile install nixpkgs#" + name
	}
	// The distribution's own id before those it is like, so that a derivative is taken for itself.
	for _, id := range ids {
		for _, in := range installers {
			if slices.Contains(in.ids, id) {
				if other := in.names[name]; other != "" {
					name = other
				}
				return m.sudo() + in.command + " " + name
			}
		}
	}
	return "install the package " + name + " of your distribution"
}

// update is how to get a newer bubblewrap, also where the distribution has none.
func (m Machine) update() string {
	return m.install("bubblewrap") + "\nwhere that is no newer: nix profile install nixpkgs#bubblewrap, " +
		"and name the program in the user's config as sandbox.bubblewrap"
}

// sudo is the prefix of a command that only root may run.
func (m Machine) sudo() string {
	if m.UID == 0 {
		return ""
	}
	return "sudo "
}

// setSysctl sets a kernel parameter now and after the next start.
func (m Machine) setSysctl(name, value string) string {
	return fmt.Sprintf("echo '%s = %s' | %stee /etc/sysctl.d/60-sidecar.conf && %ssysctl -p /etc/sysctl.d/60-sidecar.conf",
		name, value, m.sudo(), m.sudo())
}

// The profile that Ubuntu and AppArmor's authors have for bubblewrap: it may make user namespaces, and what runs
// inside has no capabilities there.
const (
	restrictName  = "bwrap-userns-restrict"
	restrictExtra = "/usr/share/apparmor/extra-profiles/" + restrictName
	restrictPath  = "/etc/apparmor.d/" + restrictName
)

// allowBubblewrap is the command that lets AppArmor allow bubblewrap, and only it. Switching the restriction off
// for every program would do as well, and is not what people want to be told.
func (m Machine) allowBubblewrap() string {
	if m.Bubblewrap.Path != "" && m.Bubblewrap.Path != "/usr/bin/bwrap" {
		return m.ownProfile()
	}
	switch {
	case m.Profile != "":
		return m.sudo() + "apparmor_parser -r " + shellQuote(m.Profile)
	case m.Extra != "":
		return m.enableExtra()
	case m.Distribution == "ubuntu" || slices.Contains(strings.Fields(m.Like), "ubuntu"):
		return m.sudo() + "apt-get install -y apparmor-profiles && " + m.enableExtra()
	}
	return m.ownProfile()
}

func (m Machine) enableExtra() string {
	extra := m.Extra
	if extra == "" {
		extra = restrictExtra
	}
	return fmt.Sprintf("%sinstall -m 0644 %s %s && %sapparmor_parser -r %s",
		m.sudo(), shellQuote(extra), restrictPath, m.sudo(), restrictPath)
}

// ownProfile is a profile file for a bubblewrap that no packaged profile names.
func (m Machine) ownProfile() string {
	path := m.Bubblewrap.Path
	if path == "" {
		path = "/usr/bin/bwrap"
	}
	if rest, ok := strings.CutPrefix(path, "/nix/store/"); ok && strings.Contains(rest, "/") {
		path = "/nix/store/*-bubblewrap-*/bin/bwrap" // the hash changes with each update
	}
	// Only plain paths are put into the profile's language.
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-*") != "" {
		return "install bubblewrap as /usr/bin/bwrap: " + m.install("bubblewrap")
	}
	profile := "abi <abi/4.0>,\ninclude <tunables/global>\nprofile sidecar-bwrap " + path + " flags=(unconfined) {\n  userns,\n}\n"
	return fmt.Sprintf("printf '%%s' '%s' | %stee /etc/apparmor.d/sidecar-bwrap >/dev/null && %sapparmor_parser -r /etc/apparmor.d/sidecar-bwrap",
		profile, m.sudo(), m.sudo())
}

// containerFlags are what whoever starts this container has to add, for each kind of container.
var containerFlags = map[string]string{
	"docker": "start the container with: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …\n" +
		`in devcontainer.json: "runArgs": ["--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--security-opt", "systempaths=unconfined"]`,
	"podman": "start the container with: podman run --security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable …",
	"kubernetes": "in the pod's spec: hostUsers: false, and in the container's securityContext: " +
		"{procMount: Unmasked, seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}}",
	"lxc": "on the host: lxc config set NAME security.nesting true && lxc restart NAME",
}

// openContainer is what helps in this container.
func (m Machine) openContainer() string {
	if flags := containerFlags[m.Container]; flags != "" {
		return flags
	}
	return containerFlags["docker"] + "\n(or what these mean to " + m.containerName() + ")"
}

// containerName is the container in words.
func (m Machine) containerName() string {
	if m.Container == "" {
		return "whatever confines this machine"
	}
	return m.Container
}

// shellQuote quotes for a POSIX shell.
func shellQuote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-=:@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
