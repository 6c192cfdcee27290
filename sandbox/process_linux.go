package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sandbox/shim"
)

// Process is a run that was started.
type Process struct {
	plan    Plan
	cmd     *exec.Cmd
	ctx     context.Context
	started time.Time
	// first is the sandbox's first process (a pidfd), -1 until known; with it everything inside ends.
	first    atomic.Int64
	firstPID atomic.Int64
	// doomed says that it was to be killed, perhaps before its first process was known.
	doomed   atomic.Bool
	printed  atomic.Int64
	limit    atomic.Pointer[string]
	copies   sync.WaitGroup
	reads    sync.WaitGroup
	watching sync.WaitGroup
	going    sync.WaitGroup
	status   statusReport
	complain tail
	// exited is closed at bubblewrap's end, and waited is then what that was. begun is closed when the program of a sandbox
	// that was made ahead begins its run.
	exited  chan struct{}
	waited  error
	begun   chan struct{}
	control *Control
	// over is closed when the shim has reported the program's end, and that every other process is gone.
	over    chan struct{}
	hearing sync.WaitGroup
	// begin and finish close begun and over.
	begin, finish func()
	// pipes are our ends of the status and the info pipe and of the control socket; outputs and input are the program's.
	pipes   []*os.File
	outputs streamPair
	input   *os.File
	// group bounds it; nil is none, and then ungrouped is why, if the plan has one.
	group     *cgroup.Group
	ungrouped error
}

// Run starts a plan and waits for its end; every process of the run is gone when it returns, and the sandbox itself is, or is
// about to be. The error is a *StartError when the program never ran. When ctx ends, the run is killed and End says Cancelled.
func Run(ctx context.Context, plan Plan, streams IO) (End, error) {
	done := make(chan outcome, 1)
	go func() {
		// The parent-death signal, which ends the sandbox when this process is killed, goes by thread
		// (prctl(2)): the thread that forks must live as long as the run does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		run(ctx, plan, streams, done)
	}()
	o := <-done
	return o.end, o.err
}

func run(ctx context.Context, plan Plan, streams IO, done chan<- outcome) {
	defer closeFiles(streams.Tree)
	if err := ctx.Err(); err != nil {
		done <- outcome{End{ExitCode: -1, Cancelled: true}, nil}
		return
	}
	p := newProcess(plan)
	if err := p.start(streams.Stdin != nil && !plan.NoInput); err != nil {
		done <- outcome{End{ExitCode: -1}, err}
		return
	}
	p.attach(ctx, streams)
	p.letGo(streams)
	p.wait(done)
}

func newProcess(plan Plan) *Process {
	p := &Process{plan: plan, exited: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{})}
	p.begin, p.finish = sync.OnceFunc(func() { close(p.begun) }), sync.OnceFunc(func() { close(p.over) })
	p.first.Store(-1)
	return p
}

// start opens what the plan asks for and executes the backend. Nobody reads or feeds it yet: see attach.
func (p *Process) start(hasInput bool) error {
	var opened []*os.File
	started := false
	defer func() {
		closeFiles(opened...)
		if !started {
			closeFiles(append(p.pipes, append(p.outputs.readers[:], p.input)...)...)
		}
	}()
	extra, pipes, err := p.descriptors(&opened)
	p.pipes = pipes
	if err != nil {
		return err
	}
	cmd := exec.Command(p.plan.Argv[0], p.plan.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{}, "/", extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	complaints, err := p.openComplaints(cmd, &opened)
	if err != nil {
		return err
	}
	if p.input, err = p.openInput(cmd, hasInput, &opened); err != nil {
		return err
	}
	p.started = time.Now()
	if p.cmd, err = p.execute(cmd); err != nil {
		return &StartError{Step: StepBackend, Err: err}
	}
	started = true
	go p.reap()
	p.listen(pipes[:2])
	p.reads.Go(func() {
		defer complaints.Close()
		_, _ = io.Copy(&p.complain, complaints)
	})
	return nil
}

// attach gives a process that was started its run: its streams, and a context that ends it.
func (p *Process) attach(ctx context.Context, streams IO) {
	p.ctx = ctx
	if p.control = streams.Control; p.control == nil {
		p.control = new(Control)
	}
	p.hearing.Go(func() { p.hear(p.pipes[2], streams) })
	p.outputs.copy(p, streams)
	p.feed(p.input, streams.Stdin, streams.Ready)
}

// letGo opens the way to the shim, which waits for that, when the caller is ready.
func (p *Process) letGo(streams IO) {
	to := p.pipes[2]
	open := func() {
		p.control.open(to, shim.Order{Times: streams.Times}, streams.Tree)
		closeFiles(streams.Tree)
	}
	if streams.Ready == nil {
		open()
		return
	}
	p.going.Go(func() {
		select {
		case <-streams.Ready:
			open()
		case <-p.ctx.Done(): // then the shim ends by itself
			_ = to.Close()
		case <-p.exited:
			_ = to.Close()
		}
	})
}

// listen reads the two reports: the status to its end, and the first process's number.
func (p *Process) listen(pipes []*os.File) {
	p.reads.Add(2)
	go func() {
		defer p.reads.Done()
		defer pipes[0].Close()
		_, _ = io.Copy(reportWriter{p}, io.LimitReader(pipes[0], 64<<10))
	}()
	go func() {
		defer p.reads.Done()
		defer pipes[1].Close()
		var info struct {
			ChildPID int `json:"child-pid"`
		}
		if json.NewDecoder(pipes[1]).Decode(&info) == nil {
			p.found(info.ChildPID)
		}
	}()
}

func (p *Process) found(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		p.firstPID.Store(int64(pid))
		p.first.Store(int64(fd))
	}
	if p.doomed.Load() {
		p.kill()
	}
}

// end kills the run because of a limit; the first reason stays.
func (p *Process) end(limit string) {
	p.limit.CompareAndSwap(nil, &limit)
	p.kill()
}

// kill ends the sandbox's first process, with which the kernel ends every other, and lets bubblewrap see
// it. Where that process is not known yet, found does it in a moment. Bubblewrap itself must live until then: its
// child asks to die with it only after it has waited for its word, and would wait forever (bubblewrap.c, child_wait_fd).
func (p *Process) kill() {
	p.doomed.Store(true)
	if fd := p.first.Load(); fd >= 0 && unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) != nil {
		_ = p.cmd.Process.Kill()
	}
}

// killGroup ends bubblewrap and, while it starts, the first process that it has just made: on its own that one would
// wait for its parent for ever (before it asks to die with it), and hold our pipes.
func (p *Process) killGroup() {
	select {
	case <-p.exited: // the number may be another's
	default:
		_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	}
	_ = p.cmd.Process.Kill()
	if p.group != nil {
		p.group.Kill()
	}
}

// wait gives the outcome as soon as the program and all that it started have ended, and returns when the sandbox is gone.
func (p *Process) wait(done chan<- outcome) {
	p.watching.Go(p.watch)
	told := false
	select {
	case <-p.over:
		if told = !p.plan.Terminal; told { // what a terminal still shows comes by way of the sandbox
			p.going.Wait()
			p.control.close(p.pipes[2])
			p.hearing.Wait()
			p.copies.Wait()
			done <- p.outcome()
		}
	case <-p.exited:
	}
	<-p.exited
	p.going.Wait() // the way in is opened by now, or never
	p.control.close(p.pipes[2])
	p.hearing.Wait()
	p.reads.Wait()
	p.lastProcess()
	p.copies.Wait()
	p.watching.Wait()
	if fd := p.first.Load(); fd >= 0 { // only now: whoever could still kill is done, and the number may be given to another run's
		_ = unix.Close(int(fd))
	}
	defer p.leaveGroup()
	if !told {
		done <- p.outcome()
	}
}

func (p *Process) outcome() outcome {
	end, err := p.conclude()
	p.tally(&end)
	return outcome{end, err}
}

// reap waits for bubblewrap's end, and ends what would outlive it, for ever, and hold our pipes. The first process asks to die
// with its parent only when it has made all mounts (do_init in bubblewrap.c). Until it has a session of its own it is in the
// group of that parent, whose number is not free yet; from then on it is known, since it goes on only when it was told of.
func (p *Process) reap() {
	for errors.Is(unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	p.waited = p.cmd.Wait()
	p.kill()
	close(p.exited)
}

// lastProcess waits until the sandbox's first process is gone, which is after all others are
// (pid_namespaces(7)): bubblewrap's end alone does not say so when it was killed.
func (p *Process) lastProcess() {
	fd := int(p.first.Load())
	if fd < 0 {
		return
	}
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 5000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n > 0 || err != nil {
			return
		}
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// watch ends the run when its context ends or a limit that only an onlooker can hold is passed.
func (p *Process) watch() {
	var timeout <-chan time.Time
	var clock *time.Timer
	if p.plan.Limits.Time > 0 {
		clock = time.NewTimer(p.plan.Limits.Time)
		defer clock.Stop()
		timeout = clock.C
	}
	var look <-chan time.Time
	if !p.plan.Keeps {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		look = t.C
	}
	for {
		select {
		case <-p.over: // what is left is no run's any more
			return
		case <-p.exited:
			return
		case <-p.ctx.Done():
			p.kill()
			p.insist()
			return
		case <-timeout:
			if left := p.control.timeLeft(p.plan.Limits.Time, p.started); left > 0 {
				clock.Reset(left)
				continue
			}
			p.end(LimitTime)
			p.insist()
			return
		case <-look:
			p.weigh()
		}
	}
}

// insist kills bubblewrap itself if it has not ended soon after the kill.
func (p *Process) insist() {
	for {
		select {
		case <-p.exited:
			return
		case <-time.After(2 * time.Second):
			p.kill()
			p.killGroup()
		}
	}
}

// weigh holds the run against its memory and process limits. The shim goes on if the program stopped it, as
// it may by its user id: nobody else would notice the program's end.
func (p *Process) weigh() {
	pid := int(p.firstPID.Load())
	if pid == 0 {
		return
	}
	first := children(pid)
	var w weight
	if p.group != nil { // the kernel does it
		for _, child := range first {
			w.add(child)
		}
	} else {
		w = p.weighAll(pid)
	}
	for _, stopped := range w.stopped {
		if slices.Contains(first, stopped) && isShim(stopped) {
			_ = unix.Kill(stopped, unix.SIGCONT)
		}
	}
}

func (p *Process) weighAll(pid int) weight {
	l := p.plan.Limits
	w := weighTree(pid, l.Processes)
	if l.Memory > 0 && w.private+w.shared > l.Memory {
		p.end(LimitMemory)
	}
	if l.Processes > 0 && w.count > l.Processes+ownThreads {
		p.end(LimitProcesses)
	}
	return w
}

// isShim tells the shim from orphans, which are children of the first process as well.
func isShim(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && string(text) == shim.Program+"\x00"
}
