package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// conclude reads the shim's report.
func (p *Process) conclude(wait error) (End, error) {
	end := End{ExitCode: p.cmd.ProcessState.ExitCode(), Started: p.started, Ended: time.Now()}
	if l := p.limit.Load(); l != nil {
		end.Limit = *l
	}
	end.Cancelled = end.Limit == "" && p.ctx.Err() != nil
	report := p.status.String()
	if ok := parseExit(withoutLate(report), &end); ok {
		return end, nil
	}
	if end.Limit != "" || end.Cancelled {
		end.ExitCode, end.Signal = 137, int(unix.SIGKILL)
		return end, nil
	}
	if err := parseSetup(report); err != nil {
		return end, err
	}
	var exit *exec.ExitError
	if p.firstPID.Load() != 0 && p.cmd.ProcessState.ExitCode() >= 128 || p.cmd.ProcessState.ExitCode() < 0 {
		// The shim was killed: by the program, which may signal it, or by the kernel for want of memory.
		end.ExitCode, end.Signal = 137, int(unix.SIGKILL)
		return end, nil
	}
	if !errors.As(wait, &exit) && wait != nil {
		return end, &StartError{Step: StepBackend, Err: wait, Text: p.complain.String()}
	}
	return end, &StartError{Step: StepBackend, Err: fmt.Errorf("%s ended with status %d", p.plan.Argv[0], end.ExitCode), Text: p.complain.String()}
}

// withoutLate leaves out the lines about pins asked for while the program ran: what such a pin would have held
// is the audit's then.
func withoutLate(report string) string {
	var b strings.Builder
	for line := range strings.Lines(report) {
		if !strings.HasPrefix(line, "late ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// parseExit reads the line "exit CODE SIGNAL MAXRSS_KB USER_US SYSTEM_US".
func parseExit(report string, end *End) bool {
	var rss, user, system int64
	i := strings.Index(report, "exit ")
	if i != 0 {
		return false
	}
	if _, err := fmt.Sscanf(report, "exit %d %d %d %d %d", &end.ExitCode, &end.Signal, &rss, &user, &system); err != nil {
		return false
	}
	end.MaxRSS = rss << 10
	end.User, end.System = time.Duration(user)*time.Microsecond, time.Duration(system)*time.Microsecond
	return true
}

// parseSetup reads what went wrong before the program ran: "setup STEP ERRNO PATH", or from the forked
// child, which cannot format, two words: the number of the failed call and the error number.
func parseSetup(report string) error {
	if strings.HasPrefix(report, "setup ") {
		fields := strings.SplitN(strings.TrimSuffix(report, "\n"), " ", 4)
		if len(fields) < 4 {
			return nil
		}
		var errno int
		_, _ = fmt.Sscan(fields[2], &errno)
		step := StepShim
		if fields[1] == StepPin || fields[1] == StepPick {
			step = fields[1]
		}
		return &StartError{Step: step, Path: fields[3], Text: fields[1], Err: syscall.Errno(errno)}
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
