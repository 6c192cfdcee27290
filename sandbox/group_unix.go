//go:build darwin || linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox/processes"
	"code.sidecar.dev/sandbox/shim"
)

// group is a run whose processes no namespace holds together: its guardian is the shim (shim.Plain), which the backend's
// program becomes, and its processes are followed.
type group struct {
	plan    Plan
	ctx     context.Context
	streams IO
	control *Control
	started time.Time
	cmd     *exec.Cmd
	// terminal is the controlling side of the program's; members is the way to ask the guardian who is of its sandbox, and way
	// the one to tell it what to do.
	terminal, members, way *os.File
	// status is where the guardian's report comes from.
	status   *os.File
	follow   *processes.Follower
	printed  atomic.Int64
	limit    atomic.Pointer[string]
	complain tail
	copies   sync.WaitGroup
	// reported is closed when the guardian has said how the program ended, or is gone; report is what it said. exited is
	// closed when the guardian is gone.
	reported, exited chan struct{}
	report           bytes.Buffer
}

// runGroup is Run where there are no namespaces.
func runGroup(ctx context.Context, plan Plan, streams IO) (End, error) {
	if ctx.Err() != nil {
		return End{ExitCode: -1, Cancelled: true}, nil
	}
	if p := plan.Private; p != nil {
		if err := p.make(); err != nil {
			return End{ExitCode: -1}, err
		}
		defer p.remove()
	}
	g := &group{plan: plan, ctx: ctx, streams: streams, control: streams.Control, reported: make(chan struct{}), exited: make(chan struct{})}
	if g.control == nil {
		g.control = new(Control)
	}
	files, err := g.start()
	if err != nil {
		return End{ExitCode: -1}, err
	}
	g.serve(files)
	g.watch()
	g.clear()
	return g.conclude()
}

// ends are our ends of what the guardian and the program have.
type ends struct{ work, status, control, in, out, err *os.File }

// start opens what the guardian inherits, in the order of its descriptors, and executes the backend.
func (g *group) start() (ends, error) {
	var e ends
	var theirs []*os.File
	defer func() { closeFiles(theirs...) }()
	fail := func(err error) (ends, error) {
		closeFiles(e.work, e.status, e.control, e.in, e.out, e.err, g.members, g.terminal)
		return e, err
	}
	pipe := func(ours *(*os.File), reads bool) error {
		r, w, err := os.Pipe()
		if err == nil && reads {
			*ours, theirs = r, append(theirs, w)
		} else if err == nil {
			*ours, theirs = w, append(theirs, r)
		}
		return err
	}
	if err := errors.Join(pipe(&e.work, false), pipe(&e.status, true)); err != nil {
		return fail(err)
	}
	their, ours, err := connected("control")
	if err != nil {
		return fail(err)
	}
	e.control, g.way, theirs = ours, ours, append(theirs, their)
	line, err := g.openTerminal()
	if err != nil {
		return fail(err)
	}
	theirs = append(theirs, line)
	if their, g.members, err = connected("members"); err != nil {
		return fail(err)
	}
	theirs = append(theirs, their)
	extra := len(theirs)
	if err := errors.Join(pipe(&e.in, false), pipe(&e.out, true), pipe(&e.err, true)); err != nil {
		return fail(err)
	}
	cmd := exec.Command(g.plan.Argv[0], g.plan.Argv[1:]...) //nolint:gosec // the plan's
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{}, "/", theirs[:extra]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[extra], theirs[extra+1], theirs[extra+2]
	if g.plan.NoInput {
		cmd.Stdin = nil // os/exec opens the null device
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	g.cmd, g.started = cmd, time.Now()
	if err := cmd.Start(); err != nil {
		return fail(&StartError{Step: StepBackend, Err: err})
	}
	g.follow = processes.Follow(cmd.Process.Pid)
	return e, nil
}

// serve copies the streams, and lets the guardian begin when the caller is ready.
func (g *group) serve(e ends) {
	go func() {
		_, _ = e.work.Write(g.plan.Inputs[0])
		closeFiles(e.work)
	}()
	g.status = e.status
	go g.listen(e.status)
	go g.hear(e.control)
	go func() {
		_ = g.cmd.Wait()
		close(g.exited)
	}()
	g.copies.Go(func() { copyFrom(e.out, g.counts(g.streams.Stdout)) })
	g.copies.Go(func() { copyFrom(e.err, io.MultiWriter(&g.complain, g.counts(g.streams.Stderr))) })
	if t := g.terminal; t != nil {
		g.control.has(t)
		g.copies.Go(func() {
			copyFrom(t, g.counts(g.streams.Stdout))
			g.control.has(nil)
		})
	}
	go g.begin(e)
}

// begin waits for the caller, and then feeds the program.
func (g *group) begin(e ends) {
	to := e.in
	if g.terminal != nil {
		to = g.terminal
		closeFiles(e.in)
	}
	if ready := g.streams.Ready; ready != nil {
		select {
		case <-ready:
		case <-g.ctx.Done():
		case <-g.exited:
		}
	}
	if g.ctx.Err() != nil {
		closeFiles(e.control) // the guardian ends by itself
	} else {
		g.control.openUnlessClosed(e.control)
		if g.streams.Stdin != nil {
			_, _ = io.Copy(onlyWriter{to}, g.streams.Stdin)
		}
	}
	if g.terminal == nil {
		closeFiles(e.in)
	}
}

// listen reads the guardian's report, of which the first line says how the program ended.
func (g *group) listen(from *os.File) {
	defer closeFiles(from)
	defer close(g.reported)
	var b [1]byte
	for g.report.Len() < 64<<10 {
		if n, err := from.Read(b[:]); n < 1 || err != nil || b[0] == '\n' {
			return
		}
		g.report.WriteByte(b[0])
	}
}

// heard waits for the report of a guardian that is gone, since its end may be noticed before what it said last. Who else has
// its side of the pipe is not waited for.
func (g *group) heard() string {
	_ = g.status.SetReadDeadline(time.Now().Add(insistAfter)) // fails when it was read to its end
	<-g.reported
	return g.report.String()
}

// hear takes the guardian's records: that its program was stopped.
func (g *group) hear(from *os.File) {
	record := make([]byte, shim.RecordSize)
	for {
		if _, err := io.ReadFull(from, record); err != nil {
			return
		}
		if record[0] == shim.StoppedRecord && g.streams.Stopped != nil {
			g.streams.Stopped(int(record[1]))
		}
	}
}

// copyFrom copies an output until nobody has its other side any more.
func copyFrom(from *os.File, to io.Writer) {
	defer closeFiles(from)
	_, _ = io.Copy(to, onlyReader{from})
}

// counts passes output on to a writer, nil for nobody.
func (g *group) counts(to io.Writer) io.Writer {
	return &counted{most: g.plan.Limits.Output, printed: &g.printed, end: g.end, to: to}
}

// end ends the run because of a limit; the first reason stays.
func (g *group) end(limit string) {
	g.limit.CompareAndSwap(nil, &limit)
	g.control.Signal(int(syscall.SIGKILL))
}

// watch waits for the program's end, and brings it about when the context ends or a limit is passed.
func (g *group) watch() {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	cancelled := g.ctx.Done()
	var killed time.Time
	for {
		select {
		case <-g.reported:
			return
		case <-g.exited:
			return
		case <-cancelled:
			g.control.Signal(int(syscall.SIGKILL))
			cancelled, killed = nil, time.Now()
		case <-look.C:
			g.weigh()
			if g.limit.Load() != nil && killed.IsZero() {
				killed = time.Now()
			}
			if !killed.IsZero() && time.Since(killed) > insistAfter {
				_ = unix.Kill(-g.cmd.Process.Pid, unix.SIGKILL)
				_ = g.cmd.Process.Kill()
			}
		}
	}
}

// insistAfter is how long the guardian may take to end its program before it is ended itself.
const insistAfter = 3 * time.Second

// weigh holds the run against its limits, as far as it is known.
func (g *group) weigh() {
	if l := g.plan.Limits.Time; l > 0 {
		if g.control.timeLeft(l, g.started) <= 0 {
			g.end(LimitTime)
			return
		}
	}
	if g.follow.Look() != nil {
		return
	}
	var memory int64
	count := 0
	for _, p := range g.follow.Members() {
		use, _ := processes.UseOf(p.PID)
		memory, count = memory+use.Memory, count+max(1, use.Threads)
		if p.Stopped && p.PID == g.cmd.Process.Pid { // the program may stop its guardian, which it shares a user with
			_ = unix.Kill(p.PID, unix.SIGCONT)
		}
	}
	switch l := g.plan.Limits; {
	case l.Memory > 0 && memory > l.Memory:
		g.end(LimitMemory)
	case l.Processes > 0 && count > l.Processes+ownThreads:
		g.end(LimitProcesses)
	}
}

// clear ends what is left of the run: what is known of it, and what the guardian knows for one of its sandbox. Each is
// stopped first, so that it makes no more while it is looked for. The guardian goes last.
func (g *group) clear() {
	quiet := 0
	for end := time.Now().Add(clearFor); quiet < 2 && time.Now().Before(end); {
		left := g.endMembers()
		left += g.endStrangers()
		if quiet++; left > 0 {
			quiet = 0
		}
	}
	g.control.close(g.way)
	select {
	case <-g.exited:
	case <-time.After(insistAfter):
		_ = g.cmd.Process.Kill()
		<-g.exited
	}
	closeFiles(g.members)
	if g.terminal != nil {
		_ = g.terminal.Close()
	}
	g.await()
}

// clearFor is how long what is left is looked for.
const clearFor = 10 * time.Second

// await waits for the outputs: who still has one open could not be found. Then they are left alone.
func (g *group) await() {
	done := make(chan struct{})
	go func() {
		g.copies.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(insistAfter):
	}
}

// endMembers kills those that are known, but for the guardian, and says how many there were.
func (g *group) endMembers() int {
	if g.follow.Look() != nil {
		return 0
	}
	n := 0
	for _, sig := range []syscall.Signal{unix.SIGSTOP, unix.SIGKILL} {
		n = 0
		for _, p := range g.follow.Members() {
			if p.PID != g.cmd.Process.Pid {
				_ = unix.Kill(p.PID, sig)
				n++
			}
		}
	}
	return n
}

// endStrangers has the guardian end those of its sandbox among the processes that have started since, and says how many
// there were.
func (g *group) endStrangers() int {
	strangers := g.follow.Strangers()
	select {
	case <-g.exited:
		return 0
	default:
	}
	if len(strangers) == 0 {
		return 0
	}
	question := number(len(strangers))
	for _, p := range strangers {
		question = append(question, number(p.PID)...)
	}
	_ = g.members.SetDeadline(time.Now().Add(insistAfter))
	answer := make([]byte, 4)
	if _, err := g.members.Write(question); err != nil {
		return 0
	}
	if _, err := io.ReadFull(g.members, answer); err != nil {
		return 0
	}
	ended := uint32(answer[0]) | uint32(answer[1])<<8 | uint32(answer[2])<<16 | uint32(answer[3])<<24
	if ended == shim.CannotTell {
		return 0
	}
	return int(ended)
}

func number(n int) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

// openTerminal opens the run's terminal, in the size that the plan names, and gives the program's side. Where it has none the
// null device keeps its place among the descriptors.
func (g *group) openTerminal() (*os.File, error) {
	if !g.plan.Terminal {
		return os.Open(os.DevNull)
	}
	controls, line, err := OpenPair()
	if err != nil {
		return nil, err
	}
	g.terminal = controls
	if work, err := shim.Decode(g.plan.Inputs[0]); err == nil {
		Resize(controls, Terminal{Rows: work.Rows, Columns: work.Columns})
	}
	return line, nil
}
