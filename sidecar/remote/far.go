package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
)

// hangingUp is how long a command may take to end when the connection is lost; a session's program has five seconds of it.
const hangingUp = 10 * time.Second

// Serve does one command for the other side of in and out: program, sidecar itself, with the arguments that come. The command
// is hung up when in ends, or ctx; nothing of it is left when Serve returns. The error is for what the other side was not told.
func Serve(ctx context.Context, in io.Reader, out io.Writer, program string) error {
	runtime.LockOSThread() // the child is bound to the life of the thread that starts it
	defer runtime.UnlockOSThread()
	if _, err := io.WriteString(out, greeting); err != nil {
		return err
	}
	f := &frames{r: in, w: out}
	s, err := f.start()
	if err != nil {
		return err
	}
	cmd, err := s.command(program)
	if err != nil {
		return f.writeJSON(kindEnded, end{Error: protocol.AsError(err)})
	}
	// What is ignored here (by nohup, say) the command would ignore, too; what is caught is the default again there (execve(2)).
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	c := &child{frames: f, cmd: cmd, noInput: s.NoInput, input: make(chan []byte, ahead)}
	status, err := c.run(ctx, s.Terminal)
	return f.writeJSON(kindEnded, end{Status: status, Error: protocol.AsError(err)})
}

// start reads the first frame.
func (f *frames) start() (s Start, err error) {
	k, b, err := f.read()
	if err == nil && k != kindStart {
		err = fmt.Errorf("a frame of kind %q, want what to do", k)
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// command is the command in its folder.
func (s Start) command(program string) (*exec.Cmd, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dir := s.Dir
	if rest, inHome := strings.CutPrefix(dir+"/", "~/"); inHome {
		dir = rest
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(home, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if s.Needed {
			name, _ := os.Hostname()
			return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("there is no folder %q on the host (%s)", dir, name), Hint: "without --workspace it is the one of the same path as here, from the home folder where that is in it; name another: --workspace FOLDER, as it is there", Err: err}
		}
		dir = home
	}
	args := s.Args
	if s.Named {
		args = append([]string{"--workspace=" + dir}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = cmd.Environ()
	if t := s.Terminal; t != nil {
		cmd.Env = append(cmd.Env, "TERM="+t.Term, "COLORTERM="+t.Color)
	}
	return cmd, nil
}

// child is the command while it goes on.
type child struct {
	*frames
	cmd      *exec.Cmd
	noInput  bool
	input    chan []byte
	terminal *os.File
}

// run starts the command and waits for it and for its output.
func (c *child) run(ctx context.Context, t *protocol.Terminal) (status int, err error) {
	begin := c.begin
	if t != nil {
		begin = func() (io.WriteCloser, func(), error) { return c.beginOn(*t) }
	}
	input, wait, err := begin()
	if err != nil {
		return 0, fmt.Errorf("starting %s: %w", c.cmd.Path, err)
	}
	over := make(chan struct{})
	defer close(over)
	go c.feed(input)
	go c.obey()
	go c.beat(over)
	defer context.AfterFunc(ctx, c.hangUp)()
	wait()
	return statusOf(c.cmd), nil
}

// begin starts the command with pipes.
func (c *child) begin() (input io.WriteCloser, wait func(), err error) {
	c.cmd.Stdout, c.cmd.Stderr = sends{c.frames, kindOutput}, sends{c.frames, kindErrors}
	c.cmd.SysProcAttr = bound(&syscall.SysProcAttr{})
	if c.noInput {
		input, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0) // for the input's end, which comes all the same
	} else {
		input, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	return input, func() { _ = c.cmd.Wait() }, err
}

// beginOn starts the command on a new terminal, as the leader of a session.
func (c *child) beginOn(t protocol.Terminal) (input io.WriteCloser, wait func(), err error) {
	controls, line, err := sandbox.OpenPair()
	if err != nil {
		return nil, nil, err
	}
	defer line.Close()
	c.terminal = controls
	sandbox.Resize(controls, sandbox.Terminal{Rows: t.Rows, Columns: t.Columns})
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = line, line, line
	c.cmd.SysProcAttr = bound(&syscall.SysProcAttr{Setsid: true, Setctty: true})
	if err := c.cmd.Start(); err != nil {
		controls.Close()
		return nil, nil, err
	}
	return keepOpen{controls}, func() {
		_, _ = io.Copy(sends{c.frames, kindOutput}, controls) // until nobody has the other side (EIO)
		_ = c.cmd.Wait()
		controls.Close()
	}, nil
}

// keepOpen is a terminal, which the end of the input does not close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// feed has the command read the input.
func (c *child) feed(to io.WriteCloser) {
	for b := range c.input {
		if len(b) == 0 {
			_ = to.Close()
		} else if _, err := to.Write(b); err != nil {
			return // it reads no more: what is on its way is all that is sent
		}
		if c.write(kindTaken, nil) != nil {
			return
		}
	}
}

// obey does what comes, until the connection ends, which hangs the command up.
func (c *child) obey() {
	defer c.hangUp()
	for {
		k, b, err := c.read()
		if err != nil || c.do(k, b) != nil {
			return
		}
	}
}

var errUnknown = errors.New("not what the other side may send")

func (c *child) do(k kind, b []byte) error {
	switch k {
	case kindInput:
		select {
		case c.input <- b:
			return nil
		default: // more than it may
			return errUnknown
		}
	case kindSignal:
		if sig := unix.SignalNum("SIG" + string(b)); sig != 0 {
			_ = c.cmd.Process.Signal(sig)
			return nil
		}
	case kindSize:
		var t protocol.Terminal
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		if c.terminal != nil {
			sandbox.Resize(c.terminal, sandbox.Terminal{Rows: t.Rows, Columns: t.Columns})
		}
		return nil
	}
	return errUnknown
}

// hangUp ends the command as the loss of a terminal does, and if it will not, at once.
func (c *child) hangUp() {
	_ = c.cmd.Process.Signal(syscall.SIGHUP)
	time.AfterFunc(hangingUp, func() { _ = c.cmd.Process.Kill() })
}

// beat gives signs of life. They are also what has the kernel notice that the other machine is gone.
func (c *child) beat(over <-chan struct{}) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			_ = c.write(kindAlive, nil)
		}
	}
}
