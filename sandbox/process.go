package sandbox

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"code.sidecar.dev/sandbox/shim"
)

// IO is where a run's streams go. Nil is nothing: an empty input, an output thrown away. Writers are called
// from one goroutine each.
type IO struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Late, if not nil, takes pins to make while the run lasts.
	Late *Late
	// Ready, if not nil, is closed when the caller is ready for the program: the sandbox is made meanwhile, but no pin
	// in it, and nothing of the program runs before, nor is its input read.
	Ready <-chan struct{}
}

// Late is the way to a running sandbox's pins. The zero value is ready; pins sent before the run started are
// made when it has, and after its end they go nowhere. Safe for many callers.
type Late struct {
	mu     sync.Mutex
	to     io.WriteCloser
	queued []Pin
	closed bool
}

// Send asks for pins, parents first. It does not wait until they are made.
func (l *Late) Send(pins []Pin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		if !l.closed {
			l.queued = append(l.queued, pins...)
		}
		return
	}
	l.write(pins)
}

// write gives up soon: the reader may be dead while its pipe still stands, and what a lost pin would have
// held is the audit's.
func (l *Late) write(pins []Pin) {
	if f, ok := l.to.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = f.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	}
	_, _ = l.to.Write(encodePins(pins))
}

// open connects to the shim, which goes on with the first message.
func (l *Late) open(to io.WriteCloser) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
	l.write(nil)
	if len(l.queued) > 0 {
		l.write(l.queued)
	}
}

func (l *Late) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		_ = l.to.Close()
	}
	l.to, l.closed = nil, true
}

func encodePins(pins []Pin) []byte {
	list := make([]shim.Pin, len(pins))
	for i, p := range pins {
		list[i] = p.Shim()
	}
	return shim.Message(list)
}

// Shim is the pin in the shim's encoding.
func (p Pin) Shim() shim.Pin {
	kinds := [...]byte{Border: shim.Border, Frozen: shim.Frozen, Thawed: shim.Thawed, Covered: shim.Covered}
	return shim.Pin{Kind: kinds[p.Kind], Folder: p.Folder, Path: p.Path}
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
	// MaxRSS is in bytes; User and System are the program's processor times.
	MaxRSS       int64
	User, System time.Duration
	// Started and Ended are the host's clock.
	Started, Ended time.Time
}

// Names of limits that the executor watches.
const (
	LimitTime      = "time"
	LimitMemory    = "memory"
	LimitOutput    = "output"
	LimitProcesses = "processes"
)

// Steps of the start at which a run can fail.
const (
	// StepBackend: the backend itself did not start; Text is what it printed.
	StepBackend = "backend"
	// StepPin: a path could not be held; Path is which.
	StepPin = "pin"
	// StepPick: what was to be shown of a store is not there; Path is which.
	StepPick = "pick"
	// StepProgram: the program could not be executed.
	StepProgram = "program"
	// StepDir: the working folder could not be entered.
	StepDir = "dir"
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
	case StepPick:
		return fmt.Sprintf("showing %q in the sandbox: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("starting the program in the sandbox: %s (%s): %v", e.Step, e.Text, e.Err)
}

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// ErrUnsupported is returned by Start where no executor exists for the system.
var ErrUnsupported = errors.New("no sandbox executor for this operating system")
