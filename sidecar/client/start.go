package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"code.sidecar.dev/sidecar/config"
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
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	keepInherited() // a lock or a pipe of whoever started us is not for what outlives us
	err = cmd.Start()
	_ = w.Close()
	if log, ok := cmd.Stderr.(*os.File); ok {
		defer log.Close()
	}
	if err != nil {
		return &protocol.Error{Kind: protocol.Gone, Message: fmt.Sprintf("starting a sidecar: %v", err), Hint: "if sidecar was moved or updated, start this program anew", Err: err}
	}
	go func() { _ = cmd.Wait() }() // or it would stay as a zombie if it ends before us
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	return answer(r, cmd.Stderr)
}

// answer reads what the new sidecar says.
func answer(r io.Reader, log io.Writer) error {
	var ready Ready
	if err := json.NewDecoder(io.LimitReader(r, 64<<10)).Decode(&ready); err != nil {
		name := ""
		if f, ok := log.(*os.File); ok {
			name = f.Name()
		}
		return &protocol.Error{Kind: protocol.Gone, Message: "the sidecar that was started ended at once", Hint: "its log is " + name + lastWords(name), Err: err}
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
	cmd := exec.Command(program, "serve", "--workspace", root, fmt.Sprintf("--ready-fd=%d", ReadyFD)) //nolint:noctx // it outlives us
	cmd.Dir = "/"
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// maxLog is how large a log may grow before it is begun anew.
const maxLog = 1 << 20

// logFile is where a workspace's sidecar writes what a person who looks into a problem wants to read.
func logFile(root string) (*os.File, error) {
	state, err := config.StateDir()
	if err != nil {
		return nil, &protocol.Error{Kind: protocol.Denied, Message: "the state folder: " + err.Error(), Hint: "set XDG_STATE_HOME to a folder of your own", Err: err}
	}
	p, err := place.Of(root)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(state, "log")
	name := filepath.Join(dir, strings.TrimSuffix(filepath.Base(p.Lock), filepath.Ext(p.Lock))+".log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND | syscall.O_NOFOLLOW
	if info, err := os.Lstat(name); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(name, flags, 0o600)
}
