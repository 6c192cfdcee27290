//go:build linux && (amd64 || arm64)

package shim

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
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
	// Relative paths and descriptors opened before a pin lead past it, so none may stay.
	if err := syscall.Chdir("/"); err != nil {
		return fail("chdir", err.(syscall.Errno), "/")
	}
	if !readMessage(func(Plan) {}) {
		return fail("go", syscall.EPIPE, "")
	}
	for _, k := range plan.Picks {
		if path, errno := k.make(); errno != 0 {
			return fail("pick", errno, path)
		}
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
	pid, errno := plan.fork()
	if errno != 0 {
		return fail("fork", errno, "")
	}
	closeAll(mounts)
	if plan.NewUser {
		go obey()
	}
	return wait(pid)
}

// obey makes pins while the program runs, as the executor asks on ControlFD: a file that a host program
// replaced has lost its mount in here (the kernel drops the mounts of what is replaced or unlinked), and a
// repository can have been found too late for the plan. The program may swap folders meanwhile; no link is
// followed, so a pin can at worst land on what the program put there itself.
func obey() {
	for readMessage(func(message Plan) {
		for _, p := range message.Pins {
			if errno := p.make(); errno != 0 {
				report("late " + strconv.Itoa(int(errno)) + " " + p.Path + "\n")
			}
		}
	}) {
	}
}

// readMessage waits for one message of the executor's; false when no more will come.
func readMessage(take func(Plan)) bool {
	var head [4]byte
	if !readFull(ControlFD, head[:]) {
		return false
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16|int(head[3])<<24)
	if !readFull(ControlFD, body) {
		return false
	}
	message, err := Decode(body)
	if err == nil {
		take(message)
	}
	return err == nil
}

func readFull(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := syscall.Read(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

func readPlan() (Plan, error) {
	var b []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(PlanFD, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return Plan{}, err
		}
		if n == 0 {
			return Decode(b)
		}
		b = append(b, buf[:n]...)
	}
}

func fail(step string, errno syscall.Errno, detail string) int {
	report("setup " + step + " " + strconv.Itoa(int(errno)) + " " + detail + "\n")
	return 125
}

func report(line string) { _, _ = syscall.Write(StatusFD, []byte(line)) }

// wait reports how the program ended. Its descendants end with the PID namespace, whose first process
// (bubblewrap's) ends when this one does.
func wait(pid int) int {
	var status syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err := syscall.Wait4(pid, &status, 0, &usage)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return fail("wait", err.(syscall.Errno), "")
		}
	}
	code, signal := status.ExitStatus(), 0
	if status.Signaled() {
		signal = int(status.Signal())
		code = 128 + signal
	}
	report("exit " + strconv.Itoa(code) + " " + strconv.Itoa(signal) + " " + strconv.FormatInt(usage.Maxrss, 10) + " " +
		strconv.FormatInt(usage.Utime.Nano()/1000, 10) + " " + strconv.FormatInt(usage.Stime.Nano()/1000, 10) + "\n")
	return code
}
