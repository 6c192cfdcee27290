package sidecar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/doctor"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/guard"
)

// Sink takes a run's output while it lasts. It is called from two goroutines, one a stream.
type Sink func(protocol.Stream, []byte)

// keptOutput is how much of each stream a result holds; the whole of a longer one is in a file.
const keptOutput = 1 << 20

// filedOutput is from how many bytes on a stream is also kept in a file: what a client with a small budget
// may have to cut.
const filedOutput = 4000

// Request is a run to be done.
type Request struct {
	// ID is the run's; "" has Do make one (see NewID).
	ID string
	// Dir is a folder of the workspace; Source says where it came from, for the result.
	Dir, Source string
	Params      protocol.RunParams
	// Stdin is the program's input after Params.Stdin; nil is none.
	Stdin io.Reader
	// Sink takes output while the run lasts; nil is nobody.
	Sink Sink
	// Building is told how far Nix is with the run's environment; nil is nobody.
	Building func(protocol.Building)
	// Ask is what only a person's own programs may ask for.
	Ask Ask
	// Approve asks a person whether the run may reach something, and waits for the answer; nil is nobody. Denied is told of
	// what it was refused; nil is nobody, and it must not wait.
	Approve func(context.Context, protocol.Question) protocol.Answer
	Denied  func(protocol.Denial)
	// Control is told, before anything starts, the way to the sandbox; Stopped, that a signal stopped the program of a
	// terminal. Each may be nil, and must not wait.
	Control func(*sandbox.Control)
	Stopped func(signal int)
	// Phases take where the run's time goes; nil is not asked for.
	Phases *phases.Phases
	// TraceParent and TraceState are as in protocol.RunRequest.
	TraceParent, TraceState string
	// Live is told, before the program starts, how to look at the output so far; nil is nobody.
	Live func(Live)

	// standing is told, before the program starts, of the sandbox that a session's interpreter has.
	standing func(*prepared, *sandbox.Control, *guard.Watch)
	// cold has it start its own sandbox.
	cold bool
	// Shown is the run as clients see it; nil has it made of the rest.
	Shown *protocol.Run

	// noted is what is written down of it.
	noted *recording
	// early lets the run be made ready by what is remembered of the workspace, which is checked meanwhile.
	early bool
	// anew lets nothing be remembered.
	anew bool
	// planned says that nothing of it is to be run.
	planned bool
	// environment is what Params ask to run in, granted what it may beyond its workspace.
	environment env.Environment
	granted     granted
	// control is the way to the sandbox of this attempt.
	control *sandbox.Control
}

// Live is the output of a run that goes on. It is safe to use also when the run has ended.
type Live func(protocol.Stream) Kept

// Run runs code or a command in the workspace around dir, and returns when every process of the run is gone
// and the audit is done. source says where dir came from, for the result. sink may be nil.
func (e *Engine) Run(ctx context.Context, dir, source string, p protocol.RunParams, sink Sink) (protocol.RunResult, error) {
	return e.Do(ctx, Request{Dir: dir, Source: source, Params: p, Sink: sink})
}

// Do does a run, and returns when every process of it is gone and the audit is done.
func (e *Engine) Do(ctx context.Context, r Request) (protocol.RunResult, error) {
	asked := time.Now()
	if r.ID == "" {
		r.ID = NewID()
	}
	r.Params.Command = e.Command(r.Params, r.Ask)
	r.noted = e.recording(r, asked)
	r.Stdin = r.noted.reads(r.Stdin)
	ended := e.tells(&r, asked)
	do := e.do
	if r.Params.SessionName != "" {
		do = e.inSession
	}
	result, err := do(ctx, r, asked)
	r.noted.ended(result, err)
	e.logsEnd(r, result, err, time.Since(asked))
	ended(result, err)
	return result, err
}

func (e *Engine) do(ctx context.Context, r Request, asked time.Time) (protocol.RunResult, error) {
	e, r, err := e.profiled(r)
	if err == nil {
		err = checkRequest(r.Params, e.settings.Limits)
	}
	if err != nil {
		return protocol.RunResult{}, err
	}
	e.tidy()
	result, err := e.inEnvironment(ctx, r)
	if collected(err) { // Nix's garbage collector was faster: it is built again
		result, err = e.inEnvironment(ctx, r)
	}
	if err != nil {
		return result, e.explain(err, r.Dir)
	}
	result.Duration = protocol.Duration(time.Since(asked))
	result.WorkspaceSource = r.Source
	return result, nil
}

// inEnvironment does a run in the environment that it asks for.
func (e *Engine) inEnvironment(ctx context.Context, r Request) (result protocol.RunResult, err error) {
	root, err := e.rootOf(r.Dir)
	if err != nil {
		return result, err
	}
	over := r.Phases.Begin(phases.Environment)
	if r.environment, err = e.environment(ctx, root, r.Params, r.Building); err != nil && e.approvesTrust(ctx, root, r, err) {
		r.environment, err = e.environment(ctx, root, r.Params, r.Building)
	}
	if over(); err != nil {
		return result, err
	}
	r.noted.environment(root, r.environment)
	over = r.Phases.Begin(phases.Grant)
	if r.granted, err = e.grant(ctx, r, root); err != nil {
		return result, err
	}
	over()
	r.noted.conceals(e.variables(r))
	r.early = true
	result, err = e.attempt(ctx, r)
	r.early = false
	if errors.Is(err, errStale) {
		e.decided(r.ID, "what was remembered of the workspace is not true any more; discovery is made anew")
		result, err = e.attempt(ctx, r)
	}
	if errors.Is(err, errUnready) {
		r.cold = true
		result, err = e.attempt(ctx, r)
	}
	if e.retry(err) {
		result, err = e.attempt(ctx, r)
	}
	return result, err
}

// collected says that a store path was gone when it was to be shown.
func collected(err error) bool {
	var start *sandbox.StartError
	return errors.As(err, &start) && start.Step == sandbox.StepPick && errors.Is(start.Err, syscall.ENOENT)
}

// input is all that the program reads.
func (r Request) input() io.Reader {
	switch {
	case r.Stdin == nil:
		return strings.NewReader(r.Params.Stdin)
	case r.Params.Stdin == "":
		return r.Stdin
	}
	return io.MultiReader(strings.NewReader(r.Params.Stdin), r.Stdin)
}

// retry decides whether a run that never started is worth a second try: a protected path that changed while
// it was being held is planned anew; where the kernel gives no capabilities inside, bubblewrap makes the mounts.
func (e *Engine) retry(err error) bool {
	var start *sandbox.StartError
	if !errors.As(err, &start) {
		return false
	}
	forbidden := errors.Is(start.Err, syscall.EPERM) || errors.Is(start.Err, syscall.EACCES) || errors.Is(start.Err, syscall.ENOSYS)
	if (start.Step == sandbox.StepPin || start.Step == sandbox.StepShim) && forbidden && !e.argvMounts.Load() && e.settings.Sandbox.Mounts != "shim" {
		e.log.Warn("this kernel gives no capabilities inside a sandbox; bubblewrap makes all mounts from now on", "err", err)
		e.argvMounts.Store(true)
		return true
	}
	return start.Step == sandbox.StepPin && errors.Is(start.Err, syscall.ENOENT)
}

// attempt is one try: prepare, run, audit, and clear away.
func (e *Engine) attempt(ctx context.Context, r Request) (protocol.RunResult, error) {
	control := new(sandbox.Control)
	r.control = control
	prep, err := e.prepare(ctx, r)
	if err != nil && r.early {
		err = errStale // it may be what is remembered that is wrong
	}
	if err != nil {
		return protocol.RunResult{}, err
	}
	defer func() {
		over := r.Phases.Begin(phases.Release)
		prep.release()
		over()
	}()
	defer prep.network.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if r.Control != nil {
		r.Control(control)
	}
	var watch *guard.Watch
	ready, begun := make(chan struct{}), make(chan struct{})
	go func() { // while bubblewrap starts, which takes longer
		defer close(begun)
		written := r.noted.begins(prep)
		var isTrue bool
		var checked sync.WaitGroup
		checked.Go(func() {
			defer r.Phases.Begin(phases.Check)()
			isTrue = prep.isTrue(ctx)
		})
		over := r.Phases.Begin(phases.Guard)
		w := prep.watch(stop, control)
		over()
		if checked.Wait(); !isTrue { // nothing of the run has begun, and what was watched may not be what is to be
			stop()
			e.pending.add(findings(w.Forget()))
			return
		}
		watch = w
		over = r.Phases.Begin(phases.History)
		written()
		over()
		if r.standing != nil {
			r.standing(prep, control, watch)
		}
		close(ready)
	}()
	out := prep.captures(e, r.Ask.Terminal == nil && r.Ask.calls == "")
	defer out.close()
	if r.Live != nil {
		r.Live(out.live)
	}
	following := make(chan struct{})
	go func() {
		defer close(following)
		go prep.network.follow(ctx, control)
		prep.follow(ctx, control)
	}()
	streams := sandbox.IO{Stdin: r.input(), Stdout: out.writer(protocol.Stdout, r.Sink), Stderr: out.writer(protocol.Stderr, r.Sink),
		Control: control, Socket: prep.network.has, Stopped: r.Stopped, Ready: ready, Times: r.Phases != nil}
	refusals := prep.refusals()
	end, start, err := e.start(ctx, prep, r, streams, begun)
	refused := refusals(end)
	stop()
	<-following
	<-begun
	if watch == nil {
		return protocol.RunResult{}, errStale
	}
	denied := prep.network.close()
	inSandbox(r.Phases, end, start, time.Now())
	over := r.Phases.Begin(phases.Audit)
	findings, pending := e.audit(watch, prep)
	if over(); err != nil {
		return protocol.RunResult{}, err
	}
	result := prep.result(end, out, findings, pending)
	result.Start = start
	result.Denied = denied
	result.Notes = append(result.Notes, refused...)
	return result, nil
}

// inSandbox adds what went on in the sandbox, which the caller has heard the end of by now.
func inSandbox(p *phases.Phases, end sandbox.End, start string, now time.Time) {
	if p == nil || end.Started.IsZero() {
		return
	}
	t := end.Times
	if t == nil { // it has no times, or was killed
		p.Add(phases.Program, end.Started, end.Ended)
		p.Add(phases.Teardown, end.Ended, now)
		return
	}
	if start == protocol.StartCold {
		p.Add(phases.Bubblewrap, end.Started, t.Up)
	}
	p.Add(phases.Pins, t.Told, t.Made)
	p.Add(phases.Program, t.Made, t.Ended)
	p.Add(phases.Teardown, t.Ended, now)
}

// start runs it in a sandbox that is ready for it, or in one of its own. looked is closed when the workspace has been looked at.
func (e *Engine) start(ctx context.Context, p *prepared, r Request, streams sandbox.IO, looked <-chan struct{}) (sandbox.End, string, error) {
	always := e.settings.Performance.Warm == "always"
	cold := func(why string) { e.decided(r.ID, "the run starts its own sandbox", "why", why) }
	if !e.hasReady() {
		cold(cmp.Or(p.whyNotWarm(r), "no sandbox was made ahead"))
		defer e.background.Go(func() { e.rewarm(e.usables(p, r), always) })
		return e.startCold(ctx, p, streams)
	}
	of := e.usables(p, r)
	defer e.rewarm(of, always)
	if !e.isReady(of) {
		cold(cmp.Or(p.whyNotWarm(r), "none that was made ahead is of its policy"))
		return e.startCold(ctx, p, streams)
	}
	<-looked
	if ctx.Err() != nil { // it has changed, or the run is cancelled: either is known by who looked
		return sandbox.End{ExitCode: -1, Cancelled: true}, "", nil
	}
	s, u := e.takeReady(of)
	if s == nil {
		cold("what was made ahead ended, is too old, or what it shows has changed")
		return e.startCold(ctx, p, streams)
	}
	p.plan = u.plan
	end, err := s.Run(ctx, p.plan.Limits, u.hand, streams)
	failed := new(sandbox.StartError)
	isProgram := !u.waits && errors.As(err, &failed) && (failed.Step == sandbox.StepProgram || failed.Step == sandbox.StepDir)
	if errors.As(err, &failed) && !isProgram { // a program that cannot be executed cannot be in another sandbox either
		e.log.Warn("a sandbox that was ready could not be used", "err", err)
		err = errUnready
	}
	return end, u.start(), err
}

// startCold runs it in a sandbox that it starts itself.
func (e *Engine) startCold(ctx context.Context, p *prepared, streams sandbox.IO) (sandbox.End, string, error) {
	if err := p.planCold(); err != nil {
		return sandbox.End{}, "", err
	}
	keeper := e.keeperFor(p)
	defer e.readyKeeper(keeper)
	streams.Tree = e.tree(keeper)
	end, err := sandbox.Run(ctx, p.plan, streams)
	return end, protocol.StartCold, err
}

// captures are both streams of a run.
type captures struct{ stdout, stderr *capture }

// live is the output so far.
func (c captures) live(s protocol.Stream) Kept {
	if s == protocol.Stderr {
		return c.stderr.kept()
	}
	return c.stdout.kept()
}

// close ends the files: of a run that fails nobody asks for a result, which would.
func (c captures) close() {
	c.stdout.close()
	c.stderr.close()
}

func (c captures) writer(s protocol.Stream, sink Sink) io.Writer {
	to := c.stdout
	if s == protocol.Stderr {
		to = c.stderr
	}
	if sink == nil {
		return to
	}
	return writerFunc(func(b []byte) (int, error) {
		n, err := to.Write(b) // first: the sink may wait for a slow reader
		sink(s, b)
		return n, err
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// captures of what a terminal showed have no file: it is of no use to anybody, and has no end.
func (p *prepared) captures(e *Engine, filed bool) captures {
	stream := func(name protocol.Stream) *capture {
		if !filed {
			return &capture{limit: keptOutput}
		}
		return &capture{limit: keptOutput, spillAt: filedOutput, open: func() (*os.File, error) {
			dir, err := e.outputDir()
			if err != nil {
				return nil, err
			}
			return createOutput(filepath.Join(dir, p.id+"."+string(name)))
		}}
	}
	return captures{stream(protocol.Stdout), stream(protocol.Stderr)}
}

// result puts together how the run ended.
func (p *prepared) result(end sandbox.End, out captures, findings []protocol.Finding, pending bool) protocol.RunResult {
	r := protocol.RunResult{
		ID: p.id, ExitCode: end.ExitCode, Limit: end.Limit, Cancelled: end.Cancelled, MaxRSS: end.MaxRSS, CPU: protocol.Duration(end.User + end.System),
		Stdout: out.stdout.output(), Stderr: out.stderr.output(),
		Workspace: p.ws.Root, Environment: p.env.ID, Interpreter: p.program,
		Findings: findings, AuditPending: pending, Gaps: p.plan.Gaps, Notes: p.ws.Notes,
	}
	if end.Signal != 0 {
		r.Signal = signalName(end.Signal)
	}
	p.bounds(end, &r)
	if d := p.env.Daemon; d != nil {
		r.Notes = append(r.Notes, d.Notes...)
	}
	r.Notes = append(r.Notes, p.notes(end, r)...)
	return r
}

// NewID is a run's id: the time, so that ids sort, and enough chance that two never meet.
func NewID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%s-%x", time.Now().UTC().Format("20060102-150405"), b)
}

// explain makes any error a *protocol.Error that says what to do.
func (e *Engine) explain(err error, dir string) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return known
	}
	var start *sandbox.StartError
	if !errors.As(err, &start) {
		return &protocol.Error{Kind: protocol.Internal, Message: err.Error(), Err: err}
	}
	switch start.Step {
	case sandbox.StepBackend:
		return e.backendError(start, dir)
	case sandbox.StepProgram:
		if errors.Is(start.Err, syscall.E2BIG) {
			return bad(inFile, "the arguments and variables are together longer than what a program starts with")
		}
		return &protocol.Error{Kind: protocol.UnknownEnvironment, Message: fmt.Sprintf("the program cannot be executed in the sandbox: %v", start.Err),
			Hint: "name a program that lies under /usr, in the workspace, or in an interpreter's folder (see `sidecar envs`); a script needs a #! line and the execute bit", Err: err}
	case sandbox.StepDir:
		return bad("give a folder of the workspace that you may enter", "the working folder cannot be entered in the sandbox: %v", start.Err)
	case sandbox.StepBase:
		return &protocol.Error{Kind: protocol.Denied, Message: fmt.Sprintf("%q cannot be shown in the kept home: %v; nothing was run", start.Path, start.Err),
			Hint: "a session has just put something else in its place: end those that use this home, and ask again, which says what to remove", Err: err}
	case sandbox.StepSame:
		return replaced(fmt.Sprintf("%q was replaced after it was looked at", start.Path), err)
	case sandbox.StepPin:
		return &protocol.Error{Kind: protocol.Internal, Message: fmt.Sprintf("%q, which a run must not change, cannot be held: %v; nothing was run", start.Path, start.Err),
			Hint: "if it was just changed, ask again; if it is unreadable, mend its permissions", Err: err}
	}
	return &protocol.Error{Kind: protocol.BackendMissing, Message: err.Error(), Hint: "ask `sidecar doctor` what this machine lacks", Err: err}
}

// backendError has the doctor read what bubblewrap said.
func (e *Engine) backendError(start *sandbox.StartError, dir string) error {
	if e.seated() {
		return seatError(start)
	}
	text := start.Text
	if text == "" {
		text = start.Err.Error()
	}
	if strings.Contains(text, "execvp") {
		text = start.Err.Error() + ": " + text
	}
	found := doctor.Diagnose(text, doctor.Facts(doctor.Options{Workspace: dir, Path: e.getenv("PATH"), Machine: e.programs(dir), Bubblewrap: e.settings.Sandbox.Bubblewrap}))
	found.Err = start
	return found
}
