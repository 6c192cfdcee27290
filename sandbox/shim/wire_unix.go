//go:build darwin || linux

package shim

import (
	"strconv"
	"syscall"
)

// readPlan reads the plan to its end.
func readPlan() (Plan, error) {
	text, err := readAll(PlanFD)
	if err != nil {
		return Plan{}, err
	}
	return Decode(text)
}

// readBody reads what follows a message's length; false when no more will come, or it is none.
func readBody(head [4]byte) (Order, bool) {
	body := make([]byte, number(head[:]))
	if !readExactly(ControlFD, body) {
		return Order{}, false
	}
	o, err := DecodeOrder(body)
	return o, err == nil
}

// report writes on StatusFD.
func report(line string) { _ = writeAll(StatusFD, []byte(line)) }

// fail reports what went wrong before the program ran, and is the exit status.
func fail(step string, errno syscall.Errno, detail string) int {
	report("setup " + step + " " + strconv.Itoa(int(errno)) + " " + detail + "\n")
	return 125
}

// reportEnd reports how the program ended, and times if there are any; rss is in kilobytes. It gives the exit status: 128+n when signal n ended it.
func reportEnd(status syscall.WaitStatus, rss int64, usage syscall.Rusage, times []int64) int {
	code, signal := status.ExitStatus(), 0
	if status.Signaled() {
		signal = int(status.Signal())
		code = 128 + signal
	}
	line := "exit"
	for _, n := range append([]int64{int64(code), int64(signal), rss, usage.Utime.Nano() / 1000, usage.Stime.Nano() / 1000}, times...) {
		line += " " + strconv.FormatInt(n, 10)
	}
	report(line + "\n")
	return code
}

// number reads four bytes, low byte first.
func number(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24 }

func readAll(fd int) ([]byte, error) {
	var all []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(fd, buf)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return all, nil
		default:
			all = append(all, buf[:n]...)
		}
	}
}

// readExactly fills b; false is the end.
func readExactly(fd int, b []byte) bool {
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

func writeAll(fd int, b []byte) syscall.Errno {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return errnoOf(err)
		}
		b = b[n:]
	}
	return 0
}

func errnoOf(err error) syscall.Errno {
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return syscall.EIO
}
