package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// IO is where a run's streams go. Nil is nothing: an empty input, an output thrown away. Writers are called
// from one goroutine each.
type IO struct {
	// Stdin is the program's input; with a terminal, what is typed.
	Stdin io.Reader
	// Stdout takes all that a terminal shows, if the plan has one.
	Stdout, Stderr io.Writer
	// Control, if not nil, is the way to the sandbox while the run lasts.
	Control *Control
	// Socket, if not nil, is given the plan's sockets, and those that were asked for later, by their index, as they are
	// opened, and owns them; nil says that one cannot be had. It must not wait.
	Socket func(index int, socket *os.File)
	// Stopped, if not nil, is told that a signal has stopped the program of a terminal. It must not wait.
	Stopped func(signal int)
	// Ready, if not nil, is closed when the caller is ready for the program: the sandbox is made meanwhile, but no pin
	// in it, and nothing of the program runs before, nor is its input read.
	Ready <-chan struct{}
	// Tree, if not nil, is a copy of the plan's first pick (Kept.Tree), which is used in the place of making it. Run owns it.
	Tree *os.File
	// Times asks for End.Times.
	Times bool
	// tree is given what a keeper hands over, or why it does not.
	tree func(errno int, tree *os.File)
}

// End is how a run ended.
type End struct {
	// ExitCode is the program's own; 128+n when signal n ended it.
	ExitCode int
	// Signal is the number of the signal that ended the program, or 0.
	Signal int
	// Limit names the limit that ended it, or "".
	Limit string
	// Cancelled says that the caller's context ended it.
	Cancelled bool
	// Lost says that the sandbox itself was killed, by the program, by somebody else, or by the kernel for want of memory:
	// how far the program came is not known.
	Lost bool
	// Grouped says that a control group bounded its memory and its processes; otherwise each process was limited, and the sum
	// watched. Ungrouped is why there was none although the plan has one.
	Grouped   bool
	Ungrouped error
	// MaxMemory is the most that all processes had at one time, in bytes; 0 is unknown.
	MaxMemory int64
	// Refused is how many processes or threads could not be started for the limit, as far as the control group counts them.
	Refused int
	// Full are the private folders that had no room left when the program ended.
	Full []string
	// MaxRSS is in bytes; User and System are the program's processor times.
	MaxRSS       int64
	User, System time.Duration
	// Started and Ended are the host's clock.
	Started, Ended time.Time
	// Times are moments of the run, if they were asked for and the executor has them.
	Times *Times
}

// Times are moments of a run: the shim was up, for a sandbox that was made ahead when it was handed the run; it was told to go
// on; all mounts and limits were made, and the program was about to start; the program ended; all other processes were gone.
type Times struct{ Up, Told, Made, Ended, Gone time.Time }

// Names of limits that the executor watches.
const (
	LimitTime      = "time"
	LimitMemory    = "memory"
	LimitOutput    = "output"
	LimitProcesses = "processes"
)

// ownThreads is how many processes and threads of a run are not the program's at most, about: the shim's, and the backend's.
const ownThreads = 16

// Steps of the start at which a run can fail.
const (
	// StepBackend: the backend itself did not start; Text is what it printed.
	StepBackend = "backend"
	// StepPin: a path could not be held; Path is which.
	StepPin = "pin"
	// StepPick: what was to be shown of a store is not there; Path is which.
	StepPick = "pick"
	// StepBase: a place in a folder that is shown beneath others cannot be used; Path is which.
	StepBase = "base"
	// StepSame: what is shown at Path is not what was to be shown there.
	StepSame = "same"
	// StepProgram: the program could not be executed.
	StepProgram = "program"
	// StepDir: the working folder could not be entered.
	StepDir = "dir"
	// StepStand: a sandbox that was made ahead of its run ended before that.
	StepStand = "stand"
	// StepShim: anything else that the shim does.
	StepShim = "shim"
)

// StartError says why a run's program never started.
type StartError struct {
	Step string
	Path string
	// Text is what the backend printed on its standard error.
	Text string
	Err  error
}

func (e *StartError) Error() string {
	switch e.Step {
	case StepBackend:
		return fmt.Sprintf("starting the sandbox: %v: %s", e.Err, e.Text)
	case StepPin:
		return fmt.Sprintf("holding %q in the sandbox: %v", e.Path, e.Err)
	case StepBase:
		return fmt.Sprintf("showing %q in the sandbox: %v", e.Path, e.Err)
	case StepSame:
		return fmt.Sprintf("showing %q in the sandbox: it was replaced", e.Path)
	case StepStand:
		return fmt.Sprintf("using a sandbox that was ready: %v: %s", e.Err, e.Text)
	case StepPick:
		return fmt.Sprintf("showing %q in the sandbox: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("starting the program in the sandbox: %s (%s): %v", e.Step, e.Text, e.Err)
}

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// ErrUnsupported is returned by Start where no executor exists for the system.
var ErrUnsupported = errors.New("no sandbox executor for this operating system")
