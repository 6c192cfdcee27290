package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// descriptors makes the inherited files: contents in memory, and the two pipes that report.
// pipes are our ends of the status, the info and the control pipe, in this order.
func (p *Process) descriptors(opened *[]*os.File) (extra, pipes []*os.File, err error) {
	pipes = make([]*os.File, 3)
	for i, in := range p.plan.Inputs {
		var f *os.File
		switch 3 + i {
		case p.plan.StatusFD:
			pipes[0], f, err = os.Pipe()
		case p.plan.InfoFD:
			pipes[1], f, err = os.Pipe()
		case p.plan.ControlFD:
			f, pipes[2], err = os.Pipe()
		default:
			f, err = memoryFile(in)
		}
		if err != nil {
			return nil, pipes, fmt.Errorf("opening a descriptor for the sandbox: %w", err)
		}
		*opened = append(*opened, f)
		extra = append(extra, f)
	}
	return extra, pipes, nil
}

// memoryFile is a file in memory with the given contents, at its start (memfd_create(2)).
func memoryFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("sidecar", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err := f.Write(data); err != nil {
		return nil, errors.Join(fmt.Errorf("filling a file in memory: %w", err), f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

type streamPair struct {
	readers [2]*os.File
	writers [2]io.Writer
}

// outputs are always pipes: a descriptor of the host's own (a terminal, a file) could be used for more than
// printing. Until the shim speaks, standard error is the backend's, and is kept for its diagnosis.
func (p *Process) outputs(cmd *exec.Cmd, streams IO, opened *[]*os.File) (streamPair, error) {
	pair := streamPair{writers: [2]io.Writer{streams.Stdout, streams.Stderr}}
	for i := range pair.readers {
		r, w, err := os.Pipe()
		if err != nil {
			return pair, fmt.Errorf("opening a pipe: %w", err)
		}
		pair.readers[i] = r
		*opened = append(*opened, w)
		if i == 0 {
			cmd.Stdout = w
		} else {
			cmd.Stderr = w
		}
	}
	return pair, nil
}

func (p *Process) input(cmd *exec.Cmd, streams IO, opened *[]*os.File) (*os.File, error) {
	if streams.Stdin == nil {
		return nil, nil // os/exec opens the null device
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("opening a pipe: %w", err)
	}
	*opened = append(*opened, r)
	cmd.Stdin = r
	return w, nil
}

// feed copies the input. It is not waited for: a reader may never end, and a program need not read.
func (p *Process) feed(w *os.File, from io.Reader, ready <-chan struct{}) {
	if w == nil {
		return
	}
	go func() {
		defer w.Close()
		if ready != nil {
			select { // what is read for a program that never starts is lost for the next try
			case <-ready:
			case <-p.exited:
				return
			}
		}
		_, _ = io.Copy(w, from)
	}()
}

func (s streamPair) copy(p *Process) {
	for i, r := range s.readers {
		p.copies.Add(1)
		go func() {
			defer p.copies.Done()
			defer r.Close()
			to := s.writers[i]
			if to == nil {
				to = io.Discard
			}
			if i == 1 {
				to = io.MultiWriter(&p.complain, to)
			}
			_, _ = io.Copy(&counted{p, to}, r)
		}()
	}
}

// counted passes output on until the run has printed more than its limit; then it ends the run.
type counted struct {
	p  *Process
	to io.Writer
}

func (c *counted) Write(b []byte) (int, error) {
	limit := c.p.plan.Limits.Output
	total := c.p.printed.Add(int64(len(b)))
	if limit > 0 && total > limit {
		if keep := int64(len(b)) - (total - limit); keep > 0 {
			_, _ = c.to.Write(b[:keep])
		}
		c.p.end(LimitOutput)
		return len(b), nil // read on, so that the pipe never blocks what is being killed
	}
	_, _ = c.to.Write(b) // a client that stopped reading must not stop the run's other stream
	return len(b), nil
}

// tail keeps the last bytes written.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - 4096; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}
