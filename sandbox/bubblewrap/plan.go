// Package bubblewrap plans a run for bubblewrap on Linux: from a Policy and what is known of the Host to the
// argument list of bwrap and the work of the shim. It is pure: it starts nothing and asks the system nothing.
//
//	plan, err := bubblewrap.New(policy, sandbox.Host{Bubblewrap: "/usr/bin/bwrap", Shim: exe, Arch: "amd64"})
//
// bubblewrap makes the namespaces and the coarse layout. Its cost grows with the square of its mounts, so
// the pins, which may be hundreds, are made by the shim inside (see package shim); only where the kernel
// gives no capabilities inside does bubblewrap make them itself (sandbox.ByArgv), and links stay unheld.
package bubblewrap

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seccomp"
	"code.sidecar.dev/sandbox/shim"
)

// Descriptors of the started process. Those before infoFD are the shim's and pass through bubblewrap.
const (
	infoFD  = 8
	argsFD  = 9
	fileFD0 = 10
)

// New plans a run.
func New(p sandbox.Policy, h sandbox.Host) (sandbox.Plan, error) {
	if err := p.Check(); err != nil {
		return sandbox.Plan{}, err
	}
	filter, err := seccomp.Filter(h.Arch)
	if err != nil {
		return sandbox.Plan{}, err
	}
	b := builder{policy: p, host: h}
	for _, k := range p.Bases {
		if above := b.above(k.Target); h.Mounts != sandbox.ByShim && len(above) > 0 {
			return sandbox.Plan{}, fmt.Errorf("%s cannot be shown in %s here: what an earlier session left there could lead it elsewhere, and this kernel grants no capability inside a sandbox to prevent that", above[0], k.Target)
		}
	}
	b.namespaces()
	b.layout()
	if h.Mounts == sandbox.ByArgv {
		b.pins()
	}
	b.args = append(b.args, "--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/")
	return b.plan(filter), nil
}

type builder struct {
	policy sandbox.Policy
	host   sandbox.Host
	args   []string
	files  [][]byte
	gaps   []string
}

func (b *builder) add(args ...string) { b.args = append(b.args, args...) }

// namespaces: all of them. With the shim, the first user namespace has id 0, because bubblewrap would
// otherwise put the shim into a second one that has no power over the mounts; the shim makes the second
// itself, with the user's own ids. Capabilities are only the shim's, and end with it.
func (b *builder) namespaces() {
	b.add("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--hostname", b.policy.Hostname, "--cap-drop", "ALL")
	if b.host.Mounts == sandbox.ByShim {
		b.add("--uid", "0", "--gid", "0", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SYS_RESOURCE", "--cap-add", "CAP_SETFCAP")
		if slices.ContainsFunc(b.policy.Sockets, isPrivileged) {
			b.add("--cap-add", "CAP_NET_BIND_SERVICE") // in the sandbox's own network; the shim's, as the others are
		}
		return
	}
	b.add("--uid", strconv.Itoa(b.policy.UID), "--gid", strconv.Itoa(b.policy.GID), "--disable-userns")
}

// isPrivileged says that a port takes a capability (ip(7), ip_unprivileged_port_start).
func isPrivileged(s sandbox.Socket) bool { return s.Address.Port() < 1024 }

// layer is one thing of the layout: what it puts, and where. Parents go before what lies below them.
type layer struct {
	target string
	args   []string
}

func (b *builder) layout() {
	layers := []layer{{"/proc", []string{"--proc", "/proc"}}, {"/dev", []string{"--dev", "/dev"}}}
	for _, s := range b.policy.Scratch {
		layers = append(layers, layer{s.Target, []string{"--perms", fmt.Sprintf("%04o", s.Mode), "--size", strconv.FormatInt(s.Size, 10), "--tmpfs", s.Target}})
	}
	for _, m := range b.policy.Mounts {
		layers = append(layers, layer{m.Target, []string{bindFlag(m), m.Source, m.Target}})
	}
	for i, k := range b.policy.Picks {
		layers = append(layers, b.pick(i, k)...)
	}
	for i, k := range b.policy.Bases {
		layers = append(layers, b.base(i, k)...)
	}
	for _, l := range b.policy.Links {
		layers = append(layers, layer{l.Target, []string{"--symlink", l.To, l.Target}})
	}
	for i, f := range b.policy.Files {
		fd := strconv.Itoa(fileFD0 + i)
		layers = append(layers, layer{f.Target, []string{"--perms", fmt.Sprintf("%04o", f.Mode), "--file", fd, f.Target}})
		b.files = append(b.files, f.Data)
	}
	b.put(append(layers, b.shim(), layer{"/run/sidecar/empty", []string{"--perms", "0555", "--dir", "/run/sidecar/empty"}}))
}

func (b *builder) shim() layer {
	return layer{shim.Program, []string{"--ro-bind", b.host.Shim, shim.Program}}
}

// put adds layers in their order.
func (b *builder) put(layers []layer) {
	slices.SortStableFunc(layers, func(a, c layer) int { return sandbox.ComparePaths(a.target, c.target) })
	for _, l := range layers {
		b.add(l.args...)
	}
}

// pick shows entries of a folder. The shim attaches them one by one, cheaply, out of the whole folder, which it then lets
// go of; bubblewrap, where it makes the mounts, has one argument for each.
func (b *builder) pick(i int, k sandbox.Pick) []layer {
	if b.host.Mounts != sandbox.ByShim {
		layers := []layer{{k.Target, []string{"--perms", "0755", "--dir", k.Target}}}
		for _, name := range k.Names {
			target := path.Join(k.Target, name)
			layers = append(layers, layer{target, []string{"--ro-bind", path.Join(k.Source, name), target}})
		}
		return layers
	}
	whole := pickFolder(i)
	size := strconv.Itoa(pickBytes * (len(k.Names) + 16))
	return []layer{{whole, []string{"--ro-bind", k.Source, whole}}, {k.Target, []string{"--perms", "0755", "--size", size, "--tmpfs", k.Target}}}
}

// pickBytes is more than an entry of a folder in memory takes.
const pickBytes = 4096

// pickFolder is where the shim finds a whole folder that it picks from.
func pickFolder(i int) string { return "/run/sidecar/pick" + strconv.Itoa(i) }

// base shows a folder beneath what else is shown below its target. bubblewrap follows links as it goes through a folder,
// and while it does the host is in its reach; so it lays everything out in an empty one, and the shim puts the folder
// beneath. Where bubblewrap makes all mounts nothing can be shown above one (New says so).
func (b *builder) base(i int, k sandbox.Base) []layer {
	if b.host.Mounts != sandbox.ByShim {
		return []layer{{k.Target, []string{"--bind", k.Source, k.Target}}}
	}
	aside := baseFolder(i)
	return []layer{{aside, []string{"--bind", k.Source, aside}}, {k.Target, []string{"--perms", "0700", "--size", strconv.Itoa(layoutBytes), "--tmpfs", k.Target}}}
}

// layoutBytes is more than the places of mounts in a folder in memory take.
const layoutBytes = 1 << 20

// baseFolder is where the shim finds a folder that comes beneath others.
func baseFolder(i int) string { return "/run/sidecar/base" + strconv.Itoa(i) }

// above are the outermost paths below a folder at which something is shown, in order.
func (b *builder) above(dir string) []string {
	var all []string
	add := func(path string) {
		if path != dir && sandbox.Inside(path, dir) {
			all = append(all, path)
		}
	}
	p := b.policy
	for _, m := range p.Mounts {
		add(m.Target)
	}
	for _, k := range p.Picks {
		add(k.Target)
	}
	for _, s := range p.Scratch {
		add(s.Target)
	}
	for _, f := range p.Files {
		add(f.Target)
	}
	slices.Sort(all)
	return outermost(all)
}

// outermost are those paths that lie in none before them.
func outermost(paths []string) (out []string) {
	for _, path := range paths {
		if !slices.ContainsFunc(out, func(o string) bool { return sandbox.Inside(path, o) }) {
			out = append(out, path)
		}
	}
	return out
}

func bindFlag(m sandbox.Mount) string {
	flag := "--ro-bind"
	if m.Access == sandbox.ReadWrite {
		flag = "--bind"
	}
	if m.Optional {
		flag += "-try"
	}
	return flag
}

// pins, made by bubblewrap. It cannot mount over a symbolic link, which is a gap.
func (b *builder) pins() {
	for _, path := range shim.KernelFiles {
		b.add("--ro-bind-try", path, path)
	}
	if b.host.Keyrings {
		b.add("--ro-bind", "/dev/null", "/proc/keys", "--ro-bind", "/dev/null", "/proc/key-users")
	}
	if b.policy.UID == 0 { // bubblewrap makes no mount read-only that it leaves its devices
		b.gaps = append(b.gaps, "as root a run can change the modes and times of /dev/null and its like, which are the machine's own, and read what /proc tells root alone")
	}
	for _, p := range b.policy.Pins {
		switch {
		case p.Link:
			b.gaps = append(b.gaps, fmt.Sprintf("the link %q is not held by a mount here; the audit looks at it", p.Path))
		case p.Kind == sandbox.Frozen:
			b.add("--ro-bind", p.Path, p.Path)
		case p.Kind == sandbox.Covered && p.Folder:
			b.add("--tmpfs", p.Path, "--remount-ro", p.Path)
		case p.Kind == sandbox.Covered:
			b.add("--ro-bind", "/dev/null", p.Path)
		default:
			b.add("--bind", p.Path, p.Path)
		}
	}
}

func (b *builder) plan(filter []byte) sandbox.Plan {
	return b.started(b.shimPlan(filter))
}

// started is the plan of a sandbox in which the shim does this work.
func (b *builder) started(work shim.Plan) sandbox.Plan {
	inputs := [][]byte{work.Encode(), nil, nil, nil, nil, nil, nulSeparated(b.args)}
	return sandbox.Plan{
		Argv:   []string{b.host.Bubblewrap, "--args", strconv.Itoa(argsFD), "--info-fd", strconv.Itoa(infoFD), "--", shim.Program},
		Args:   b.args,
		Inputs: append(inputs, b.files...), StatusFD: shim.StatusFD, ControlFD: shim.ControlFD, OutFD: shim.OutFD, ErrFD: shim.ErrFD, InfoFD: infoFD, Terminal: work.Terminal, NoInput: work.NoInput, Keeps: work.Keep,
		Groups: b.host.Groups, Limits: b.policy.Limits, Gaps: b.gaps,
	}
}

func nulSeparated(args []string) []byte {
	var out []byte
	for _, a := range args {
		out = append(append(out, a...), 0)
	}
	return out
}

// Resource numbers of Linux (asm-generic/resource.h); NPROC and NOFILE are the same on amd64 and arm64.
const (
	limitFileSize  = 1
	limitData      = 2
	limitCore      = 4
	limitProcesses = 6
	limitOpenFiles = 7
	limitMemlock   = 8
	limitPending   = 11
)

// A scratch folder may hold a file for each page of its size.
const (
	bytesPerInode = 4096
	minInodes     = 1024
)

// mostPending signals may be queued, and as many timers be set: what a run takes of them counts for who started it, too, whose
// programs outside could set none when the kernel's own limit was reached (getrlimit(2), RLIMIT_SIGPENDING).
const mostPending = 8192

// minPIDMax is the least that the kernel accepts for kernel.pid_max: RESERVED_PIDS + 1 (kernel/pid.c).
const minPIDMax = 301

func (b *builder) shimPlan(filter []byte) shim.Plan {
	p := shim.Plan{UID: b.policy.UID, GID: b.policy.GID, Filter: filter, Dir: b.policy.Dir, Argv: b.policy.Argv, Env: b.policy.Env, NoInput: b.policy.NoInput}
	if t := b.policy.Terminal; t != nil {
		p.Terminal, p.Rows, p.Columns = true, t.Rows, t.Columns
	}
	p.Sockets = b.sockets()
	l := b.policy.Limits
	p.Same = b.same()
	add := func(resource int, value int64) {
		if value > 0 {
			p.Limits = append(p.Limits, shim.Limit{Resource: resource, Value: uint64(value)})
		}
	}
	add(limitFileSize, l.FileSize)
	add(limitData, l.Memory)
	add(limitOpenFiles, int64(l.OpenFiles))
	p.Limits = append(p.Limits, shim.Limit{Resource: limitCore}, shim.Limit{Resource: limitPending, Value: mostPending})
	if b.host.UserProcessLimit && !b.host.Root {
		add(limitProcesses, int64(l.Processes))
	}
	if b.host.Mounts == sandbox.ByShim {
		p.NewUser = true
		p.Late = b.late()
		b.shimPins(&p)
		for i, k := range b.policy.Picks {
			p.Picks = append(p.Picks, shim.Pick{From: pickFolder(i), To: k.Target, Names: k.Names})
		}
		for i, k := range b.policy.Bases {
			p.Bases = append(p.Bases, shim.Base{From: baseFolder(i), To: k.Target, Above: b.above(k.Target)})
		}
		for _, s := range b.policy.Scratch {
			p.Scratch = append(p.Scratch, shim.Scratch{Path: s.Target, Inodes: int(max(minInodes, s.Size/bytesPerInode))})
		}
		if b.host.PIDLimit && l.Processes > 0 {
			p.PIDMax = max(minPIDMax, l.Processes)
		}
	}
	b.processGap(p)
	return p
}

// same is what has to be shown where. Where bubblewrap makes the pins they are there before the shim looks.
func (b *builder) same() []shim.Same {
	covered := func(path string) bool {
		return slices.ContainsFunc(b.policy.Pins, func(p sandbox.Pin) bool { return p.Kind == sandbox.Covered && sandbox.Inside(path, p.Path) })
	}
	var all []shim.Same
	for _, m := range b.policy.Mounts {
		if m.Ino != 0 && !covered(m.Target) {
			all = append(all, shim.Same{Path: m.Target, Dev: m.Dev, Ino: m.Ino})
		}
	}
	return all
}

// sockets keep their indexes, also where some need a capability that this kernel grants to nobody inside: that they cannot
// be had is then said by the shim.
func (b *builder) sockets() []shim.Socket {
	var list []shim.Socket
	for _, s := range b.policy.Sockets {
		list = append(list, s.Shim())
	}
	if b.host.Mounts == sandbox.ByArgv && slices.ContainsFunc(b.policy.Sockets, isPrivileged) {
		b.gaps = append(b.gaps, "programs that do not use the proxy of their environment reach nothing here: this kernel grants no capability inside a sandbox")
	}
	return list
}

func (b *builder) shimPins(p *shim.Plan) {
	for _, pin := range b.policy.Pins {
		p.Pins = append(p.Pins, pin.Shim())
	}
}

// processGap says so when no hard limit on processes is in force: then only the executor's watch is.
func (b *builder) processGap(p shim.Plan) {
	byUser := b.host.UserProcessLimit && !b.host.Root
	if b.policy.Limits.Processes > 0 && p.PIDMax == 0 && !byUser && b.host.Groups == "" {
		b.gaps = append(b.gaps, "the number of processes is watched, not limited: this kernel has no limit for the root user's sandboxes (Linux 6.14 has)")
	}
}
