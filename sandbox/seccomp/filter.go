// Package seccomp computes the system call filter of a run: a list of what is refused, as classic BPF for
// Linux's seccomp(2). It is a pure function of the architecture; the shim installs what it returns.
//
// The library github.com/elastic/go-seccomp-bpf was read first and not used: it lets a foreign
// architecture's calls fall through to the default action, which here is "allow", and it compares ioctl's
// request in 64 bits where the kernel looks at 32 (the hole of CVE-2019-10063).
package seccomp

import (
	"encoding/binary"
	"fmt"
)

// Returned actions, from linux/seccomp.h, and the error numbers used with them.
const (
	actionAllow = 0x7fff0000
	actionErrno = 0x00050000
	actionKill  = 0x80000000

	ePERM        = 1
	eNOSYS       = 38
	eAFNOSUPPORT = 97
)

// Architectures as the kernel's audit numbers, from linux/audit.h.
const (
	auditX86_64  = 0xc000003e
	auditAArch64 = 0xc00000b7
)

// Offsets in struct seccomp_data: nr, arch, instruction pointer, six 64-bit arguments (low word first).
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
)

// Instruction is one classic BPF instruction (struct sock_filter).
type Instruction struct {
	Code   uint16
	JT, JF uint8
	K      uint32
}

// Opcodes, from linux/bpf_common.h.
const (
	opLoad  = 0x20 // BPF_LD|BPF_W|BPF_ABS
	opEqual = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
	opGE    = 0x35 // BPF_JMP|BPF_JGE|BPF_K
	opSet   = 0x45 // BPF_JMP|BPF_JSET|BPF_K
	opRet   = 0x06 // BPF_RET|BPF_K
)

// refused are calls that no run needs, each with why.
var refused = []struct{ name, why string }{
	{"mount", "undoes the sandbox's mounts"}, {"umount2", "undoes the sandbox's mounts"},
	{"pivot_root", "leaves the sandbox's root"}, {"open_tree", "new mount interface"},
	{"move_mount", "new mount interface"}, {"fsopen", "new mount interface"}, {"fsconfig", "new mount interface"},
	{"fsmount", "new mount interface"}, {"fspick", "new mount interface"}, {"mount_setattr", "new mount interface"},
	{"open_tree_attr", "new mount interface"}, {"setns", "enters other namespaces"},
	{"open_by_handle_at", "opens files by inode number, past every mount"}, {"name_to_handle_at", "its counterpart"},
	{"add_key", "kernel keyrings are the host user's"}, {"request_key", "kernel keyrings are the host user's"},
	{"keyctl", "kernel keyrings are the host user's"}, {"bpf", "loads code into the kernel"},
	{"perf_event_open", "watches other processes and the kernel"}, {"userfaultfd", "a tool of kernel exploits"},
	{"init_module", "loads code into the kernel"}, {"finit_module", "loads code into the kernel"},
	{"delete_module", "changes the kernel"}, {"kexec_load", "replaces the kernel"}, {"kexec_file_load", "replaces the kernel"},
	{"reboot", "ends the machine"}, {"swapon", "changes the machine"}, {"swapoff", "changes the machine"},
	{"acct", "changes the machine"}, {"quotactl", "changes the machine"}, {"quotactl_fd", "changes the machine"},
	{"settimeofday", "changes the clock"}, {"clock_settime", "changes the clock"}, {"clock_adjtime", "changes the clock"},
	{"adjtimex", "changes the clock"}, {"syslog", "reads the kernel's log"}, {"vhangup", "acts on terminals"},
	{"iopl", "reaches hardware"}, {"ioperm", "reaches hardware"}, {"uselib", "obsolete"}, {"_sysctl", "obsolete"},
	{"nfsservctl", "obsolete"}, {"lookup_dcookie", "profiles the machine"}, {"kcmp", "compares with other processes"},
	{"fanotify_init", "watches whole file systems"}, {"lsm_set_self_attr", "changes security labels"},
	{"modify_ldt", "a tool of kernel exploits"}, {"listmount", "shows the host's mounts"}, {"statmount", "shows the host's mounts"},
}

// absent are calls that report "no such system call", so that programs take their older way.
var absent = []string{"openat2", "io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"}

// newNamespaces are CLONE_NEW* together (linux/sched.h): TIME, NS, CGROUP, UTS, IPC, USER, PID, NET.
const newNamespaces = 0x80 | 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

// Terminal requests that put characters into a terminal's input: TIOCSTI, and TIOCLINUX (paste of a selection).
var refusedIoctls = []uint32{0x5412, 0x541c}

// Socket families that stay: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Others reach past the network
// namespace (AF_VSOCK), or are kernel surface that no ordinary program needs (AF_ALG, AF_PACKET, …).
var socketFamilies = []uint32{1, 2, 10, 16}

// Filter is the filter for an architecture (a GOARCH: "amd64" or "arm64"), as an array of struct sock_filter.
func Filter(goarch string) ([]byte, error) {
	prog, err := Program(goarch)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 8*len(prog))
	for _, i := range prog {
		out = binary.LittleEndian.AppendUint16(out, i.Code)
		out = append(out, i.JT, i.JF)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out, nil
}

// Program is the filter as instructions, for tests and for reading.
func Program(goarch string) ([]Instruction, error) {
	var b builder
	switch goarch {
	case "amd64":
		b = builder{numbers: amd64}
		b.arch(auditX86_64)
		// The x32 calls share the architecture and have bit 30 set (linux/arch/x86/include/uapi/asm/unistd.h).
		b.add(Instruction{opGE, 0, 1, 0x40000000}, Instruction{opRet, 0, 0, actionErrno | eNOSYS})
	case "arm64":
		b = builder{numbers: arm64}
		b.arch(auditAArch64)
	default:
		return nil, fmt.Errorf("seccomp: no filter for the architecture %q, want amd64 or arm64", goarch)
	}
	b.rules()
	return b.prog, nil
}

type builder struct {
	numbers map[string]uint32
	prog    []Instruction
}

func (b *builder) add(is ...Instruction) { b.prog = append(b.prog, is...) }

// arch ends a process that makes a call of another architecture, whose numbers mean other calls.
func (b *builder) arch(audit uint32) {
	b.add(Instruction{opLoad, 0, 0, offArch}, Instruction{opEqual, 1, 0, audit},
		Instruction{opRet, 0, 0, actionKill}, Instruction{opLoad, 0, 0, offNumber})
}

func (b *builder) rules() {
	for _, r := range refused {
		b.refuse(r.name, ePERM)
	}
	for _, name := range absent {
		b.refuse(name, eNOSYS)
	}
	// The namespace flags are clone's and unshare's first argument on both architectures.
	for _, name := range []string{"clone", "unshare"} {
		b.when(name, Instruction{opLoad, 0, 0, offArg0}, Instruction{opSet, 0, 1, newNamespaces},
			Instruction{opRet, 0, 0, actionErrno | ePERM})
	}
	for _, request := range refusedIoctls {
		b.when("ioctl", Instruction{opLoad, 0, 0, offArg0 + 8}, Instruction{opEqual, 0, 1, request},
			Instruction{opRet, 0, 0, actionErrno | ePERM})
	}
	b.sockets("socket")
	b.sockets("socketpair")
	b.modes()
	// The limits of other processes, the sandbox's own first ones among them, go by user id alone.
	b.when("prlimit64", Instruction{opLoad, 0, 0, offArg0}, Instruction{opEqual, 1, 0, 0}, Instruction{opRet, 0, 0, actionErrno | ePERM})
	b.add(Instruction{opRet, 0, 0, actionAllow})
}

// refuse answers one call with an error number. A call that the architecture does not have needs no rule.
func (b *builder) refuse(name string, errno uint32) {
	if nr, ok := b.numbers[name]; ok {
		b.add(Instruction{opEqual, 0, 1, nr}, Instruction{opRet, 0, 0, actionErrno | errno})
	}
}

// when runs a body for one call and loads the number again after it.
func (b *builder) when(name string, body ...Instruction) {
	nr, ok := b.numbers[name]
	if !ok {
		return
	}
	b.add(Instruction{opEqual, 0, uint8(len(body) + 1), nr})
	b.add(body...)
	b.add(Instruction{opLoad, 0, 0, offNumber})
}

// setIDs are S_ISUID and S_ISGID.
const setIDs = 0o6000

// modes keeps a run from leaving a set-user-ID or set-group-ID program in the workspace, where another user
// of the machine could gain the rights of this one. Calls that make files take a mode only with O_CREAT or
// O_TMPFILE; openat2(2) has it in memory, where a filter cannot look, and is absent.
func (b *builder) modes() {
	refuse := Instruction{opRet, 0, 0, actionErrno | ePERM}
	for _, c := range []struct {
		name string
		arg  uint32
	}{{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1}, {"mknod", 1}, {"mknodat", 2}} {
		b.when(c.name, Instruction{opLoad, 0, 0, offArg0 + 8*c.arg}, Instruction{opSet, 0, 1, setIDs}, refuse)
	}
	const create = 0o100 | 0o20000000 // O_CREAT, __O_TMPFILE (asm-generic/fcntl.h)
	for _, c := range []struct {
		name        string
		flags, mode uint32
	}{{"open", 1, 2}, {"openat", 2, 3}} {
		b.when(c.name, Instruction{opLoad, 0, 0, offArg0 + 8*c.flags}, Instruction{opSet, 0, 3, create},
			Instruction{opLoad, 0, 0, offArg0 + 8*c.mode}, Instruction{opSet, 0, 1, setIDs}, refuse)
	}
}

func (b *builder) sockets(name string) {
	body := []Instruction{{opLoad, 0, 0, offArg0}}
	for i, family := range socketFamilies {
		body = append(body, Instruction{opEqual, uint8(len(socketFamilies) - i), 0, family})
	}
	body = append(body, Instruction{opRet, 0, 0, actionErrno | eAFNOSUPPORT})
	b.when(name, body...)
}
