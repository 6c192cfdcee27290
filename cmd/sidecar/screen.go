package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"code.sidecar.dev/sidecar/protocol"
)

// screen is the person's terminal while a program of a sandbox has it: raw, so that every key is the program's, whose own
// terminal (another one, inside) makes of it what it means. The program never holds this one.
type screen struct {
	in, out *os.File
	relay   *relay

	mu    sync.Mutex
	saved *term.State
	// sizing has the sizes reach the program in their order.
	sizing sync.Mutex
}

// screen is where a session can be shown: standard input and output are a terminal, and ours to use.
func (t terminal) screen() (*screen, bool) {
	out, ok := t.out.(*os.File)
	if !ok || t.in == nil || !term.IsTerminal(int(t.in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, false
	}
	return &screen{in: t.in, out: out}, inForeground(t.in)
}

// terminal is what the program is told of it.
func (s *screen) terminal() *protocol.Terminal {
	columns, rows, _ := term.GetSize(int(s.out.Fd()))
	return &protocol.Terminal{Rows: rows, Columns: columns, Term: os.Getenv("TERM"), Color: os.Getenv("COLORTERM")}
}

// begins gives the terminal to the program.
func (s *screen) begins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		s.saved, _ = term.MakeRaw(int(s.in.Fd()))
	}
}

// answers is how long a terminal may take to answer what a program asked it last.
const answers = 50 * time.Millisecond

// close gives the terminal back for good. What it still answers to the program (where the cursor is, its title, whatever
// the program had it say) would be typed into the person's shell, which is one way to type there; so it is thrown away.
func (s *screen) close() {
	s.mu.Lock()
	used := s.saved != nil
	s.mu.Unlock()
	if used {
		time.Sleep(answers)
		flushInput(s.in)
	}
	s.restore()
}

// again makes a terminal raw that the program has.
func (s *screen) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved != nil && inForeground(s.in) {
		_, _ = term.MakeRaw(int(s.in.Fd()))
	}
}

// restore gives the terminal back as it was.
func (s *screen) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved != nil {
		_ = term.Restore(int(s.in.Fd()), s.saved)
		s.saved = nil
	}
}

// changed tells the program the terminal's size, and has the terminal raw again: while this process was stopped, other
// than by suspend, the shell had its own modes.
func (s *screen) changed(ctx context.Context, r program) {
	s.again()
	s.sizing.Lock()
	defer s.sizing.Unlock()
	if columns, rows, err := term.GetSize(int(s.out.Fd())); err == nil {
		_ = r.Resize(ctx, rows, columns)
	}
}

// suspend gives the person's shell its turn while the program is stopped, as when it ran in this terminal itself; when
// the shell lets this process go on, so does the program.
func (s *screen) suspend(ctx context.Context) {
	r, ok := s.relay.program()
	if !ok {
		return
	}
	s.close()
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, unix.SIGCONT)
	defer signal.Stop(goesOn)
	_ = unix.Kill(0, unix.SIGTSTP) // the whole job, as the terminal does
	select {
	case <-goesOn:
	case <-time.After(notStopped): // nobody would let us go on, so the kernel has not stopped us (setpgid(2), orphaned groups)
	}
	s.begins()
	s.changed(ctx, r)
	_ = r.Signal(ctx, "CONT")
}

// notStopped is after how long a stop has not happened.
const notStopped = 200 * time.Millisecond
