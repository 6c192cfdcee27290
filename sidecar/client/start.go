package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/logs"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// Ready is what a sidecar that was just started writes to the descriptor ReadyFD, as one line of JSON.
type Ready struct {
	// Held says that another one serves the workspace.
	Held bool `json:"held,omitempty"`
	// Error is why it does not serve.
	Error *protocol.Error `json:"error,omitempty"`
}

// ReadyFD is where a sidecar that a client starts says that it serves.
const ReadyFD = 3

// start has a sidecar of our own program serve the workspace, in a session of its own, so that it outlives us and no
// terminal's signals reach it. It returns when that one serves; the error is place.ErrHeld when another one does.
func start(ctx context.Context, root string, o Options) error {
	cmd, err := command(root, o)
	if err != nil {
		return err
	}
	if log, ok := cmd.Stderr.(*os.File); ok {
		defer log.Close()
	}
	keepInherited() // a lock or a pipe of whoever started us is not for what outlives us
	if in := scoped(cmd); in != nil {
		bounded, stop := context.WithTimeout(ctx, patienceScope)
		defer stop()
		if err = execute(bounded, in, false); !errors.Is(err, errUnanswered) || ctx.Err() != nil {
			return err
		}
		if in.Process != nil { // it hangs, or has ended
			_ = in.Process.Kill()
		}
	}
	return execute(ctx, cmd, o.Program == "")
}

// execute starts a sidecar and waits for its word; isOwn says that the command is this program.
func execute(ctx context.Context, cmd *exec.Cmd, isOwn bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	if err = cmd.Start(); err != nil && isOwn && runtime.GOOS == "linux" { // removed, or just being written: then as we are (proc(5))
		cmd = replaced(cmd, "/proc/self/exe")
		err = cmd.Start()
	}
	_ = w.Close()
	if err != nil {
		return &protocol.Error{Kind: protocol.Gone, Message: fmt.Sprintf("starting a sidecar: %v", err), Hint: "if sidecar was moved or updated, start this program anew", Err: errors.Join(errUnanswered, err)}
	}
	go func() { _ = cmd.Wait() }() // or it would stay as a zombie if it ends before us
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	return answer(r, cmd.Stderr)
}

// errUnanswered is a sidecar that has said nothing.
var errUnanswered = errors.New("no word from it")

// replaced is a command that could not be started, with another program.
func replaced(cmd *exec.Cmd, program string) *exec.Cmd {
	next := exec.Command(program, cmd.Args[1:]...) //nolint:noctx // it outlives us
	next.Dir, next.Stderr, next.SysProcAttr, next.ExtraFiles = cmd.Dir, cmd.Stderr, cmd.SysProcAttr, cmd.ExtraFiles
	return next
}

// answer reads what the new sidecar says.
func answer(r io.Reader, log io.Writer) error {
	var ready Ready
	if err := json.NewDecoder(io.LimitReader(r, 64<<10)).Decode(&ready); err != nil {
		name := ""
		if f, ok := log.(*os.File); ok {
			name = f.Name()
		}
		return &protocol.Error{Kind: protocol.Gone, Message: "the sidecar that was started ended at once", Hint: "its log is " + name + lastWords(name), Err: errors.Join(errUnanswered, err)}
	}
	switch {
	case ready.Held:
		return place.ErrHeld
	case ready.Error != nil:
		return ready.Error
	}
	return nil
}

// lastWords is the end of a log.
func lastWords(name string) string {
	b, err := os.ReadFile(name)
	if err != nil || len(b) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return "; it ends with: " + lines[len(lines)-1]
}

func command(root string, o Options) (*exec.Cmd, error) {
	program := o.Program
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		program = self
	}
	log, err := logFile(root)
	if err != nil { // the log is for people who look into a problem: no reason to have another one
		if log, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return nil, err
		}
	}
	args := []string{"serve", "--workspace", root, fmt.Sprintf("--ready-fd=%d", ReadyFD)}
	if o.ExplicitConfig != "" { // what it says of the log
		args = append(args, "--config", o.ExplicitConfig)
	}
	cmd := exec.Command(program, args...) //nolint:noctx // it outlives us
	cmd.Dir = "/"
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// LogPath is the file of the log of a workspace's sidecar.
func LogPath(state, root string) (string, error) {
	p, err := place.Of(root)
	if err != nil {
		return "", err
	}
	return logs.Path(state, p.Name()), nil
}

// logFile is where a workspace's sidecar writes what a person who looks into a problem wants to read. It sees to its size
// itself; what it gets as standard error is for what the Go runtime says of a crash.
func logFile(root string) (*os.File, error) {
	state, err := config.StateDir()
	if err != nil {
		return nil, config.NoState(err)
	}
	path, err := LogPath(state, root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
}
