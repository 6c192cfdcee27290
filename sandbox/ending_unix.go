//go:build darwin || linux

package sandbox

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// conclude reads the guardian's report: "exit CODE SIGNAL MAXRSS_KB USER_US SYSTEM_US", or what went wrong before.
func (g *group) conclude() (End, error) {
	end := End{ExitCode: g.cmd.ProcessState.ExitCode(), Started: g.started, Ended: time.Now()}
	if l := g.limit.Load(); l != nil {
		end.Limit = *l
	}
	end.Cancelled = end.Limit == "" && g.ctx.Err() != nil
	report := g.heard()
	if parseExit(report, &end) {
		return end, nil
	}
	if err := setupError(report); err != nil && !end.Cancelled {
		return end, err
	}
	if end.Limit != "" || end.Cancelled || g.begun() {
		end.ExitCode, end.Signal = 128+int(syscall.SIGKILL), int(syscall.SIGKILL)
		end.Lost = end.Limit == "" && !end.Cancelled
		return end, nil
	}
	return end, &StartError{Step: StepBackend, Err: fmt.Errorf("%s ended with status %d", g.plan.Argv[0], end.ExitCode), Text: g.complain.String()}
}

// begun says that the program was once there: then the guardian was killed, by the program or for want of memory.
func (g *group) begun() bool { return g.cmd.ProcessState.ExitCode() < 0 }

// parseExit reads the line "exit CODE SIGNAL MAXRSS_KB USER_US SYSTEM_US".
func parseExit(report string, end *End) bool {
	var rss, user, system int64
	if _, err := fmt.Sscanf(report, "exit %d %d %d %d %d", &end.ExitCode, &end.Signal, &rss, &user, &system); err != nil {
		return false
	}
	end.MaxRSS = rss << 10
	end.User, end.System = time.Duration(user)*time.Microsecond, time.Duration(system)*time.Microsecond
	return true
}

// setupError reads what went wrong before the program ran, "setup STEP ERRNO DETAIL"; nil is nothing.
func setupError(report string) error {
	fields := strings.SplitN(strings.TrimSuffix(report, "\n"), " ", 4)
	if fields[0] != "setup" || len(fields) < 4 {
		return nil
	}
	var errno int
	_, _ = fmt.Sscan(fields[2], &errno)
	step := StepShim
	switch fields[1] {
	case StepPin, StepPick, StepBase, StepSame, StepProgram, StepDir:
		step = fields[1]
	}
	return &StartError{Step: step, Path: fields[3], Text: fields[1], Err: syscall.Errno(errno)}
}
