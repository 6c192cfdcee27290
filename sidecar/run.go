package sidecar

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/doctor"
	"code.sidecar.dev/sidecar/env"
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
	// Live is told, before the program starts, how to look at the output so far; nil is nobody.
	Live func(Live)

	// early lets the run be made ready by what is remembered of the workspace, which is checked meanwhile.
	early bool
	// environment is what Params ask to run in.
	environment env.Environment
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
	if err := e.Check(r.Params); err != nil {
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
	if r.environment, err = e.environment(ctx, root, r.Params, r.Building); err != nil {
		return result, err
	}
	r.early = true
	result, err = e.attempt(ctx, r)
	r.early = false
	if errors.Is(err, errStale) {
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
	prep, err := e.prepare(ctx, r)
	if err != nil && r.early {
		err = errStale // it may be what is remembered that is wrong
	}
	if err != nil {
		return protocol.RunResult{}, err
	}
	defer prep.release()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	late := new(sandbox.Late)
	var watch *guard.Watch
	ready, begun := make(chan struct{}), make(chan struct{})
	go func() { // while bubblewrap starts, which takes longer
		defer close(begun)
		if !prep.isTrue(ctx) {
			stop()
			return
		}
		watch = prep.watch(stop, late)
		close(ready)
	}()
	out := prep.captures(e)
	defer out.close()
	if r.Live != nil {
		r.Live(out.live)
	}
	following := make(chan struct{})
	go func() {
		defer close(following)
		prep.follow(ctx, late)
	}()
	end, err := sandbox.Run(ctx, prep.plan, sandbox.IO{Stdin: r.input(), Stdout: out.writer(protocol.Stdout, r.Sink), Stderr: out.writer(protocol.Stderr, r.Sink), Late: late, Ready: ready})
	stop()
	<-following
	<-begun
	if watch == nil {
		return protocol.RunResult{}, errStale
	}
	findings, pending := e.audit(watch, prep)
	if err != nil {
		return protocol.RunResult{}, err
	}
	return prep.result(end, out, findings, pending), nil
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

func (p *prepared) captures(e *Engine) captures {
	stream := func(name protocol.Stream) *capture {
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
		ID: p.id, ExitCode: end.ExitCode, Limit: end.Limit, Cancelled: end.Cancelled, MaxRSS: end.MaxRSS,
		Stdout: out.stdout.output(), Stderr: out.stderr.output(),
		Workspace: p.ws.Root, Environment: p.env.ID, Interpreter: p.program,
		Findings: findings, AuditPending: pending, Gaps: p.plan.Gaps, Notes: p.ws.Notes,
	}
	if end.Signal != 0 {
		r.Signal = signalName(end.Signal)
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
		return &protocol.Error{Kind: protocol.UnknownEnvironment, Message: fmt.Sprintf("the program cannot be executed in the sandbox: %v", start.Err),
			Hint: "name a program that lies under /usr, in the workspace, or in an interpreter's folder (see `sidecar envs`); a script needs a #! line and the execute bit", Err: err}
	case sandbox.StepDir:
		return bad("give a folder of the workspace that you may enter", "the working folder cannot be entered in the sandbox: %v", start.Err)
	case sandbox.StepPin:
		return &protocol.Error{Kind: protocol.Internal, Message: fmt.Sprintf("%q, which a run must not change, cannot be held: %v; nothing was run", start.Path, start.Err),
			Hint: "if it was just changed, ask again; if it is unreadable, mend its permissions", Err: err}
	}
	return &protocol.Error{Kind: protocol.BackendMissing, Message: err.Error(), Hint: "ask `sidecar doctor` what this machine lacks", Err: err}
}

// backendError has the doctor read what bubblewrap said.
func (e *Engine) backendError(start *sandbox.StartError, dir string) error {
	text := start.Text
	if text == "" {
		text = start.Err.Error()
	}
	if strings.Contains(text, "execvp") {
		text = start.Err.Error() + ": " + text
	}
	found := doctor.Diagnose(text, doctor.Facts(doctor.Options{Workspace: dir, Path: e.getenv("PATH"), Bubblewrap: e.settings.Sandbox.Bubblewrap}))
	found.Err = start
	return found
}
