package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
	var opened []*os.File
	defer func() {
		for _, f := range opened {
			_ = f.Close()
		}
	}()
	extra, pipes, err := p.descriptors(&opened)
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
	if err != nil {
		return err
	}
	input, err := p.input(cmd, streams, &opened)
	if err != nil {
		return err
	}
	p.started = time.Now()
	p.cmd = cmd
	if err := cmd.Start(); err != nil {
		closeAll(append(append(pipes, outputs.files()...), input))
		return &StartError{Step: StepBackend, Err: err}
	}
	p.listen(pipes[:2])
	late.open(pipes[2])
	outputs.copy(p)
	p.feed(input, streams.Stdin)
	return nil
}

// descriptors makes the inherited files: contents in memory, and the two pipes that report.
// pipes are our ends of the status, the info and the control pipe, in this order.
func (p *Process) descriptors(opened *[]*os.File) (extra, pipes []*os.File, err error) {
	pipes = make([]*os.File, 3)
	defer func() {
		if err != nil {
			closeAll(pipes)
		}
	}()
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

func (s streamPair) files() []*os.File { return s.readers[:] }

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
func (p *Process) feed(w *os.File, from io.Reader) {
	if w == nil {
		return
	}
	go func() {
		_, _ = io.Copy(w, from)
		_ = w.Close()
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
// it. Where that process is not known yet, bubblewrap itself is ended, whose death ends it.
func (p *Process) kill() {
	if fd := p.first.Load(); fd >= 0 {
		if unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) == nil {
			return
		}
	}
	_ = p.cmd.Process.Kill()
}

func (p *Process) wait() (End, error) {
	go p.watch()
	err := p.cmd.Wait()
	close(p.exited)
	p.late.close()
	p.reads.Wait()
	p.lastProcess()
	p.copies.Wait()
	return p.conclude(err)
}

// lastProcess waits until the sandbox's first process is gone, which is after all others are
// (pid_namespaces(7)): bubblewrap's end alone does not say so when it was killed.
func (p *Process) lastProcess() {
	fd := int(p.first.Load())
	if fd < 0 {
		return
	}
	defer unix.Close(fd)
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
			_ = p.cmd.Process.Kill()
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

// conclude reads the shim's report.
func (p *Process) conclude(wait error) (End, error) {
	end := End{ExitCode: p.cmd.ProcessState.ExitCode(), Started: p.started, Ended: time.Now()}
	if l := p.limit.Load(); l != nil {
		end.Limit = *l
	}
	end.Cancelled = end.Limit == "" && p.ctx.Err() != nil
	report := p.status.String()
	if ok := parseExit(withoutLate(report), &end); ok {
		return end, nil
	}
	if end.Limit != "" || end.Cancelled {
		end.ExitCode, end.Signal = 137, int(unix.SIGKILL)
		return end, nil
	}
	if err := parseSetup(report); err != nil {
		return end, err
	}
	var exit *exec.ExitError
	if p.firstPID.Load() != 0 && p.cmd.ProcessState.ExitCode() >= 128 || p.cmd.ProcessState.ExitCode() < 0 {
		// The shim was killed: by the program, which may signal it, or by the kernel for want of memory.
		end.ExitCode, end.Signal = 137, int(unix.SIGKILL)
		return end, nil
	}
	if !errors.As(wait, &exit) && wait != nil {
		return end, &StartError{Step: StepBackend, Err: wait, Text: p.complain.String()}
	}
	return end, &StartError{Step: StepBackend, Err: fmt.Errorf("%s ended with status %d", p.plan.Argv[0], end.ExitCode), Text: p.complain.String()}
}

// withoutLate leaves out the lines about pins asked for while the program ran: what such a pin would have held
// is the audit's then.
func withoutLate(report string) string {
	var b strings.Builder
	for line := range strings.Lines(report) {
		if !strings.HasPrefix(line, "late ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// parseExit reads the line "exit CODE SIGNAL MAXRSS_KB USER_US SYSTEM_US".
func parseExit(report string, end *End) bool {
	var rss, user, system int64
	i := strings.Index(report, "exit ")
	if i != 0 {
		return false
	}
	if _, err := fmt.Sscanf(report, "exit %d %d %d %d %d", &end.ExitCode, &end.Signal, &rss, &user, &system); err != nil {
		return false
	}
	end.MaxRSS = rss << 10
	end.User, end.System = time.Duration(user)*time.Microsecond, time.Duration(system)*time.Microsecond
	return true
}

// parseSetup reads what went wrong before the program ran: "setup STEP ERRNO PATH", or from the forked
// child, which cannot format, two words: the number of the failed call and the error number.
func parseSetup(report string) error {
	if strings.HasPrefix(report, "setup ") {
		fields := strings.SplitN(strings.TrimSuffix(report, "\n"), " ", 4)
		if len(fields) < 4 {
			return nil
		}
		var errno int
		_, _ = fmt.Sscan(fields[2], &errno)
		step := StepShim
		if fields[1] == StepPin {
			step = StepPin
		}
		return &StartError{Step: step, Path: fields[3], Text: fields[1], Err: syscall.Errno(errno)}
	}
	if i := strings.Index(report, "exit 125"); i >= 16 {
		report = report[:i]
	}
	if len(report) < 16 {
		return nil
	}
	number, errno := binary.NativeEndian.Uint64([]byte(report)), binary.NativeEndian.Uint64([]byte(report[8:]))
	return &StartError{Step: stepOfCall(int(number)), Text: fmt.Sprintf("system call %d", number), Err: syscall.Errno(errno)}
}

func stepOfCall(number int) string {
	switch number {
	case unix.SYS_EXECVE:
		return StepProgram
	case unix.SYS_CHDIR:
		return StepDir
	}
	return StepShim
}
