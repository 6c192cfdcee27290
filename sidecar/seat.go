package sidecar

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/proxy"
	"code.sidecar.dev/sandbox/seatbelt"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
)

// What is Seatbelt's alone: the same policy without what only mounts can show, with the names that rules can hold.

// seated says that this engine's runs are Seatbelt's.
func (m *machinery) seated() bool { return m.host.Backend == sandbox.Seatbelt }

// seatedFolders are what programs of macOS need beside /usr and /bin, which are shown where they exist: Homebrew's prefix
// (docs.brew.sh/Installation), and the developer tools, of which git, make, clang and python3 are (xcode-select(1)).
var seatedFolders = []string{"/opt/homebrew", "/Library/Developer", "/Library/Frameworks/Python.framework", "/Library/Java", "/Applications/Xcode.app/Contents", "/private/var/db/xcode_select_link"}

// developerDirs are where the developer tools may be, in the order of xcode-select(1).
var developerDirs = []string{"/Applications/Xcode.app/Contents/Developer", "/Library/Developer/CommandLineTools"}

// seat makes a policy one that Seatbelt can carry out. What mounts put over the machine's own system is left out: the real
// one is shown, and what of it is shown is in the profile (package seatbelt).
func (j job) seat(p *sandbox.Policy) {
	if j.backend != sandbox.Seatbelt {
		return
	}
	private := func(target string) bool {
		return sandbox.Inside(target, "/run/sidecar") || slices.ContainsFunc(p.Scratch, func(s sandbox.Scratch) bool { return s.Target != "/dev/shm" && sandbox.Inside(target, s.Target) })
	}
	p.Files = slices.DeleteFunc(p.Files, func(f sandbox.File) bool { return !private(f.Target) })
	p.Links = slices.DeleteFunc(p.Links, func(l sandbox.Link) bool { return !private(l.Target) })
	p.Scratch = slices.DeleteFunc(p.Scratch, func(s sandbox.Scratch) bool { return s.Target == "/dev/shm" })
	p.Mounts = slices.DeleteFunc(p.Mounts, func(m sandbox.Mount) bool { return m.Source != m.Target && sandbox.Inside(m.Target, "/etc") })
	if j.env.Store == nil {
		for _, dir := range seatedFolders {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: dir, Target: dir, Optional: true})
		}
	} else {
		p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/bin", Target: "/bin"}) // scripts count on /bin/sh
	}
	p.Names = j.names()
	p.Pins = j.seatedPins(*p)
	p.Sockets = nil
	if n := j.network; n != nil {
		p.Ports = sandbox.Ports{All: n.all, List: n.reached()}
	}
	p.Unix = j.seatedSockets()
	p.Env = seatedEnv(p.Env)
}

// seatedSockets are the sockets that were given: Nix's daemon's, and what is declared and no folder. A file is none.
func (j job) seatedSockets() []string {
	var out []string
	if j.env.Daemon != nil {
		out = append(out, j.env.Daemon.Socket)
	}
	for _, m := range j.granted.mounts {
		if !m.Folder {
			out = append(out, m.Source)
		}
	}
	return out
}

// seatedPins hold what does not exist, too: what elsewhere is only watched for, unless it is held by its name.
func (j job) seatedPins(p sandbox.Policy) []sandbox.Pin {
	held := slices.Clone(j.held)
	for i, h := range held {
		alone := func(n sandbox.Name) bool { return n.Alone && n.Anywhere && n.Pattern == filepath.Base(h.Path) }
		if h.Hold == workspace.Watch && !seatbelt.Named(p.Names, h.Path) && !slices.ContainsFunc(p.Names, alone) {
			held[i].Hold = workspace.ReadOnly
		}
	}
	pins := sandbox.BuildPins(writable(j.ws), pinsOf(held, j.sockets))
	for _, pin := range p.Pins { // and those of what is declared
		if !slices.ContainsFunc(pins, func(have sandbox.Pin) bool { return have.Path == pin.Path }) {
			pins = append(pins, pin)
		}
	}
	return pins
}

// seatedEnv names what is called otherwise on macOS: its C locale has no UTF-8, and git and its like are found through
// DEVELOPER_DIR without asking xcrun, which writes a cache outside.
func seatedEnv(env []string) []string {
	out := slices.Clone(env)
	for i, v := range out {
		if v == "LANG=C.UTF-8" {
			out[i] = "LANG=en_US.UTF-8"
		}
	}
	if slices.ContainsFunc(out, func(v string) bool { return strings.HasPrefix(v, "DEVELOPER_DIR=") }) {
		return out
	}
	for _, dir := range developerDirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return append(out, "DEVELOPER_DIR="+dir)
		}
	}
	return out
}

// gitNames are git's own files, in repositories that do not exist yet. A ".git" cannot be made at all: it could be brought
// with all of it armed.
var gitNames = []string{".git/config", ".git/config.worktree", ".git/commondir", ".git/gitdir", ".git/hooks",
	".git/modules/**/config", ".git/modules/**/config.worktree", ".git/modules/**/commondir", ".git/modules/**/hooks",
	".git/worktrees/*/config.worktree", ".git/worktrees/*/commondir", ".git/worktrees/*/gitdir"}

// names are what a run must not make in its workspace.
func (j job) names() []sandbox.Name {
	root := j.ws.Root
	var out []sandbox.Name
	for _, dir := range workspace.ControlFolders() {
		out = append(out, sandbox.Name{Root: root, Pattern: dir, Anywhere: true, Alone: true})
	}
	for _, name := range slices.Concat(gitNames, workspace.ControlFiles()) {
		out = append(out, sandbox.Name{Root: root, Pattern: name, Anywhere: true})
	}
	rules := workspace.Rules{Also: j.settings.Protect.Also, Except: j.settings.Protect.Except}
	for _, e := range rules.Entries() {
		out = append(out, sandbox.Name{Root: root, Pattern: filepath.Clean(e.Name), Anywhere: e.Anywhere})
	}
	return out
}

// seatPlan plans a run for Seatbelt.
func (p *prepared) seatPlan(h sandbox.Host) (sandbox.Plan, error) {
	id := cmp.Or(p.id, NewID())
	tmp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return sandbox.Plan{}, err
	}
	h.Seat = sandbox.Seat{Private: filepath.Join(tmp, sandbox.PrivatePrefix+id[strings.LastIndexByte(id, '-')+1:]), Tag: "sidecar-" + id}
	return seatbelt.New(p.policy, h)
}

// seatError says what sandbox-exec said.
func seatError(start *sandbox.StartError) error {
	return &protocol.Error{Kind: protocol.BackendMissing, Message: "starting a sandbox: " + strings.TrimSpace(start.Err.Error()+": "+start.Text),
		Hint: "a sandbox cannot be started within another one of macOS (an editor's or an agent's own): start sidecar outside of it; ask `sidecar doctor`", Err: start}
}

// reached are the ports of this machine that a run may connect to itself: the filter's, and those that are allowed.
func (n *network) reached() []uint16 {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []uint16
	if n.filterPort != 0 {
		out = append(out, n.filterPort)
	}
	for port := range n.ports {
		out = append(out, uint16(port)) //nolint:gosec // a port
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// seatLookups serves the filter on this machine's loopback, which a run on macOS shares: at a port of its own, on both
// addresses that a profile means by localhost, so that nobody else stands at one of them.
func (n *network) seatLookups() error {
	var last error
	for range 16 {
		four, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		port := four.Addr().(*net.TCPAddr).AddrPort().Port()
		six, err := net.Listen("tcp6", "[::1]:"+strconv.Itoa(int(port)))
		if err != nil && !noIPv6(err) {
			_ = four.Close()
			last = err
			continue
		}
		n.filterPort, n.proxyAt = port, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
		n.serveHere(four)
		if six != nil {
			n.serveHere(six)
		}
		n.env = proxy.Environment(n.proxyAt, "")
		return nil
	}
	return last
}

// noIPv6 says that this machine has no ::1 at all.
func noIPv6(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}

func (n *network) serveHere(l net.Listener) {
	n.here = append(n.here, l)
	go n.filter.ServeProxy(l)
}

// closeHere ends what listens on this machine.
func (n *network) closeHere() {
	for _, l := range n.here {
		_ = l.Close()
	}
}
