package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

const (
	// beatEvery is how often the far side gives a sign of life, missed how many may be missing before the connection is taken
	// for lost.
	beatEvery = 15 * time.Second
	missed    = 4
	// leaving is how long ssh may take to end when all is over.
	leaving = 2 * time.Second
)

// Call is a command on a host.
type Call struct {
	Start
	// Input is what the command reads; nil is nothing.
	Input io.Reader
	// Output gets what it prints, in order; it may wait.
	Output func(protocol.Stream, []byte)
	// Words is where ssh itself speaks; an *os.File is given to it as it is, so that it sees a terminal.
	Words io.Writer
	// Begun is told when the host was reached and the command is about to begin.
	Begun func(*Link)
}

// Link is the way to a command that goes on.
type Link struct{ f *frames }

// Signal sends the command a signal, by its name without SIG.
func (l *Link) Signal(_ context.Context, name string) error {
	return l.f.write(kindSignal, []byte(name))
}

// Resize gives its terminal another size.
func (l *Link) Resize(_ context.Context, rows, columns int) error {
	return l.f.writeJSON(kindSize, protocol.Terminal{Rows: rows, Columns: columns})
}

// Do does a command and gives its exit status. When ctx ends, so does the connection, and the command is hung up. The error is
// a *protocol.Error: of the kind Gone where the host was not reached or the connection was lost.
func (h Host) Do(ctx context.Context, c Call) (status int, err error) {
	cmd, err := h.command()
	if err != nil {
		return 0, err
	}
	cmd.Stderr, cmd.WaitDelay = c.Words, leaving // a connection that is kept (ControlPersist) may keep it open
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, &protocol.Error{Kind: protocol.Internal, Message: "starting ssh: " + err.Error(), Err: err}
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	r := bufio.NewReaderSize(out, piece)
	noise, err := greeted(r)
	if err != nil {
		return 0, h.unreached(ctx, ended(cmd, in, err), noise, err)
	}
	w := &waits{Reader: r}
	defer h.watch(w, cmd)()
	last, err := (&frames{r: w, w: in}).follow(c)
	ended(cmd, in, err)
	switch {
	case err == nil && last.Error != nil:
		return 0, last.Error
	case err == nil:
		return last.Status, nil
	case ctx.Err() != nil:
		return 0, &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled; what " + h.Name + " did for it ends", Err: ctx.Err()}
	}
	return 0, h.lost(w, err)
}

// lost says that the connection is.
func (h Host) lost(w *waits, err error) error {
	why := "it ended"
	if w.silent.Load() {
		why = fmt.Sprintf("no sign of life for %s", missed*h.every())
	} else if !errors.Is(err, io.EOF) {
		why = err.Error()
	}
	return &protocol.Error{Kind: protocol.Gone, Message: fmt.Sprintf("the connection to %s was lost before the end (%s)", h.Name, why),
		Hint: fmt.Sprintf("what it ran there is ended, as when any client goes; see: sidecar --host %s runs", h.Name), Err: err}
}

// follow sends the start and the input, and takes in what comes until the end.
func (f *frames) follow(c Call) (last end, err error) {
	c.NoInput = c.Input == nil
	if err := f.writeJSON(kindStart, c.Start); err != nil && !errors.Is(err, syscall.EPIPE) { // then what was said before tells why
		return end{}, err
	}
	taken := make(chan struct{}, ahead)
	if c.Begun != nil {
		c.Begun(&Link{f})
	}
	go f.feed(c.Input, taken)
	for {
		k, b, err := f.read()
		if err != nil {
			return end{}, err
		}
		switch k {
		case kindOutput:
			c.Output(protocol.Stdout, b)
		case kindErrors:
			c.Output(protocol.Stderr, b)
		case kindTaken:
			select {
			case <-taken:
			default:
				return end{}, errors.New("it took what was not sent")
			}
		case kindEnded:
			return last, json.Unmarshal(b, &last)
		case kindAlive:
		default:
			return end{}, fmt.Errorf("a frame of kind %q", k)
		}
	}
}

// feed sends the input, no further ahead than the command takes it.
func (f *frames) feed(input io.Reader, onTheWay chan<- struct{}) {
	b := make([]byte, piece)
	for input != nil {
		n, err := input.Read(b)
		if n > 0 {
			onTheWay <- struct{}{}
			if f.write(kindInput, b[:n]) != nil {
				return
			}
		}
		if err != nil {
			break
		}
	}
	onTheWay <- struct{}{}
	_ = f.write(kindInput, nil)
}

// waits is a reader that knows whether it waits, and how many signs of life were due meanwhile.
type waits struct {
	io.Reader
	due    atomic.Int32
	silent atomic.Bool
}

// idle is due's value while nothing is read.
const idle = -1 << 20

func (w *waits) Read(b []byte) (int, error) {
	w.due.Store(0)
	defer w.due.Store(idle)
	return w.Reader.Read(b)
}

func (h Host) every() time.Duration {
	if h.beat > 0 {
		return h.beat
	}
	return beatEvery
}

// watch ends ssh when the far side is silent for too long. It counts ticks and no time: a machine that slept, or a process
// that was stopped, finds one tick, and what had come meanwhile.
func (h Host) watch(w *waits, cmd *exec.Cmd) (stop func()) {
	tick, done := time.NewTicker(h.every()), make(chan struct{})
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if w.due.Add(1) > missed {
				w.silent.Store(true)
				_ = cmd.Process.Kill()
				return
			}
		}
	}()
	return func() { close(done) }
}

// ended waits for ssh, and ends it if it does not, at once if the other side has not ended but was not to be understood. It gives
// its exit status, that of a shell for a signal.
func ended(cmd *exec.Cmd, in io.Closer, why error) int {
	_ = in.Close() // a far side that goes on takes it for a connection that is lost
	if why != nil && !errors.Is(why, io.EOF) {
		_ = cmd.Process.Kill()
	}
	defer time.AfterFunc(leaving, func() { _ = cmd.Process.Kill() }).Stop()
	_ = cmd.Wait()
	return statusOf(cmd)
}

// statusOf is a program's exit status as a shell has it.
func statusOf(cmd *exec.Cmd) int {
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
