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

	mu    sync.Mutex
	reach program
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
	switch {
	case sig == unix.SIGWINCH || sig == unix.SIGCONT:
		if ok && r.changed != nil {
			r.changed(ctx, to)
		}
	case !ok:
		r.stop()
	default:
		if sig == unix.SIGTERM || sig == unix.SIGHUP { // first: a sidecar that hangs does not answer
			time.AfterFunc(cmp.Or(r.grace, graceful), r.stop)
		}
		if n, isNumber := sig.(syscall.Signal); isNumber {
			_ = to.Signal(ctx, strings.TrimPrefix(unix.SignalName(n), "SIG"))
		}
	}
}
