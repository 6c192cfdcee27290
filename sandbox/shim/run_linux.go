//go:build linux && (amd64 || arm64)

package shim

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// init takes over when bubblewrap started this binary as the shim, and does not return then. It must be
// here and not in main: see the package comment.
func init() {
	if len(os.Args) == 1 && os.Args[0] == Program {
		runtime.LockOSThread()
		os.Exit(run())
	}
}

// run carries the plan out and returns the exit status. What goes wrong before the program starts is
// reported on StatusFD as "setup STEP ERRNO PATH"; its end as "exit CODE SIGNAL MAXRSS_KB USER_US SYSTEM_US".
func run() int {
	plan, err := readPlan()
	if err != nil {
		return fail("plan", 0, err.Error())
	}
	up := monotonic()
	ignoreSignals()
	// Relative paths and descriptors opened before a pin lead past it, so none may stay.
	if err := syscall.Chdir("/"); err != nil {
		return fail("chdir", err.(syscall.Errno), "/")
	}
	if plan.Stands {
		return plan.stand()
	}
	// Sockets and the terminal are opened before this thread has a table of descriptors of its own: obey needs them, too.
	plan.handOverSockets(plan.Sockets, 0)
	var term *terminal
	if plan.Terminal {
		var errno syscall.Errno
		if term, errno = openTerminal(plan.Rows, plan.Columns); errno != 0 {
			return fail("terminal", errno, "")
		}
	}
	tree := -1
	var at stamps
	if !readOrder(func(o Order, fd int) { tree, at = fd, stamped(o, up) }) {
		return fail("go", syscall.EPIPE, "")
	}
	for _, k := range plan.Picks {
		if path, errno := k.put(tree); errno != 0 {
			return fail("pick", errno, path)
		}
		tree = -1
	}
	if plan.Keep {
		return plan.keep()
	}
	for _, b := range plan.Bases {
		if path, errno := b.make(); errno != 0 {
			return fail("base", errno, path)
		}
	}
	if path, errno := plan.replaced(); errno != 0 {
		return fail("same", errno, path)
	}
	mounts, p, errno := makeAll(plan.Pins)
	if errno != 0 {
		return fail("pin", errno, p.Path)
	}
	for _, s := range plan.Scratch {
		if errno := s.bound(); errno != 0 {
			return fail("scratch", errno, s.Path)
		}
	}
	if step, errno := plan.limitNamespaces(); errno != 0 {
		return fail(step, errno, "")
	}
	at = at.next()
	report(Begun)
	pid, errno := plan.fork(term)
	if errno != 0 {
		return fail("fork", errno, "")
	}
	closeAll(mounts)
	closeOutputs()
	go plan.obey(pid, term)
	return plan.wait(pid, term, at)
}

// ignoreSignals has the program, which can send any to this process, not end it by one: Go's runtime ends with status 2 at many
// (os/signal). What a fault here raises ends it all the same (signal(7)), and the program has all of its own again.
func ignoreSignals() {
	for sig := syscall.Signal(1); sig <= signalCount; sig++ {
		switch sig {
		case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGCHLD, syscall.SIGURG: // the last is how the runtime preempts
		default:
			ignore(sig)
		}
	}
}

// obey does what the executor asks on ControlFD while the program runs. Pins: a file that a host program
// replaced has lost its mount in here (the kernel drops the mounts of what is replaced or unlinked), and a
// repository can have been found too late for the plan. The program may swap folders meanwhile; no link is
// followed, so a pin can at worst land on what the program put there itself.
//
// The executor's end is the run's: bubblewrap may have been killed with it before the sandbox was to die with that.
func (p Plan) obey(pid int, term *terminal) {
	closeOutputs()
	for readOrder(func(o Order, _ int) {
		made := p.NewUser // else it has no right to mount either
		for _, pin := range o.Pins {
			if !p.NewUser {
				break
			}
			if errno := pin.make(); errno != 0 {
				made = false
				report("late " + strconv.Itoa(int(errno)) + " " + pin.Path + "\n")
			}
		}
		if made && o.Told != 0 {
			_ = record(PinnedRecord, o.Told, -1)
		}
		p.handOverSockets(o.Sockets, o.First)
		if o.Continue {
			term.resume(pid)
		}
		if o.Signal != 0 {
			signal(pid, syscall.Signal(o.Signal))
		}
	}) {
	}
	_ = syscall.Kill(-1, syscall.SIGKILL)
}

// closeOutputs leaves the outputs to the program. The thread that makes the pins has a table of descriptors of its own
// (ownFiles), and all others have another one in common.
func closeOutputs() { closeAll([]int{OutFD, ErrFD}) }

// signal reaches the program's process group, or the program where it left that.
func signal(pid int, sig syscall.Signal) {
	if syscall.Kill(-pid, sig) != nil {
		_ = syscall.Kill(pid, sig)
	}
}

// readOrder waits for one message of the executor's, which may carry a descriptor (else -1); false when no more will come.
func readOrder(take func(o Order, fd int)) bool {
	var head [4]byte
	n, fd := readRights(head[:])
	if n <= 0 || !readExactly(ControlFD, head[n:]) {
		return false
	}
	order, ok := readBody(head)
	if ok {
		take(order, fd)
	}
	return ok
}

// wait reports how the program ended, when all that it left is gone: so the report is the end of the run, and what is left
// to be cleared away is the sandbox's own. With a terminal, its stops are reported as well: the person's shell then takes over.
func (p Plan) wait(pid int, term *terminal, at stamps) int {
	var status syscall.WaitStatus
	var usage syscall.Rusage
	options := 0
	if term != nil {
		options = syscall.WUNTRACED
	}
	for {
		_, err := syscall.Wait4(pid, &status, options, &usage)
		if err == nil && status.Stopped() {
			_ = record(StoppedRecord, int(status.StopSignal()), -1)
			continue
		}
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return fail("wait", err.(syscall.Errno), "")
		}
	}
	at = at.next()
	for _, s := range p.Scratch {
		if s.isFull() {
			report(FullFolder + s.Path + "\n")
		}
	}
	endOthers()
	code := reportEnd(status, usage.Maxrss, usage, at.next())
	if p.NewUser {
		for _, path := range p.Late {
			_ = syscall.Unmount(path, syscall.MNT_DETACH)
		}
	}
	return code
}

// stamps are moments of a run: the shim was up, it got its first order, the program was about to be forked, it ended, and
// everything else was gone; nil where nobody asked.
type stamps []int64

// stamped are the first two, if an order asks for them.
func stamped(o Order, up int64) stamps {
	if !o.Times {
		return nil
	}
	return stamps{up, monotonic()}
}

func (s stamps) next() stamps {
	if s == nil {
		return nil
	}
	return append(s, monotonic())
}

// monotonic is CLOCK_MONOTONIC in nanoseconds (clock_gettime(2)): the same inside as outside.
func monotonic() int64 {
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// endOthers ends every process of the sandbox but its first one and this, and returns when they are gone: reaped by the
// first one, whose children they are by then. A signal to all at once misses none that is being forked (kill(2), fork in
// kernel/fork.c).
func endOthers() {
	for syscall.Kill(-1, syscall.SIGKILL) != syscall.ESRCH {
		pause := syscall.Timespec{Nsec: 50_000}
		_ = syscall.Nanosleep(&pause, nil)
	}
}
