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
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seccomp"
	"code.sidecar.dev/sandbox/shim"
)

// Descriptors of the started process. Those before infoFD are the shim's and pass through bubblewrap.
const (
	infoFD  = 6
	argsFD  = 7
	fileFD0 = 8
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
		return
	}
	b.add("--uid", strconv.Itoa(b.policy.UID), "--gid", strconv.Itoa(b.policy.GID), "--disable-userns")
}

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
	for _, l := range b.policy.Links {
		layers = append(layers, layer{l.Target, []string{"--symlink", l.To, l.Target}})
	}
	for i, f := range b.policy.Files {
		fd := strconv.Itoa(fileFD0 + i)
		layers = append(layers, layer{f.Target, []string{"--perms", fmt.Sprintf("%04o", f.Mode), "--file", fd, f.Target}})
		b.files = append(b.files, f.Data)
	}
	layers = append(layers, layer{shim.Program, []string{"--ro-bind", b.host.Shim, shim.Program}},
		layer{"/run/sidecar/empty", []string{"--perms", "0555", "--dir", "/run/sidecar/empty"}})
	slices.SortStableFunc(layers, func(a, c layer) int { return strings.Compare(sortKey(a.target), sortKey(c.target)) })
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

// sortKey orders a folder before what lies in it, and before its neighbours whose names merely begin alike.
func sortKey(p string) string { return strings.ReplaceAll(path.Clean(p), "/", "\x00") }

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
	work := b.shimPlan(filter)
	inputs := [][]byte{work.Encode(), nil, nil, nil, nulSeparated(b.args)}
	return sandbox.Plan{
		Argv:   []string{b.host.Bubblewrap, "--args", strconv.Itoa(argsFD), "--info-fd", strconv.Itoa(infoFD), "--", shim.Program},
		Args:   b.args,
		Inputs: append(inputs, b.files...), StatusFD: shim.StatusFD, ControlFD: shim.ControlFD, InfoFD: infoFD,
		Limits: b.policy.Limits, Gaps: b.gaps,
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
)

// A scratch folder may hold a file for each page of its size.
const (
	bytesPerInode = 4096
	minInodes     = 1024
)

// minPIDMax is the least that the kernel accepts for kernel.pid_max: RESERVED_PIDS + 1 (kernel/pid.c).
const minPIDMax = 301

func (b *builder) shimPlan(filter []byte) shim.Plan {
	p := shim.Plan{UID: b.policy.UID, GID: b.policy.GID, Filter: filter, Dir: b.policy.Dir, Argv: b.policy.Argv, Env: b.policy.Env}
	l := b.policy.Limits
	add := func(resource int, value int64) {
		if value > 0 {
			p.Limits = append(p.Limits, shim.Limit{Resource: resource, Value: uint64(value)})
		}
	}
	add(limitFileSize, l.FileSize)
	add(limitData, l.Memory)
	add(limitOpenFiles, int64(l.OpenFiles))
	p.Limits = append(p.Limits, shim.Limit{Resource: limitCore})
	if b.host.UserProcessLimit && !b.host.Root {
		add(limitProcesses, int64(l.Processes))
	}
	if b.host.Mounts == sandbox.ByShim {
		p.NewUser = true
		b.shimPins(&p)
		for i, k := range b.policy.Picks {
			p.Picks = append(p.Picks, shim.Pick{From: pickFolder(i), To: k.Target, Names: k.Names})
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

func (b *builder) shimPins(p *shim.Plan) {
	for _, pin := range b.policy.Pins {
		p.Pins = append(p.Pins, pin.Shim())
	}
}

// processGap says so when no hard limit on processes is in force: then only the executor's watch is.
func (b *builder) processGap(p shim.Plan) {
	byUser := b.host.UserProcessLimit && !b.host.Root
	if b.policy.Limits.Processes > 0 && p.PIDMax == 0 && !byUser {
		b.gaps = append(b.gaps, "the number of processes is watched, not limited: this kernel has no limit for the root user's sandboxes (Linux 6.14 has)")
	}
}
