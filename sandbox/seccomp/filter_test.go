package seccomp

import "testing"

// call is what the kernel shows the filter: struct seccomp_data.
type call struct {
	arch uint32
	nr   uint32
	args [6]uint64
}

func (c call) word(off uint32) uint32 {
	switch {
	case off == offNumber:
		return c.nr
	case off == offArch:
		return c.arch
	case off >= offArg0:
		i := (off - offArg0) / 8
		if off%8 == 0 {
			return uint32(c.args[i])
		}
		return uint32(c.args[i] >> 32)
	}
	return 0
}

// run is the classic BPF machine, as far as the filter uses it.
func run(t testing.TB, prog []Instruction, c call) uint32 {
	t.Helper()
	var a uint32
	for pc := 0; pc < len(prog); pc++ {
		i := prog[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(i.JT)
			} else {
				pc += int(i.JF)
			}
		}
		switch i.Code {
		case opLoad:
			a = c.word(i.K)
		case opEqual:
			jump(a == i.K)
		case opGE:
			jump(a >= i.K)
		case opSet:
			jump(a&i.K != 0)
		case opRet:
			return i.K
		default:
			t.Fatalf("instruction %d has the unknown code %#x", pc, i.Code)
		}
	}
	t.Fatal("the program ends without a return")
	return 0
}

func TestFilterDecides(t *testing.T) {
	const x32 = 0x40000000
	perm, nosys, family := uint32(actionErrno|ePERM), uint32(actionErrno|eNOSYS), uint32(actionErrno|eAFNOSUPPORT)
	type arch struct {
		goarch  string
		audit   uint32
		numbers map[string]uint32
	}
	for _, a := range []arch{{"amd64", auditX86_64, amd64}, {"arm64", auditAArch64, arm64}} {
		prog, err := Program(a.goarch)
		if err != nil {
			t.Fatal(err)
		}
		of := func(name string, args ...uint64) call {
			c := call{arch: a.audit, nr: a.numbers[name]}
			copy(c.args[:], args)
			return c
		}
		for _, tt := range []struct {
			name string
			call call
			want uint32
		}{
			{"read goes through", call{arch: a.audit, nr: 63}, actionAllow},
			{"mount", of("mount"), perm},
			{"the new mount calls", of("move_mount"), perm},
			{"keyctl", of("keyctl"), perm},
			{"io_uring is not there", of("io_uring_setup"), nosys},
			{"clone3 is not there, since its flags are in memory", of("clone3"), nosys},
			{"a thread", of("clone", 0x3d0f00), actionAllow},
			{"fork", of("clone", 0x1200011), actionAllow},
			{"a user namespace", of("clone", 0x10000011), perm},
			{"a user namespace, high bits set too", of("clone", 0xffff_0000_1000_0011), perm},
			{"unshare of files", of("unshare", 0x400), actionAllow},
			{"unshare of mounts", of("unshare", 0x20000), perm},
			{"unshare of time", of("unshare", 0x80), perm},
			{"TIOCSTI", of("ioctl", 0, 0x5412), perm},
			{"TIOCSTI with high bits, which the kernel ignores", of("ioctl", 0, 0x1_0000_5412), perm},
			{"TIOCLINUX", of("ioctl", 0, 0x541c), perm},
			{"TIOCGWINSZ", of("ioctl", 0, 0x5413), actionAllow},
			{"chmod of a plain mode", of("fchmodat", 0, 0, 0o755), actionAllow},
			{"chmod u+s", of("fchmodat", 0, 0, 0o4755), perm},
			{"chmod g+s", of("fchmod", 0, 0o2755), perm},
			{"making a set-user-ID file", of("openat", 0, 0, 0o101, 0o4755), perm},
			{"an unnamed one", of("openat", 0, 0, 0o20200002, 0o4755), perm},
			{"opening, with rubbish where the mode would be", of("openat", 0, 0, 0o2, 0o4755), actionAllow},
			{"openat2 is not there, since its mode is in memory", of("openat2"), nosys},
			{"own limits", of("prlimit64", 0, 7), actionAllow},
			{"another process's limits", of("prlimit64", 1, 7), perm},
			{"AF_UNIX", of("socket", 1), actionAllow},
			{"AF_INET6", of("socket", 10), actionAllow},
			{"AF_NETLINK", of("socket", 16), actionAllow},
			{"AF_VSOCK", of("socket", 40), family},
			{"AF_ALG", of("socket", 38), family},
			{"AF_PACKET", of("socket", 17), family},
			{"AF_UNIX pair", of("socketpair", 1), actionAllow},
			{"the 32-bit architecture", call{arch: 0x40000003, nr: 21}, actionKill},
		} {
			if got := run(t, prog, tt.call); got != tt.want {
				t.Errorf("%s: %s: got %#x, want %#x", a.goarch, tt.name, got, tt.want)
			}
		}
		if a.goarch == "amd64" {
			if got := run(t, prog, call{arch: a.audit, nr: x32 | 165}); got != nosys {
				t.Errorf("x32 mount: got %#x, want %#x", got, nosys)
			}
		}
	}
}

// What no run needs is refused, on both architectures.
func TestEveryRefusedCallIsRefused(t *testing.T) {
	for goarch, numbers := range map[string]map[string]uint32{"amd64": amd64, "arm64": arm64} {
		prog, err := Program(goarch)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refused {
			nr, ok := numbers[r.name]
			if got := run(t, prog, call{arch: prog[1].K, nr: nr}); ok && got != actionErrno|ePERM {
				t.Errorf("%s: %s (%s): got %#x", goarch, r.name, r.why, got)
			}
		}
	}
}

func TestUnknownArchitectureHasNoFilter(t *testing.T) {
	if _, err := Filter("riscv64"); err == nil {
		t.Error("got a filter for an architecture whose calls are not known")
	}
}
