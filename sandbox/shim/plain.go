//go:build darwin || plain

package shim

import (
	"os"
	ossignal "os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// Plain carries a plan out where there are no namespaces, and returns the exit status: on macOS, inside the sandbox, where
// this is the guardian of the run. It sets limits, starts the program, waits for it and reports, as elsewhere. Then it stays
// until the executor lets go of it, since it is the one that can tell what is of its sandbox: who may be signalled by it, is.
// When the executor ends before it, it ends the program.
//
// What the plan has for mounts, namespaces and filters is not done.
func Plain() int {
	for fd := PlanFD; fd < mostInherited; fd++ { // our own, and whatever else whoever started all this has left open
		syscall.CloseOnExec(fd)
	}
	g := &guardian{}
	var err error
	if g.plan, err = readPlan(); err != nil {
		return fail("plan", 0, err.Error())
	}
	g.ignore()
	if g.plan.Terminal {
		if err := ioctlInt(TerminalFD, syscall.TIOCSCTTY, 0); err != 0 {
			return fail("terminal", err, "")
		}
	}
	if _, ok := g.order(); !ok { // the word to begin
		return fail("go", syscall.EPIPE, "")
	}
	if step, errno, detail := g.start(); errno != 0 {
		return fail(step, errno, detail)
	}
	go g.obey()
	go g.tell()
	g.wait()
	select {} // until the executor lets go: obey ends us
}

// mostInherited is up to where descriptors may have come from elsewhere.
const mostInherited = 1024

type guardian struct {
	plan Plan
	mu   sync.Mutex // whoever has it may signal the program
	pid  int
	gone bool
}

// ignore has signals that reach this process, which leads the terminal's session, do nothing. They are caught and not
// ignored, since what is ignored stays so in the program; but for the one that stops whoever sets the foreground.
func (g *guardian) ignore() {
	ossignal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGPIPE)
	ossignal.Ignore(syscall.SIGTTOU)
}

// start enters the folder, sets the limits and starts the program, in a session or at least a group of its own.
func (g *guardian) start() (step string, errno syscall.Errno, detail string) {
	if err := syscall.Chdir(g.plan.Dir); err != nil {
		return "dir", errnoOf(err), g.plan.Dir
	}
	for _, l := range g.plan.Limits {
		if errno := l.set(); errno != 0 {
			return "limit", errno, strconv.Itoa(l.Resource)
		}
	}
	attr := &syscall.ProcAttr{Env: g.plan.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if g.plan.Terminal {
		attr.Files = []uintptr{TerminalFD, TerminalFD, TerminalFD}
		attr.Sys = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: TerminalFD}
	}
	pid, err := syscall.ForkExec(g.plan.Argv[0], g.plan.Argv, attr)
	if err != nil {
		return "program", errnoOf(err), g.plan.Argv[0]
	}
	g.pid = pid
	return "", 0, ""
}

// set leaves a limit that is lower already.
func (l Limit) set() syscall.Errno {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(l.Resource, &now); err != nil {
		return errnoOf(err)
	}
	value := min(now.Max, l.Value)
	if err := syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
		return errnoOf(err)
	}
	return 0
}

// obey does what the executor asks. When that has ended, so does this.
func (g *guardian) obey() {
	for {
		o, ok := g.order()
		if !ok {
			g.signal(syscall.SIGKILL)
			os.Exit(0)
		}
		if o.Continue {
			g.foreground()
			g.signal(syscall.SIGCONT)
		}
		if o.Signal != 0 {
			g.signal(syscall.Signal(o.Signal))
		}
	}
}

// order reads one message; false when no more will come.
func (g *guardian) order() (Order, bool) {
	var head [4]byte
	if !readExactly(ControlFD, head[:]) {
		return Order{}, false
	}
	return readBody(head)
}

// signal reaches the program's group, which may outlive it.
func (g *guardian) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if syscall.Kill(-g.pid, sig) != nil && !g.gone {
		_ = syscall.Kill(g.pid, sig)
	}
}

func (g *guardian) foreground() {
	if g.plan.Terminal {
		group := int32(g.pid) //nolint:gosec // a process
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, TerminalFD, syscall.TIOCSPGRP, uintptr(unsafe.Pointer(&group)))
	}
}

// wait reports how the program ended, and with a terminal when it was stopped. What is left of its group ends with it.
func (g *guardian) wait() {
	options := 0
	if g.plan.Terminal {
		options = syscall.WUNTRACED
	}
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, options, &usage)
		switch {
		case err == syscall.EINTR || err == nil && pid != g.pid:
		case err != nil:
			fail("wait", errnoOf(err), "")
			return
		case status.Stopped():
			_, _ = syscall.Write(ControlFD, []byte{StoppedRecord, byte(status.StopSignal()), 0, 0})
		default:
			g.ended(status, usage)
			return
		}
	}
}

func (g *guardian) ended(status syscall.WaitStatus, usage syscall.Rusage) {
	g.mu.Lock()
	g.gone = true
	g.mu.Unlock()
	g.signal(syscall.SIGKILL)
	rss := usage.Maxrss // in bytes on macOS, and in kilobytes elsewhere: getrusage(2)
	if runtime.GOOS == "darwin" {
		rss >>= 10
	}
	_ = reportEnd(status, rss, usage, nil)
}

// tell answers which processes are of this sandbox, and ends them: Seatbelt lets this process signal no others. Where it may
// signal the executor, that is not so, and nothing is done. A question is a number of four bytes, low byte first, and as many
// numbers of processes; the answer is how many were ended.
func (g *guardian) tell() {
	parent := os.Getppid()
	for {
		var head [4]byte
		if !readExactly(MembersFD, head[:]) {
			return
		}
		pids := make([]byte, 4*number(head[:]))
		if !readExactly(MembersFD, pids) {
			return
		}
		answer := CannotTell
		if os.Getppid() == parent && syscall.Kill(parent, 0) != nil {
			answer = g.end(pids)
		}
		_ = writeAll(MembersFD, []byte{byte(answer), byte(answer >> 8), byte(answer >> 16), byte(answer >> 24)})
	}
}

func (g *guardian) end(pids []byte) (ended uint32) {
	for ; len(pids) >= 4; pids = pids[4:] {
		pid := number(pids)
		if pid > 1 && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			ended++
		}
	}
	return ended
}

func ioctlInt(fd int, request, value uintptr) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, value)
	return errno
}
