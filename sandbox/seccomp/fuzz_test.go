package seccomp

import (
	"encoding/binary"
	"slices"
	"testing"
)

// installed is the filter as the kernel gets it: decoded from its bytes again.
func installed(t testing.TB, goarch string) []Instruction {
	t.Helper()
	raw, err := Filter(goarch)
	if err != nil || len(raw)%8 != 0 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	var prog []Instruction
	for b := range slices.Chunk(raw, 8) {
		prog = append(prog, Instruction{binary.LittleEndian.Uint16(b), b[2], b[3], binary.LittleEndian.Uint32(b[4:])})
	}
	return prog
}

// What the kernel asks of a filter (bpf_check_classic in net/core/filter.c, seccomp_check_filter in kernel/seccomp.c): a
// length it takes, known instructions, loads of whole words of seccomp_data, jumps that land inside, a return at the end.
func TestTheKernelTakesTheProgram(t *testing.T) {
	for _, goarch := range []string{"amd64", "arm64"} {
		prog := installed(t, goarch)
		if len(prog) == 0 || len(prog) > 4096 || prog[len(prog)-1].Code != opRet {
			t.Fatalf("%s: %d instructions, the last is %+v", goarch, len(prog), prog[len(prog)-1])
		}
		for pc, i := range prog {
			left := len(prog) - pc - 1
			switch i.Code {
			case opRet:
			case opLoad:
				if i.K%4 != 0 || i.K >= 64 {
					t.Errorf("%s: instruction %d loads from %d", goarch, pc, i.K)
				}
			case opEqual, opGE, opSet:
				if int(i.JT) >= left || int(i.JF) >= left {
					t.Errorf("%s: instruction %d jumps by %d and %d, and %d follow", goarch, pc, i.JT, i.JF, left)
				}
			default:
				t.Errorf("%s: instruction %d is %#x", goarch, pc, i.Code)
			}
		}
	}
}

// decided is what the filter is to say of a call, from the tables alone.
func decided(audit uint32, numbers map[string]uint32, c call) uint32 {
	const x32 = 0x40000000
	arg := func(i int) uint32 { return uint32(c.args[i]) }
	is := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { nr, ok := numbers[name]; return ok && nr == c.nr })
	}
	perm := uint32(actionErrno | ePERM)
	switch {
	case c.arch != audit:
		return actionKill
	case audit == auditX86_64 && c.nr >= x32, is(absent...):
		return actionErrno | eNOSYS
	case slices.ContainsFunc(refused, func(r struct{ name, why string }) bool { return is(r.name) }),
		is("clone", "unshare") && arg(0)&newNamespaces != 0,
		is("ioctl") && slices.Contains(refusedIoctls, arg(1)),
		is("prlimit64") && arg(0) != 0,
		is("chmod", "fchmod", "creat", "mknod") && arg(1)&setIDs != 0,
		is("fchmodat", "fchmodat2", "mknodat") && arg(2)&setIDs != 0,
		is("open") && arg(1)&0o20000100 != 0 && arg(2)&setIDs != 0,
		is("openat") && arg(2)&0o20000100 != 0 && arg(3)&setIDs != 0:
		return perm
	case is("socket", "socketpair") && !slices.Contains(socketFamilies, arg(0)):
		return actionErrno | eAFNOSUPPORT
	}
	return actionAllow
}

// Whatever call a program makes, of whatever architecture, the filter ends with an answer, and with the one of its tables.
func FuzzFilter(f *testing.F) {
	machines := []struct {
		audit   uint32
		numbers map[string]uint32
		prog    []Instruction
	}{{auditX86_64, amd64, installed(f, "amd64")}, {auditAArch64, arm64, installed(f, "arm64")}}
	for i, m := range machines {
		for name, nr := range m.numbers {
			f.Add(i == 0, m.audit, nr, uint64(0), uint64(0), uint64(0), uint64(0))
			f.Add(i == 0, m.audit, nr, uint64(1), uint64(0x5412), uint64(0o101), uint64(0o4755))
			if name == "clone" || name == "socket" {
				f.Add(i == 0, m.audit, nr, uint64(0xffff_0000_1000_0011), uint64(0), uint64(0), uint64(0))
			}
		}
		f.Add(i == 0, m.audit, uint32(0x40000000|165), uint64(0), uint64(0), uint64(0), uint64(0))
		f.Add(i == 0, uint32(0x40000003), uint32(21), uint64(0), uint64(0), uint64(0), uint64(0)) // i386
	}
	f.Fuzz(func(t *testing.T, first bool, arch, nr uint32, a, b, c, d uint64) {
		m := machines[1]
		if first {
			m = machines[0]
		}
		asked := call{arch: arch, nr: nr, args: [6]uint64{a, b, c, d}}
		if got, want := run(t, m.prog, asked), decided(m.audit, m.numbers, asked); got != want {
			t.Errorf("%+v: %#x, want %#x", asked, got, want)
		}
	})
}

// The same for every number that a call may have, with arguments at the borders of what is refused.
func TestEveryNumberIsDecidedByTheTables(t *testing.T) {
	arguments := [][6]uint64{{}, {1, 0x5412, 0o101, 0o4755}, {0x10000011, 0o4000, 0o2000, 0o2000}, {0x3d0f00, 0o100, 0o6000}, {1 << 32, 1<<32 | 0x541c, 1 << 32, 1 << 32}}
	for goarch, m := range map[string]struct {
		audit   uint32
		numbers map[string]uint32
	}{"amd64": {auditX86_64, amd64}, "arm64": {auditAArch64, arm64}} {
		prog := installed(t, goarch)
		for nr := range uint32(1024) {
			for _, args := range arguments {
				c := call{arch: m.audit, nr: nr, args: args}
				if got, want := run(t, prog, c), decided(m.audit, m.numbers, c); got != want {
					t.Errorf("%s: %+v: %#x, want %#x", goarch, c, got, want)
				}
			}
		}
	}
}
