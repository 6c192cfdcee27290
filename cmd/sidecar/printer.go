package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sidecar/protocol"
)

// printer prints a run's output as it comes. It waits for whoever reads it, so that the program waits too, but no
// longer than until the run is cancelled; what cannot be written ends the run.
type printer struct {
	ctx  context.Context
	stop context.CancelFunc
	t    terminal

	mu  sync.Mutex
	err error
}

func (p *printer) write(s protocol.Stream, b []byte) {
	if p.ctx.Err() != nil {
		return
	}
	to := p.t.out
	if s == protocol.Stderr {
		to = p.t.err
	}
	b = append([]byte(nil), b...)
	written := make(chan struct{})
	go func() {
		defer close(written)
		if _, err := to.Write(b); err != nil {
			p.fail(err)
		}
	}()
	select {
	case <-written:
	case <-p.ctx.Done():
	}
}

func (p *printer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		p.stop()
	}
}

// failed says that output could not be written.
func (p *printer) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return &protocol.Error{Kind: protocol.Internal, Message: fmt.Sprintf("the output cannot be written: %v", p.err), Hint: "the run was cancelled; `sidecar output` has what it printed", Err: p.err}
}

// inForeground says that reading from a terminal would not stop us (SIGTTIN, termios(3)).
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
