//go:build linux && (amd64 || arm64)

package shim

import (
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// call is one system call that the child makes between fork and exec. After the fork only this thread
// exists, so the child may neither allocate nor grow its stack nor take a lock: everything it needs is
// prepared before, and it only walks this list.
type call struct {
	number uintptr
	args   [4]uintptr
	// optional says that an error is no reason to stop.
	optional bool
	// keep says that the result is the descriptor that following calls mean by resultFD.
	keep bool
}

// resultFD stands for the descriptor that the last call with keep returned.
const resultFD = ^uintptr(0) - 4096

// From linux/prctl.h, linux/capability.h, linux/seccomp.h, linux/close_range.h, linux/sched.h.
const (
	prNoNewPrivs      = 38
	prCapBSetDrop     = 24
	prSetDumpable     = 4
	capVersion3       = 0x20080522
	capLast           = 63
	seccompFilter     = 1
	closeRangeCloexec = 4
	cloneNewUser      = 0x10000000
	sigSetMask        = 2
	signalCount       = 64
	sigsetSize        = 8
)

type capHeader struct {
	version uint32
	pid     int32
}

type sockFprog struct {
	len    uint16
	filter *byte
}

type sigaction struct{ handler, flags, restorer, mask uintptr }

// script collects the child's calls, and keeps alive what they point at.
type script struct {
	calls []call
	alive []any
}

func (s *script) do(number uintptr, args ...uintptr) {
	c := call{number: number}
	copy(c.args[:], args)
	s.calls = append(s.calls, c)
}

func (s *script) try(number uintptr, args ...uintptr) {
	s.do(number, args...)
	s.calls[len(s.calls)-1].optional = true
}

func (s *script) text(t string) uintptr {
	b, err := syscall.BytePtrFromString(t)
	if err != nil {
		b = new(byte)
	}
	s.alive = append(s.alive, b)
	return uintptr(unsafe.Pointer(b))
}

func (s *script) texts(l []string) uintptr {
	ptrs, err := syscall.SlicePtrFromStrings(l)
	if err != nil {
		ptrs = []*byte{nil}
	}
	s.alive = append(s.alive, ptrs)
	return uintptr(unsafe.Pointer(&ptrs[0]))
}

// write opens a file, writes a text and closes it.
func (s *script) write(path, text string) {
	s.do(syscall.SYS_OPENAT, ^uintptr(99), s.text(path), syscall.O_WRONLY|syscall.O_CLOEXEC)
	s.calls[len(s.calls)-1].keep = true
	s.do(syscall.SYS_WRITE, resultFD, s.text(text), uintptr(len(text)))
	s.do(syscall.SYS_CLOSE, resultFD)
}

// script is what the child does, in order: become the user in the new namespace, lose what could undo the
// sandbox, take the limits, put on the filter, and become the program.
func (p Plan) script(term *terminal) *script {
	s := new(script)
	if p.NewUser {
		s.write("/proc/self/setgroups", "deny")
		s.write("/proc/self/uid_map", strconv.Itoa(p.UID)+" 0 1")
		s.write("/proc/self/gid_map", strconv.Itoa(p.GID)+" 0 1")
	}
	if term != nil {
		term.script(s)
	} else {
		s.do(syscall.SYS_SETSID)
		if p.NoInput {
			s.do(syscall.SYS_OPENAT, ^uintptr(99), s.text("/dev/null"), syscall.O_RDONLY|syscall.O_CLOEXEC)
			s.calls[len(s.calls)-1].keep = true
			s.do(syscall.SYS_DUP3, resultFD, 0)
		}
		s.do(syscall.SYS_DUP3, OutFD, 1)
		s.do(syscall.SYS_DUP3, ErrFD, 2)
	}
	s.do(syscall.SYS_CHDIR, s.text(p.Dir))
	s.do(sysCloseRange, 3, uintptr(^uint32(0)), closeRangeCloexec)
	s.dropCapabilities()
	s.setLimits(p.Limits)
	s.resetSignals()
	s.do(syscall.SYS_PRCTL, prNoNewPrivs, 1)
	if len(p.Filter) > 0 {
		prog := &sockFprog{len: uint16(len(p.Filter) / 8), filter: &p.Filter[0]}
		s.alive = append(s.alive, prog, p.Filter)
		s.do(sysSeccomp, seccompFilter, 0, uintptr(unsafe.Pointer(prog)))
	}
	s.do(syscall.SYS_EXECVE, s.text(p.Argv[0]), s.texts(p.Argv), s.texts(p.Env))
	return s
}

// dropCapabilities empties the bounding set, so that a program run by a user who is root gains none at
// exec (capabilities(7)), and then the thread's own sets.
func (s *script) dropCapabilities() {
	for c := uintptr(0); c <= capLast; c++ {
		s.try(syscall.SYS_PRCTL, prCapBSetDrop, c)
	}
	header, data := &capHeader{version: capVersion3}, &[6]uint32{}
	s.alive = append(s.alive, header, data)
	s.do(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(header)), uintptr(unsafe.Pointer(data)))
}

// setLimits leaves a limit that is lower already, which the host's administrator, or who started all this, has set: nobody in
// a user namespace may raise one (getrlimit(2)).
func (s *script) setLimits(limits []Limit) {
	for _, l := range limits {
		var now syscall.Rlimit
		if syscall.Getrlimit(l.Resource, &now) == nil && now.Max < l.Value {
			l.Value = now.Max
		}
		r := &syscall.Rlimit{Cur: l.Value, Max: l.Value}
		s.alive = append(s.alive, r)
		s.do(syscall.SYS_PRLIMIT64, 0, uintptr(l.Resource), uintptr(unsafe.Pointer(r)))
	}
}

// resetSignals gives every signal its default action and an empty mask: an ignored signal or a mask would
// be inherited through exec, from a shell that started us in the background for example.
func (s *script) resetSignals() {
	action, mask := &sigaction{}, new(uint64)
	s.alive = append(s.alive, action, mask)
	for n := uintptr(1); n <= signalCount; n++ {
		s.try(syscall.SYS_RT_SIGACTION, n, uintptr(unsafe.Pointer(action)), 0, sigsetSize)
	}
	s.do(syscall.SYS_RT_SIGPROCMASK, sigSetMask, uintptr(unsafe.Pointer(mask)), 0, sigsetSize)
}

// fork starts the child. A failed step of it is reported on StatusFD like the shim's own.
func (p Plan) fork(term *terminal) (int, syscall.Errno) {
	s := p.script(term)
	flags := uintptr(syscall.SIGCHLD)
	if p.NewUser {
		flags |= cloneNewUser
	}
	if !p.NewUser { // the child is kept out by no namespace of its own, and needs nothing of /proc/self
		hideMemory()
	}
	blocked := ^uint64(0)
	var before uint64
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigSetMask, uintptr(unsafe.Pointer(&blocked)),
		uintptr(unsafe.Pointer(&before)), sigsetSize, 0, 0)
	failed := [2]uintptr{}
	pid, errno := forkAndWalk(flags, s.calls, &failed)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigSetMask, uintptr(unsafe.Pointer(&before)), 0, sigsetSize, 0, 0)
	runtime.KeepAlive(s)
	hideMemory()
	if term != nil && errno == 0 {
		term.start(int(pid))
	}
	return int(pid), errno
}

// hideMemory has no process of the sandbox look into this one from here on.
func hideMemory() { _, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0) }

// forkAndWalk forks; the child walks the list and ends in the program, or reports "setup step N ERRNO" in a
// form of its own (two numbers in words, since it cannot format) and exits with 125.
//
//go:noinline
//go:norace
//go:nosplit
func forkAndWalk(flags uintptr, calls []call, failed *[2]uintptr) (uintptr, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	var kept uintptr
	for i := range calls {
		c := &calls[i]
		first := c.args[0]
		if first == resultFD {
			first = kept
		}
		result, _, errno := syscall.RawSyscall6(c.number, first, c.args[1], c.args[2], c.args[3], 0, 0)
		if errno != 0 && !c.optional {
			failed[0], failed[1] = c.number, uintptr(errno)
			_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, StatusFD, uintptr(unsafe.Pointer(failed)), unsafe.Sizeof(*failed))
			break
		}
		if c.keep {
			kept = result
		}
	}
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 125, 0, 0)
	}
}
