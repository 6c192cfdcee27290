package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

// Examine judges a machine. It is pure.
func Examine(m Machine) Report {
	if m.OS == "darwin" {
		return Report{Checks: examineMac(m)}
	}
	if m.OS != "linux" {
		return Report{Checks: []Check{{"platform", Fail, strip(Diagnose("", m).Message), ""}}}
	}
	checks := []Check{
		checkKernel(m), checkPlace(m), checkBubblewrap(m), checkSandbox(m), checkNamespaces(m), checkAppArmor(m),
		checkCgroups(m), checkGit(m), checkNix(m), checkInotify(m), checkState(m), checkRuntime(m), checkSettings(m),
	}
	return Report{Checks: slices.DeleteFunc(checks, func(c Check) bool { return c.Name == "" })}
}

// checkSettings tells of a mistake in sidecar's settings, with which nothing runs.
func checkSettings(m Machine) Check {
	if m.Settings == "" {
		return Check{"settings", OK, "can be read", ""}
	}
	return Check{"settings", Fail, m.Settings, "correct it, or take the line out"}
}

func checkKernel(m Machine) Check {
	c := Check{"kernel", OK, strings.TrimSpace("Linux " + m.Kernel + " " + bracket(m.Pretty)), ""}
	switch {
	case older(m.Kernel, "5.12"):
		c.Status = Warn
		c.Detail += "; before 5.12 there is no mount_setattr(2), so protected paths cost more to mount"
		c.Fix = "use Linux 5.14 or newer"
	case m.UID == 0 && older(m.Kernel, "6.14"):
		c.Status = Warn
		c.Detail += "; before 6.14 nothing bounds the processes of root's runs (limits.processes)"
		c.Fix = "run sidecar as an ordinary user, or use Linux 6.14 or newer"
	case m.UID != 0 && older(m.Kernel, "5.14"):
		c.Status = Warn
		c.Detail += "; before 5.14 limits.processes also counts your processes outside the run"
		c.Fix = "use Linux 5.14 or newer"
	}
	return c
}

func bracket(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// checkPlace says where this is, if it is not a machine of its own; the sandbox check says whether that hurts.
func checkPlace(m Machine) Check {
	c := Check{Name: "container", Status: OK}
	switch {
	case wsl(m) == 1:
		message, hint := oldWSL("", m)
		return Check{"wsl", Fail, strip(message), hint}
	case wsl(m) == 2:
		c.Name, c.Detail = "wsl", "WSL 2; keep projects in the Linux file system, since /mnt/c is slow and has no Linux permissions"
	case gVisor(m):
		c.Status, c.Detail = Warn, "gVisor: its kernel lacks much of what sandboxes need"
	case m.Container != "":
		c.Detail = m.Container + "; its confinement bounds what a sandbox inside can do"
	default:
		return Check{}
	}
	return c
}

func checkBubblewrap(m Machine) Check {
	b := m.Bubblewrap
	c := Check{"bubblewrap", OK, strings.TrimSpace(b.Version + " at " + b.Path), ""}
	switch {
	case b.Path == "":
		err := Diagnose("", m)
		return Check{"bubblewrap", Fail, strip(err.Message), strip(err.Hint)}
	case b.Problem != "":
		return Check{"bubblewrap", Fail, b.Path + ": " + b.Problem, "reinstall it: " + m.install("bubblewrap")}
	case older(b.Version, wantBubblewrap):
		c.Status, c.Detail, c.Fix = Fail, c.Detail+"; want "+wantBubblewrap+" or newer", m.update()
	case b.Setuid:
		c.Status, c.Detail = Warn, c.Detail+"; it is setuid, and so refuses options that sidecar needs"
		c.Fix = m.sudo() + "chmod u-s " + shellQuote(b.Path)
	case b.Version == "":
		c.Status, c.Detail = Warn, b.Path+" does not say its version; want "+wantBubblewrap+" or newer"
	}
	return c
}

// strip takes off what says that a sandbox was being started, which a report need not repeat.
func strip(s string) string {
	s = strings.TrimPrefix(s, "starting a sandbox: ")
	s = strings.TrimPrefix(s, "install it: ")
	if rest, ok := strings.CutPrefix(s, "starting a sandbox in "); ok {
		return "in " + rest
	}
	return s
}

func checkSandbox(m Machine) Check {
	switch t := m.Trial; {
	case t.OK:
		return Check{"sandbox", OK, "an empty one starts", ""}
	case !t.Ran && m.Bubblewrap.Path == "":
		return Check{"sandbox", Fail, "not tried without bubblewrap", ""}
	case !t.Ran:
		return Check{"sandbox", Fail, "not tried: " + clean(t.Stderr), ""}
	case t.TimedOut:
		return Check{"sandbox", Fail, "an empty one did not start in time " + bracket(clean(t.Stderr)), ""}
	default:
		err := Diagnose(t.Stderr, m)
		return Check{"sandbox", Fail, strip(err.Message), err.Hint}
	}
}

// checkNamespaces looks at the switches for user namespaces.
func checkNamespaces(m Machine) Check {
	off, on := "", ""
	if m.sysctlIs("user.max_user_namespaces", "0") {
		off, on = "user.max_user_namespaces", "15000"
	} else if m.sysctlIs("kernel.unprivileged_userns_clone", "0") && m.UID != 0 {
		off, on = "kernel.unprivileged_userns_clone", "1"
	}
	if off == "" {
		return Check{"user namespaces", OK, "allowed", ""}
	}
	return Check{"user namespaces", unlessTrialOK(m), "switched off by " + off + " = 0", m.setSysctl(off, on)}
}

// unlessTrialOK is a failure, or a warning where a sandbox did start.
func unlessTrialOK(m Machine) Status {
	if m.Trial.OK {
		return Warn
	}
	return Fail
}

func checkAppArmor(m Machine) Check {
	label, _, _ := strings.Cut(m.Trial.Label, " ")
	switch {
	case !m.AppArmor:
		return Check{}
	case strings.Contains(label, "unpriv"):
		return Check{"apparmor", OK, "the profile " + label + " takes capabilities away inside; sidecar then has bubblewrap " +
			"make all mounts (sandbox.mounts: argv)", ""}
	case m.Trial.OK || !m.restricted() || m.UID == 0:
		return Check{"apparmor", OK, "enabled, and does not stand in the way", ""}
	case idMapDenied(m.Trial.Stderr):
		return Check{"apparmor", Fail, "restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1), " +
			"and has no profile in force for " + m.Bubblewrap.Path, m.allowBubblewrap()}
	default:
		return Check{"apparmor", Warn, "restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns = 1)", m.allowBubblewrap()}
	}
}

// checkCgroups never fails: without control groups sidecar limits each process and watches their sum itself.
func checkCgroups(m Machine) Check {
	const held, without = "; each run is held to its memory and processes by one of its own", "; memory and processes are limited for each process, and sidecar watches the sum of a run"
	g := m.Cgroup
	if g.Version != 2 {
		return Check{"cgroups", OK, [...]string{"none", "v1"}[g.Version] + without, ""}
	}
	_, err := g.Facts.Base()
	switch {
	case err == nil:
		return Check{"cgroups", OK, "v2" + held, ""}
	case !g.Scope.Asked:
		return Check{"cgroups", OK, "v2, but " + err.Error() + without, ""}
	case g.Scope.Problem == "" && cgroup.Lacking(g.Scope.Controllers) == nil:
		return Check{"cgroups", OK, "v2, in a scope of systemd's" + held, ""}
	}
	problem := g.Scope.Problem
	if err := cgroup.Lacking(g.Scope.Controllers); problem == "" {
		problem = err.Error()
	}
	return Check{"cgroups", OK, "v2, but systemd gives no scope for it: " + problem + without, ""}
}

// wantGit reads its config from GIT_CONFIG_COUNT, which spares runs a write to a read-only config.
const wantGit = "2.31.0"

func checkGit(m Machine) Check {
	g := m.Git
	switch {
	case g.Path == "":
		return Check{"git", Warn, "not found on PATH" + skipped(g) + "; sidecar reads repositories itself, and runs have no git",
			m.install("git")}
	case g.Problem != "":
		return Check{"git", Warn, g.Path + ": " + g.Problem, "reinstall it: " + m.install("git")}
	case older(g.Version, wantGit):
		return Check{"git", Warn, g.Version + " at " + g.Path + "; before " + wantGit +
			" it takes no settings from the environment, so more commands fail on the read-only config", m.install("git")}
	}
	return Check{"git", OK, g.Version + " at " + g.Path, ""}
}

func skipped(p Program) string {
	if len(p.Skipped) == 0 {
		return ""
	}
	return fmt.Sprintf(" where neither runs nor other users write (%q is never run)", p.Skipped[0])
}

// wantNix is what current nixpkgs asks for.
const wantNix = "2.18"

func checkNix(m Machine) Check {
	n := m.Nix
	switch {
	case n.Path == "":
		return Check{"nix", OK, "not found" + skipped(n) + "; runs use this machine's own interpreters", ""}
	case n.Problem != "":
		return Check{"nix", Warn, n.Path + ": " + n.Problem, ""}
	case m.NixGroup != "":
		return Check{"nix", Warn, n.Version + " at " + n.Path + fmt.Sprintf("; it builds nothing: there is no group %q, which build-users-group names", m.NixGroup),
			"put `build-users-group =` into ~/.config/nix/nix.conf, or make the group and its users, as Nix's own installer does"}
	case older(n.Version, wantNix) && !strings.Contains(n.Path, "lix"):
		return Check{"nix", Warn, n.Version + " at " + n.Path + "; current nixpkgs wants " + wantNix + " or newer",
			"install it with Nix's own installer in place of the distribution's package, or: nix upgrade-nix"}
	}
	return Check{"nix", OK, n.Version + " at " + n.Path + "; sidecar turns flakes on for itself", ""}
}

// wantWatches is enough for the folders of a large project and an editor beside it.
const wantWatches = 65536

func checkInotify(m Machine) Check {
	const name = "fs.inotify.max_user_watches"
	text := m.Sysctls[name]
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return Check{"inotify", Warn, "unknown limits; new repositories in a run may be noticed only after it", ""}
	case n < wantWatches:
		return Check{"inotify", Warn, fmt.Sprintf("%s = %d, want %d: in a large project, what a run makes may be noticed only after it",
			name, n, wantWatches), m.setSysctl(name, "524288")}
	}
	return Check{"inotify", OK, text + " watches", ""}
}

// wantFree is what outputs and history should have left.
const wantFree = 64 << 20

func checkState(m Machine) Check {
	d := m.StateDir
	switch {
	case d.Problem != "":
		return Check{"state folder", Fail, d.Problem, "make it yours and private, or set XDG_STATE_HOME to a folder that is"}
	case d.Free >= 0 && d.Free < wantFree:
		return Check{"state folder", Warn, fmt.Sprintf("%s has %s left, want %s", d.Path, config.Size(d.Free), config.Size(wantFree)),
			"free some space, or set XDG_STATE_HOME to another disk"}
	}
	return Check{"state folder", OK, d.Path, ""}
}

func checkRuntime(m Machine) Check {
	d := m.RuntimeDir
	switch {
	case d.Problem != "":
		return Check{"runtime folder", Fail, d.Problem, "log in through systemd or elogind, which make /run/user/$(id -u)"}
	case m.SessionDir != "" && !strings.HasPrefix(d.Path, filepath.Clean(m.SessionDir)+"/"):
		return Check{"runtime folder", OK, d.Path + " (not in XDG_RUNTIME_DIR, which many MCP clients hide from servers)", ""}
	}
	return Check{"runtime folder", OK, d.Path, ""}
}

// Err is the first failure as an error, for a program that cannot go on; nil when nothing fails.
func (r Report) Err() error {
	for _, c := range r.Checks {
		if c.Status == Fail {
			return &protocol.Error{Kind: protocol.BackendMissing, Message: c.Name + ": " + c.Detail, Hint: c.Fix}
		}
	}
	return nil
}
