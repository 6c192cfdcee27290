package doctor

import (
	"context"
	"os"
	"strings"
)

// Mac is what is known of a Mac.
type Mac struct {
	// Version is macOS's, "15.7.1".
	Version string
	// Developer is the folder of the developer tools, or empty; git and its like are in it.
	Developer string
	// NixVolume says that /nix is there; NixDaemon that its daemon's socket is.
	NixVolume, NixDaemon bool
}

// sandboxExec applies a profile (sandbox-exec(1)).
const sandboxExec = "/usr/bin/sandbox-exec"

// wantMac is the oldest macOS whose profiles know what ours use: path-ancestors came with 10.15, and Apple mends the last three.
const wantMac = "13"

// examineMac judges a Mac. Trial is how an empty sandbox of sandbox-exec went.
func examineMac(m Machine) []Check {
	return []Check{checkMac(m), checkSeatbelt(m), checkDeveloper(m), checkGit(m), checkMacNix(m), checkState(m), checkMacRuntime(m), checkSettings(m)}
}

func checkMac(m Machine) Check {
	c := Check{"macOS", OK, m.Mac.Version, ""}
	switch {
	case m.Mac.Version == "":
		c.Status, c.Detail = Warn, "does not say its version; want "+wantMac+" or newer"
	case older(m.Mac.Version, wantMac):
		c.Status, c.Detail, c.Fix = Warn, c.Detail+"; want "+wantMac+" or newer", "update macOS"
	}
	return c
}

func checkSeatbelt(m Machine) Check {
	switch t := m.Trial; {
	case t.OK:
		return Check{"sandbox", OK, "an empty one starts (" + sandboxExec + ", which Apple calls deprecated and uses itself)", ""}
	case !t.Ran:
		return Check{"sandbox", Fail, "not tried: " + clean(t.Stderr), ""}
	case t.TimedOut:
		return Check{"sandbox", Fail, "an empty one did not start in time " + bracket(clean(t.Stderr)), ""}
	case strings.Contains(t.Stderr, "sandbox_apply"):
		return Check{"sandbox", Fail, "this is inside a sandbox already, and macOS has none within another: " + clean(t.Stderr), "start sidecar outside of the agent's or the editor's own sandbox"}
	default:
		return Check{"sandbox", Fail, clean(t.Stderr), ""}
	}
}

func checkDeveloper(m Machine) Check {
	if m.Mac.Developer == "" {
		return Check{"developer tools", Warn, "none: git, make, clang and python3 of macOS are found in them only", "xcode-select --install"}
	}
	return Check{"developer tools", OK, m.Mac.Developer, ""}
}

func checkMacNix(m Machine) Check {
	c := checkNix(m)
	if m.Nix.Path == "" || c.Status != OK {
		return c
	}
	switch {
	case !m.Mac.NixVolume:
		return Check{"nix", Warn, c.Detail + "; its volume is not mounted at /nix", "mount it (diskutil list), or install Nix anew"}
	case !m.Mac.NixDaemon:
		return Check{"nix", Warn, c.Detail + "; its daemon does not listen", "sudo launchctl kickstart -k system/org.nixos.nix-daemon"}
	}
	return c
}

// longestSocket is how long a socket's path may be (sun_path, unix(4)), and socketName what sidecar's have after their folder.
const (
	longestSocket = 103
	socketName    = len("/0123456789abcdef.sock")
)

func checkMacRuntime(m Machine) Check {
	d := m.RuntimeDir
	switch {
	case d.Problem != "":
		return Check{"runtime folder", Fail, d.Problem, "make it yours and private, or set XDG_STATE_HOME to a folder that is"}
	case len(d.Path)+socketName > longestSocket:
		return Check{"runtime folder", Fail, d.Path + " is too long for a socket in it", "set XDG_STATE_HOME to a shorter path"}
	}
	return Check{"runtime folder", OK, d.Path, ""}
}

// mac reads what is Apple's of a machine.
func (s system) mac() Mac {
	m := Mac{Version: s.macVersion(), NixVolume: s.has("/nix/store"), NixDaemon: s.has("/nix/var/nix/daemon-socket/socket")}
	for _, dir := range []string{"/Applications/Xcode.app/Contents/Developer", "/Library/Developer/CommandLineTools"} {
		if s.has(dir) {
			m.Developer = dir
			break
		}
	}
	return m
}

func (s system) has(path string) bool {
	_, err := os.Stat(s.root + path)
	return err == nil
}

// macVersion reads the plist of the version, which is XML: the string after its key.
func (s system) macVersion() string {
	_, rest, ok := strings.Cut(s.read("System/Library/CoreServices/SystemVersion.plist"), "<key>ProductVersion</key>")
	if !ok {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "<string>")
	version, _, _ := strings.Cut(rest, "</string>")
	return strings.TrimSpace(version)
}

// tryMac starts an empty sandbox of Seatbelt.
func tryMac(ctx context.Context) Trial {
	a := execute(ctx, nil, sandboxExec, "-p", `(version 1)(allow default)`, "/usr/bin/true")
	t := Trial{Ran: true, OK: a.err == nil, Stderr: a.stderr}
	if a.err != nil && strings.TrimSpace(a.stderr) == "" {
		t.Stderr = a.err.Error()
	}
	return t
}
