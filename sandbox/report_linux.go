package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox/shim"
)

// conclude reads the shim's report.
func (p *Process) conclude() (End, error) {
	end := End{Started: p.started, Ended: time.Now()}
	if l := p.limit.Load(); l != nil {
		end.Limit = *l
	}
	end.Cancelled = end.Limit == "" && p.ctx.Err() != nil
	report, begun := strings.CutPrefix(p.status.String(), shim.Begun)
	end.Full = fullFolders(report)
	if last := withoutLate(report); parseExit(last, &end) && (begun || !p.plan.Stands) {
		end.Times = parseTimes(last)
		return end, nil
	}
	<-p.exited
	end.ExitCode = p.cmd.ProcessState.ExitCode()
	if end.Limit != "" || end.Cancelled {
		end.ExitCode, end.Signal = 137, int(unix.SIGKILL)
		return end, nil
	}
	if err := parseSetup(report); err != nil {
		return end, err
	}
	if p.plan.Stands && !begun {
		return end, &StartError{Step: StepStand, Err: errNotTaken, Text: p.complain.String()}
	}
	var exit *exec.ExitError
	if begun || p.firstPID.Load() != 0 && p.cmd.ProcessState.ExitCode() >= 128 || p.cmd.ProcessState.ExitCode() < 0 {
		end.ExitCode, end.Signal, end.Lost = 137, int(unix.SIGKILL), true
		return end, nil
	}
	if !errors.As(p.waited, &exit) && p.waited != nil {
		return end, &StartError{Step: StepBackend, Err: p.waited, Text: p.complain.String()}
	}
	return end, &StartError{Step: StepBackend, Err: fmt.Errorf("%s ended with status %d", p.plan.Argv[0], end.ExitCode), Text: p.complain.String()}
}

// errNotTaken is the end of a sandbox that was made ahead of its run, before that began.
var errNotTaken = errors.New("the sandbox that was ready has ended")

// statusReport is what the shim has reported so far.
type statusReport struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *statusReport) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// reportWriter takes what the shim reports, and notices the run's beginning and its end.
type reportWriter struct{ p *Process }

func (w reportWriter) Write(b []byte) (int, error) {
	p := w.p
	p.status.mu.Lock()
	p.status.text.Write(b)
	p.status.mu.Unlock()
	report, begun := strings.CutPrefix(p.status.String(), shim.Begun)
	if begun {
		p.begin()
	}
	if (begun || !p.plan.Stands) && strings.HasSuffix(report, "\n") && parseExit(withoutLate(report), new(End)) {
		p.finish()
	}
	return len(b), nil
}

// withoutLate leaves out the lines that come before the end: about pins asked for while the program ran (what such a pin
// would have held is the audit's then), and about full folders.
func withoutLate(report string) string {
	var b strings.Builder
	for line := range strings.Lines(report) {
		if !strings.HasPrefix(line, "late ") && !strings.HasPrefix(line, shim.FullFolder) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// fullFolders are those that the shim found full at the program's end.
func fullFolders(report string) (out []string) {
	for line := range strings.Lines(report) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), shim.FullFolder); ok {
			out = append(out, path)
		}
	}
	return out
}

// parseTimes reads the moments that follow in the line that parseExit reads, in nanoseconds of CLOCK_MONOTONIC; nil is none.
func parseTimes(report string) *Times {
	var clock unix.Timespec
	fields := strings.Fields(report)
	if len(fields) != 11 || unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock) != nil {
		return nil
	}
	now := time.Now()
	var t Times
	for i, at := range []*time.Time{&t.Up, &t.Told, &t.Made, &t.Ended, &t.Gone} {
		n, err := strconv.ParseInt(fields[6+i], 10, 64)
		if err != nil {
			return nil
		}
		*at = now.Add(time.Duration(n - clock.Nano()))
	}
	return &t
}

// parseSetup reads what went wrong before the program ran: what setupError does, or from the forked
// child, which cannot format, two words: the number of the failed call and the error number.
func parseSetup(report string) error {
	if strings.HasPrefix(report, "setup ") {
		return setupError(report)
	}
	if i := strings.Index(report, "exit 125"); i >= 16 {
		report = report[:i]
	}
	if len(report) < 16 {
		return nil
	}
	number, errno := binary.NativeEndian.Uint64([]byte(report)), binary.NativeEndian.Uint64([]byte(report[8:]))
	return &StartError{Step: stepOfCall(int(number)), Text: fmt.Sprintf("system call %d", number), Err: syscall.Errno(errno)}
}

func stepOfCall(number int) string {
	switch number {
	case unix.SYS_EXECVE:
		return StepProgram
	case unix.SYS_CHDIR:
		return StepDir
	}
	return StepShim
}
