package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
)

// relay hands the signals of this process on to the program of a session, which decides by itself what it does. What
// ends processes ends the session if the program does not end by it soon; before there is a program, at once.
type relay struct {
	// stop ends the session.
	stop func()
	// changed is told when this terminal has another size, or may have other modes since this process was stopped; nil is
	// nobody.
	changed func(context.Context, program)
	// grace is how long the program has to end by a signal that ends programs; 0 is graceful.
	grace time.Duration
	// firm is for a program that nobody deals with on a terminal: every signal ends programs, and the second one the session.
	firm bool

	mu    sync.Mutex
	reach program
	// first is the first signal that came to end the program, at its time.
	first syscall.Signal
	at    time.Time
}

// program is one that goes on elsewhere: in a sandbox (client.Reach), or on another machine (remote.Link).
type program interface {
	Signal(ctx context.Context, name string) error
	Resize(ctx context.Context, rows, columns int) error
}

// graceful is how long a program has to end by a signal that ends programs.
const graceful = 5 * time.Second

// begins takes note of the program.
func (r *relay) begins(to program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reach = to
}

func (r *relay) program() (program, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reach, r.reach != nil
}

// follow hands signals on until ctx ends.
func (r *relay) follow(ctx context.Context) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, heeded(unix.SIGWINCH, unix.SIGCONT, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)...)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-ctx.Done():
				return
			case sig := <-signals:
				r.pass(ctx, sig)
			}
		}
	}()
}

func (r *relay) pass(ctx context.Context, sig os.Signal) {
	ctx, done := context.WithTimeout(ctx, time.Second) // a sidecar that hangs keeps no later signal back
	defer done()
	to, ok := r.program()
	if sig != unix.SIGWINCH && sig != unix.SIGCONT {
		r.end(ctx, to, sig)
	} else if ok && r.changed != nil {
		r.changed(ctx, to)
	}
}

// end hands on what ends programs; to is nil where there is none yet.
func (r *relay) end(ctx context.Context, to program, sig os.Signal) {
	before := r.noted(sig)
	switch {
	case to == nil || r.firm && before > doubled:
		r.stop()
		return
	case r.firm && before > 0:
		return
	case r.firm || sig == unix.SIGTERM || sig == unix.SIGHUP: // first: a sidecar that hangs does not answer
		time.AfterFunc(cmp.Or(r.grace, graceful), r.stop)
	}
	if n, isNumber := sig.(syscall.Signal); isNumber {
		_ = to.Signal(ctx, strings.TrimPrefix(unix.SignalName(n), "SIG"))
	}
}

// doubled is how soon after a signal another one is the same again: timeout(1) signals a process, and then its group.
const doubled = 200 * time.Millisecond

// noted takes note of a signal that ends programs, and says how long ago the first one came; 0 is that this is it.
func (r *relay) noted(sig os.Signal) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first != 0 {
		return time.Since(r.at)
	}
	if n, isNumber := sig.(syscall.Signal); isNumber {
		r.first, r.at = n, time.Now()
	}
	return 0
}

// cancelled is the exit status of what was cancelled: that of a program which the first signal ended.
func (r *relay) cancelled() exitStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return exitStatus(128 + int(cmp.Or(r.first, unix.SIGINT)))
}

// direct is a program in a sandbox of this very process.
type direct struct{ to *sandbox.Control }

func (d direct) Signal(_ context.Context, name string) error {
	d.to.Signal(int(unix.SignalNum("SIG" + name)))
	return nil
}

func (d direct) Resize(context.Context, int, int) error { return nil }
