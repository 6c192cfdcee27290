package doctor

import (
	"fmt"
	"strings"
	"unicode"

	"code.sidecar.dev/sidecar/protocol"
)

// wantBubblewrap is the oldest version that has all options sidecar uses (--disable-userns, --size, --json-status-fd).
const wantBubblewrap = "0.8.0"

// cause is a reason for which bubblewrap does not work.
type cause struct {
	// fits looks at its last words and at the machine.
	fits func(stderr string, m Machine) bool
	// says what stands in the way, and what to do.
	says func(stderr string, m Machine) (message, hint string)
}

// causes in the order in which they are asked; the first that fits is told.
var causes = []cause{
	{func(_ string, m Machine) bool { return m.OS != "" && m.OS != "linux" }, notLinux},
	{func(_ string, m Machine) bool { return m.Inside }, nested},
	{func(_ string, m Machine) bool { return m.Bubblewrap.Path == "" }, missing},
	{func(_ string, m Machine) bool { return wsl(m) == 1 }, oldWSL},
	{saidAny("Unknown option"), tooOld},
	{saidAny("in setuid mode"), setuid},
	{saidAny("Unexpected capabilities but not setuid"), fileCapabilities},
	{saidAny("Can't mount proc"), maskedProc},
	{func(s string, m Machine) bool { return sandboxDenied(s) && gVisor(m) }, inGVisor},
	{func(s string, m Machine) bool { return sandboxDenied(s) && m.sysctlIs("user.max_user_namespaces", "0") }, noNamespaces},
	{func(s string, m Machine) bool {
		return sandboxDenied(s) && m.UID != 0 && m.sysctlIs("kernel.unprivileged_userns_clone", "0")
	}, notUnprivileged},
	{saidAny("exceeded (ENOSPC)", "No space left on device"), tooManyNamespaces},
	{saidAny("does not support user namespaces", "Function not implemented", "kernel does not support it"), oldKernel},
	{saidAny("PR_SET_SECCOMP", "system call filtering"), noSeccomp},
	{saidAny("pivot_root"), noPivot},
	{func(s string, m Machine) bool { return idMapDenied(s) && m.restricted() }, appArmor},
	{func(s string, m Machine) bool { return sandboxDenied(s) && m.Container != "" }, confined},
	{func(s string, m Machine) bool { return idMapDenied(s) && m.AppArmor }, appArmor},
	{func(s string, m Machine) bool { return sandboxDenied(s) }, denied},
}

// Diagnose turns what bubblewrap printed when it did not start into an error that says why and what to do. It is
// pure: facts come from Facts, which executes nothing.
func Diagnose(stderr string, m Machine) *protocol.Error {
	text := clean(stderr)
	for _, c := range causes {
		if c.fits(text, m) {
			message, hint := c.says(text, m)
			return &protocol.Error{Kind: protocol.BackendMissing, Message: message, Hint: hint}
		}
	}
	if text == "" {
		text = "it said nothing"
	}
	return &protocol.Error{Kind: protocol.BackendMissing,
		Message: "starting a sandbox: bubblewrap failed: " + text,
		Hint:    "`sidecar doctor` looks at the whole machine"}
}

// saidAny fits when bubblewrap printed one of the words.
func saidAny(words ...string) func(string, Machine) bool {
	return func(stderr string, _ Machine) bool { return containsAny(stderr, words...) }
}

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// idMapDenied are the forms in which AppArmor's restriction shows: the namespace can be made, and is worth nothing.
func idMapDenied(stderr string) bool {
	return containsAny(stderr, "setting up uid map", "setting up gid map", "error writing to setgroups", "loopback: Failed")
}

// sandboxDenied are all forms of a kernel, or a filter, that says no.
func sandboxDenied(stderr string) bool {
	return idMapDenied(stderr) || containsAny(stderr, "new namespace", "Failed to make / slave",
		"Failed to mount tmpfs", "Can't mount tmpfs", "Can't mount devpts", "Can't mount mqueue", "unshare user ns")
}

func notLinux(_ string, m Machine) (string, string) {
	return "starting a sandbox: bubblewrap needs Linux; this is " + m.OS, ""
}

func nested(string, Machine) (string, string) {
	return "starting a sandbox: this is inside of one already (SIDECAR=1), and none starts in it",
		"start the program directly: it runs in this sandbox; where an agent has `sidecar mcp`, let it use its own tools here"
}

func missing(_ string, m Machine) (string, string) {
	message := "starting a sandbox: bubblewrap is not installed: no program \"bwrap\" on PATH"
	if len(m.Bubblewrap.Skipped) > 0 {
		message += fmt.Sprintf(" where neither runs nor other users write (%q is never run)", m.Bubblewrap.Skipped[0])
	}
	if m.Bubblewrap.Problem != "" { // of the setting
		return "starting a sandbox: " + m.Bubblewrap.Problem, "correct the setting sandbox.bubblewrap, or take it out"
	}
	return message, "install it: " + m.install("bubblewrap")
}

func tooOld(stderr string, m Machine) (string, string) {
	have := m.Bubblewrap.Path
	if m.Bubblewrap.Version != "" {
		have += ", version " + m.Bubblewrap.Version + ","
	}
	return fmt.Sprintf("starting a sandbox: bubblewrap is too old: %s says %q; want %s or newer", have, stderr, wantBubblewrap),
		"update it: " + m.update()
}

func setuid(stderr string, m Machine) (string, string) {
	return fmt.Sprintf("starting a sandbox: %s is setuid and so refuses what sidecar needs: %s", m.Bubblewrap.Path, stderr),
		"with user namespaces it need not be: " + m.sudo() + "chmod u-s " + shellQuote(m.Bubblewrap.Path)
}

func fileCapabilities(stderr string, m Machine) (string, string) {
	return fmt.Sprintf("starting a sandbox: %s has capabilities, or this process has: %s", m.Bubblewrap.Path, stderr),
		"take the file's away: " + m.sudo() + "setcap -r " + shellQuote(m.Bubblewrap.Path)
}

func maskedProc(stderr string, m Machine) (string, string) {
	return fmt.Sprintf("starting a sandbox in a container (%s): parts of /proc are masked, so the kernel allows no new one: %s",
		m.containerName(), stderr), m.openContainer()
}

func oldWSL(string, Machine) (string, string) {
	return "starting a sandbox: WSL 1 has no namespaces", "in Windows: wsl --set-version DISTRIBUTION 2   (wsl -l -v lists them)"
}

func inGVisor(stderr string, _ Machine) (string, string) {
	return "starting a sandbox: this machine is gVisor, which lacks a part that bubblewrap needs: " + stderr,
		"run sidecar outside of gVisor, or under another runtime (docker run --runtime=runc …)"
}

func noNamespaces(stderr string, m Machine) (string, string) {
	return "starting a sandbox: user namespaces are switched off (user.max_user_namespaces = 0): " + stderr,
		m.setSysctl("user.max_user_namespaces", "15000")
}

func notUnprivileged(stderr string, m Machine) (string, string) {
	return "starting a sandbox: user namespaces are only for root here (kernel.unprivileged_userns_clone = 0): " + stderr,
		m.setSysctl("kernel.unprivileged_userns_clone", "1")
}

func tooManyNamespaces(stderr string, m Machine) (string, string) {
	return "starting a sandbox: the kernel's limit on namespaces, or on their depth, is reached: " + stderr,
		"raise it: " + m.setSysctl("user.max_user_namespaces", "15000")
}

func oldKernel(stderr string, m Machine) (string, string) {
	return fmt.Sprintf("starting a sandbox: the kernel %s has no user namespaces, or forbids them by a filter: %s", m.Kernel, stderr),
		m.ifContained("use a kernel with CONFIG_USER_NS=y")
}

func noSeccomp(stderr string, m Machine) (string, string) {
	return "starting a sandbox: the kernel takes no system call filter: " + stderr,
		m.ifContained("use a kernel with CONFIG_SECCOMP_FILTER=y")
}

func noPivot(stderr string, m Machine) (string, string) {
	return "starting a sandbox: the root file system cannot be replaced (a chroot, or an initial RAM disk): " + stderr,
		m.ifContained("start sidecar outside of the chroot, or with a root that is a mount point: " +
			m.sudo() + "mount --bind / / before chroot(1)")
}

func appArmor(stderr string, m Machine) (string, string) {
	return "starting a sandbox: AppArmor restricts user namespaces, and has no profile in force for bubblewrap: " + stderr,
		"allow bubblewrap, and only it:\n" + m.allowBubblewrap()
}

func confined(stderr string, m Machine) (string, string) {
	return fmt.Sprintf("starting a sandbox in a container (%s): its confinement forbids namespaces or mounts: %s",
		m.containerName(), stderr), m.openContainer()
}

func denied(stderr string, m Machine) (string, string) {
	return "starting a sandbox: the kernel, or a policy (SELinux, a seccomp filter, a chroot), forbids namespaces: " + stderr,
		"as root, see why: " + m.sudo() + "dmesg | tail; `sidecar doctor` looks at the whole machine"
}

// ifContained prefers the container's flags to advice about a kernel that its user cannot change.
func (m Machine) ifContained(otherwise string) string {
	if m.Container != "" {
		return m.openContainer()
	}
	return otherwise
}

func (m Machine) sysctlIs(name, value string) bool { return m.Sysctls[name] == value }

// restricted is Ubuntu's switch.
func (m Machine) restricted() bool {
	return m.sysctlIs("kernel.apparmor_restrict_unprivileged_userns", "1")
}

// clean makes a program's output fit for a message: its last lines, without control characters.
func clean(text string) string {
	const most = 600
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if r == '\n' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > most {
		text = "…" + string(runes[len(runes)-most:])
	}
	return text
}
