package sandbox

import (
	"bytes"
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
	printed  atomic.Int64
	limit    atomic.Pointer[string]
	copies   sync.WaitGroup
	reads    sync.WaitGroup
	watching sync.WaitGroup
	going    sync.WaitGroup
	status   bytes.Buffer
	complain tail
	exited   chan struct{}
	late     *Late
}

// Run starts a plan and waits for its end; every process of the run is gone when it returns. The error is a
// *StartError when the program never ran. When ctx ends, the run is killed and End says Cancelled.
func Run(ctx context.Context, plan Plan, streams IO) (End, error) {
	type outcome struct {
		end End
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		// The parent-death signal, which ends the sandbox when this process is killed, goes by thread
		// (prctl(2)): the thread that forks must live as long as the run does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		end, err := run(ctx, plan, streams)
		done <- outcome{end, err}
	}()
	o := <-done
	return o.end, o.err
}

func run(ctx context.Context, plan Plan, streams IO) (End, error) {
	if err := ctx.Err(); err != nil {
		return End{ExitCode: -1, Cancelled: true}, nil
	}
	p := &Process{plan: plan, ctx: ctx, exited: make(chan struct{})}
	p.first.Store(-1)
	if err := p.start(streams); err != nil {
		return End{ExitCode: -1}, err
	}
	return p.wait()
}

// start opens what the plan asks for and executes the backend.
func (p *Process) start(streams IO) error {
	var opened, ours []*os.File
	started := false
	defer func() {
		closeAll(opened)
		if !started {
			closeAll(ours)
		}
	}()
	extra, pipes, err := p.descriptors(&opened)
	ours = append(ours, pipes...)
	if err != nil {
		return err
	}
	late := streams.Late
	if late == nil {
		late = new(Late)
	}
	p.late = late
	cmd := exec.Command(p.plan.Argv[0], p.plan.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{}, "/", extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	outputs, err := p.outputs(cmd, streams, &opened)
	ours = append(ours, outputs.readers[:]...)
	if err != nil {
		return err
	}
	input, err := p.input(cmd, streams, &opened)
	ours = append(ours, input)
	if err != nil {
		return err
	}
	p.started = time.Now()
	p.cmd = cmd
	if err := cmd.Start(); err != nil {
		return &StartError{Step: StepBackend, Err: err}
	}
	started = true
	p.listen(pipes[:2])
	p.letGo(pipes[2], streams.Ready)
	outputs.copy(p)
	p.feed(input, streams.Stdin, streams.Ready)
	return nil
}

// letGo opens the way to the shim, which waits for that, when the caller is ready.
func (p *Process) letGo(to *os.File, ready <-chan struct{}) {
	if ready == nil {
		p.late.open(to)
		return
	}
	p.going.Go(func() {
		select {
		case <-ready:
			p.late.open(to)
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
		_, _ = io.Copy(&p.status, io.LimitReader(pipes[0], 64<<10))
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
	if p.limit.Load() != nil || p.ctx.Err() != nil {
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
}

func (p *Process) wait() (End, error) {
	p.watching.Go(p.watch)
	err := p.cmd.Wait()
	close(p.exited)
	p.going.Wait() // the way in is opened by now, or never
	p.late.close()
	p.reads.Wait()
	p.lastProcess()
	p.copies.Wait()
	p.watching.Wait()
	if fd := p.first.Load(); fd >= 0 { // only now: whoever could still kill is done, and the number may be given to another run's
		_ = unix.Close(int(fd))
	}
	return p.conclude(err)
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
	if p.plan.Limits.Time > 0 {
		t := time.NewTimer(p.plan.Limits.Time)
		defer t.Stop()
		timeout = t.C
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-p.exited:
			return
		case <-p.ctx.Done():
			p.kill()
			p.insist()
			return
		case <-timeout:
			p.end(LimitTime)
			p.insist()
			return
		case <-look.C:
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
	l := p.plan.Limits
	w := weighTree(pid, l.Processes)
	if l.Memory > 0 && w.private+w.shared > l.Memory {
		p.end(LimitMemory)
	}
	if l.Processes > 0 && w.count > l.Processes+16 {
		p.end(LimitProcesses)
	}
	first := children(pid)
	for _, stopped := range w.stopped {
		if slices.Contains(first, stopped) && isShim(stopped) {
			_ = unix.Kill(stopped, unix.SIGCONT)
		}
	}
}

// isShim tells the shim from orphans, which are children of the first process as well.
func isShim(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && string(text) == shim.Program+"\x00"
}
