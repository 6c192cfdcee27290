package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// descriptors makes the inherited files: contents in memory, the pipes that report, and the program's outputs. Those are
// always pipes: a descriptor of the host's own (a terminal, a file) could be used for more than printing.
// pipes are our ends of the status and the info pipe and of the control socket, in this order.
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
			f, pipes[2], err = connected("control")
		case p.plan.OutFD:
			p.outputs.readers[0], f, err = os.Pipe()
		case p.plan.ErrFD:
			p.outputs.readers[1], f, err = os.Pipe()
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

type streamPair struct{ readers [2]*os.File }

// openComplaints is where the backend itself prints, for its diagnosis.
func (p *Process) openComplaints(cmd *exec.Cmd, opened *[]*os.File) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("opening a pipe: %w", err)
	}
	*opened = append(*opened, w)
	cmd.Stderr = w
	return r, nil
}

func (p *Process) openInput(cmd *exec.Cmd, has bool, opened *[]*os.File) (*os.File, error) {
	if !has || p.plan.Terminal {
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
	if from == nil {
		_ = w.Close()
		return
	}
	go func() {
		defer w.Close()
		if p.begins(ready) {
			_, _ = io.Copy(w, from)
		}
	}()
}

// begins waits until the caller is ready for the program: what is read for one that never starts is lost for the next try.
func (p *Process) begins(ready <-chan struct{}) bool {
	if ready == nil {
		return true
	}
	select {
	case <-ready:
		return true
	case <-p.exited:
		return false
	}
}

// counts passes output on to a writer, nil for nobody.
func (p *Process) counts(to io.Writer) io.Writer {
	return &counted{most: p.plan.Limits.Output, printed: &p.printed, end: p.end, to: to}
}

func (s streamPair) copy(p *Process, streams IO) {
	writers := [2]io.Writer{streams.Stdout, streams.Stderr}
	for i, r := range s.readers {
		p.copies.Add(1)
		go func() {
			defer p.copies.Done()
			defer r.Close()
			_, _ = io.Copy(p.counts(writers[i]), r)
		}()
	}
}
