package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/declared"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace/linked"
)

type runFlags struct {
	*flags
	language string
	// environment and packages are what the run is to have.
	environment string
	packages    []string
	session     string
	code        string
	cwd         string
	env         []string
	timeout     time.Duration
	dryRun      bool
	json        bool
	// trace is where to say where the time went: toTerminal, a file, or "" for nowhere.
	trace string
	// inProcess keeps the project's sidecar out of it.
	inProcess bool
	// passes hands signals on.
	passes *relay
}

func runCommand(f *flags, t terminal) *cobra.Command {
	r := &runFlags{flags: f}
	c := &cobra.Command{
		Use:   "run [--language L] FILE|-|-e CODE [ARGS…]\n  sidecar run [flags] -- COMMAND [ARGS…]",
		Short: "Run code, or a command, in the project's sandbox",
		Long: `Run code, or a command, in the project's sandbox.

Of a FILE the text is run, not the file at its path: where it looks for its neighbours, give
the command, as in sidecar run -- python3 FILE.

Output streams as it comes, and the exit status is the program's own. The project is
writable, except what the host would later execute or obey (git's config and hooks, editor
tasks, agent settings, …). It reaches no network but the names that the settings allow, and
the home folder is empty.`,
		Example: "  sidecar run script.py\n  sidecar run -e 'print(2**64)' --language python\n  sidecar run -- make test\n  echo 'ls' | sidecar run --language bash -",
		RunE:    func(c *cobra.Command, args []string) error { return r.run(c.Context(), c, args, t) },
	}
	fs := c.Flags()
	fs.SetInterspersed(false)
	fs.StringVarP(&r.language, "language", "l", "", "`language` of the code (by default from the file's name or #! line)")
	fs.StringVar(&r.environment, "environment", "", "run in the environment with this `id` (see sidecar envs)")
	fs.StringArrayVarP(&r.packages, "package", "p", nil, "have Nix give the run a `package` of nixpkgs (may be repeated): ripgrep, python3Packages.numpy")
	fs.StringVar(&r.session, "session", "", "keep the interpreter under this `name`: variables and imports stay for the next run with it (python, node, bash, ruby, perl)")
	fs.StringVarP(&r.code, "eval", "e", "", "run this `code`")
	fs.StringVar(&r.cwd, "cwd", "", "working `folder`, inside the project (default: where you are)")
	fs.StringArrayVar(&r.env, "env", nil, "set a `NAME=VALUE`, or pass NAME from here (may be repeated)")
	stretchVar(fs, &r.timeout, "timeout", 0, "end the run after this `time` (default: the longest the settings allow)")
	fs.BoolVar(&r.dryRun, "dry-run", false, "print the policy, or with --json the whole plan, and run nothing")
	fs.BoolVar(&r.json, "json", false, "print the result as JSON when the run has ended")
	fs.StringVar(&r.trace, "trace", "", "say on stderr where the time went, or write it to a `file` for chrome://tracing or Perfetto (--trace=FILE)")
	fs.Lookup("trace").NoOptDefVal = toTerminal
	fs.BoolVar(&r.inProcess, "in-process", false, "run in this process, unseen by the project's sidecar")
	completeFlag(c, "language", func(context.Context) []string { return env.Names() })
	completeFlag(c, "session", f.sessionNames)
	return c
}

func (r *runFlags) run(ctx context.Context, c *cobra.Command, args []string, t terminal) error {
	params, err := r.params(c, args, t)
	if err != nil {
		return err
	}
	root, source, err := r.project(&params)
	if err != nil {
		return err
	}
	e, err := r.engine(root, t)
	if err != nil {
		return err
	}
	defer e.Close()
	if params.Timeout == 0 {
		params.Timeout = protocol.Duration(e.LongestTimeout())
	}
	if r.dryRun {
		return r.show(ctx, e, root, params, t)
	}
	result, err := r.execute(ctx, e, root, params, r.input(c, args, t), t)
	if err != nil {
		return err
	}
	result.WorkspaceSource = source
	return r.finish(result, t)
}

// execute has the project's sidecar do the run, or does it in this process.
func (r *runFlags) execute(ctx context.Context, e *sidecar.Engine, root string, p protocol.RunParams, stdin io.Reader, t terminal) (protocol.RunResult, error) {
	ctx, stop := r.heed(ctx)
	defer stop()
	out := &printer{ctx: ctx, stop: stop, t: t}
	sink := out.write
	if r.json {
		sink = func(protocol.Stream, []byte) {}
	}
	result, err := r.do(ctx, e, root, p, stdin, sink, t)
	if failed := out.failed(); failed != nil {
		return result, failed
	}
	return result, r.ended(err, t)
}

// toEnd is how long the program of a run has to end by a signal, before the run is cancelled.
const toEnd = 2 * time.Second

// heed has signals reach the program first, so that it can tidy up.
func (r *runFlags) heed(asked context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = context.WithCancel(context.WithoutCancel(asked))
	r.passes = &relay{stop: stop, grace: toEnd, firm: true}
	r.passes.follow(ctx)
	if asked.Err() != nil {
		stop()
	}
	return ctx, stop
}

// begun takes note of the program. A session's is told of a cancel by its own driver, and stays.
func (r *runFlags) begun(p protocol.RunParams, to program) {
	if p.SessionName == "" {
		r.passes.begins(to)
	}
}

// ended gives the error of a run that was cancelled the status of the signal that did it.
func (r *runFlags) ended(err error, t terminal) error {
	var why *protocol.Error
	if !errors.As(err, &why) || why.Kind != protocol.Cancelled {
		return err
	}
	say(t, err.Error())
	return r.passes.cancelled()
}

// buildingEvery is how often a person is told how far a build is, if its stage stays the same.
const buildingEvery = 2 * time.Second

// tellBuilding says on stderr how far the environment is: at each new stage, and now and then.
func tellBuilding(t terminal) func(protocol.Building) {
	var last string
	var at time.Time
	return func(b protocol.Building) {
		if b.Stage == last && time.Since(at) < buildingEvery {
			return
		}
		last, at = b.Stage, time.Now()
		say(t, strings.TrimSpace("environment "+b.Environment)+": "+b.Text())
	}
}

func (r *runFlags) do(ctx context.Context, e *sidecar.Engine, root string, p protocol.RunParams, stdin io.Reader, sink sidecar.Sink, t terminal) (protocol.RunResult, error) {
	building := tellBuilding(t)
	asked := time.Now()
	ours := phases.If(r.trace != "", asked)
	if r.inProcess {
		control := func(to *sandbox.Control) { r.begun(p, direct{to}) }
		result, err := e.Do(ctx, sidecar.Request{Dir: root, Params: p, Stdin: stdin, Sink: sink, Building: building, Control: control, Phases: ours, TraceParent: os.Getenv("TRACEPARENT"), TraceState: os.Getenv("TRACESTATE")})
		result.Phases = ours.List()
		return result, err
	}
	pool := client.NewPool(r.as("terminal", t))
	defer pool.Close()
	if over := ours.Begin(phases.Connect); ours != nil {
		if _, err := pool.Of(ctx, root); err != nil {
			return protocol.RunResult{}, err
		}
		over()
	}
	result, err := pool.Run(ctx, root, protocol.RunRequest{RunParams: p, Trace: ours != nil, TraceParent: os.Getenv("TRACEPARENT"), TraceState: os.Getenv("TRACESTATE")}, stdin, client.Watch{Output: sink, Building: building, Begun: func(to client.Reach) { r.begun(p, to) }})
	if ours != nil {
		result.Phases = traced(ours, result, time.Since(asked))
	}
	return result, err
}

// finish prints what is to be said and passes the program's exit status on.
func (r *runFlags) finish(result protocol.RunResult, t terminal) error {
	if r.json {
		if err := printJSON(t, result); err != nil {
			return err
		}
	} else {
		report(t, result)
	}
	if r.verbose {
		say(t, protocol.OneLine(done(result)))
	}
	if err := showTrace(t, r.trace, result); err != nil {
		return err
	}
	switch {
	case result.Limit == "" && result.Cancelled && r.passes != nil:
		return r.passes.cancelled()
	case result.ExitCode != 0 || result.Limit != "":
		return exitStatus(result.ExitStatus())
	}
	return nil
}

// done says what was done, for who asked to be told: `sidecar show ID` has the rest.
func done(r protocol.RunResult) string {
	parts := []string{"run " + r.ID, "in " + r.Workspace, "environment " + r.Environment}
	if r.Interpreter != "" {
		parts = append(parts, "by "+r.Interpreter)
	}
	if r.Start != "" {
		parts = append(parts, r.Start)
	}
	return strings.Join(append(parts, time.Duration(r.Duration).Round(time.Millisecond).String()), ", ")
}

// params are the request, without its standard input.
func (r *runFlags) params(c *cobra.Command, args []string, t terminal) (protocol.RunParams, error) {
	p := protocol.RunParams{Language: r.language, Cwd: r.cwd, Timeout: protocol.Duration(r.timeout), Client: "terminal", Environment: r.environment, Packages: r.packages, SessionName: r.session}
	var err error
	if p.Env, err = variables(r.env); err == nil {
		err = inProcessSession(r.session, r.inProcess)
	}
	if err != nil {
		return p, err
	}
	dash := c.ArgsLenAtDash() >= 0
	switch {
	case c.Flags().Changed("eval"):
		p.Code, p.Args = r.code, args
		if p.Language == "" {
			return p, usage("name the code's language with --language", "-e needs a language")
		}
	case len(args) == 0:
		return p, usage("give a file, - for standard input, -e CODE, or -- COMMAND", "nothing to run")
	case dash && r.language == "":
		p.Command = args
	default:
		p.Args = args[1:]
		err = r.file(c.Context(), args[0], &p, t)
	}
	return p, err
}

func usage(hint, message string) error {
	return &protocol.Error{Kind: protocol.BadRequest, Message: message, Hint: hint}
}

// variables reads --env: NAME=VALUE, or NAME to pass it on.
func variables(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range list {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return nil, usage("give it a value: --env "+name+"=VALUE", fmt.Sprintf("the variable %q is not set here", name))
			}
		}
		out[name] = value
	}
	return out, nil
}

// maxScript is how long a file or standard input may be that is code, in bytes; the settings' limit is checked later.
const maxScript = 32 << 20

var errTooLong = fmt.Errorf("it is longer than %d MiB", maxScript>>20)

// readCode reads all of it, or none: of a program that is cut off, what comes first would run.
func readCode(from io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(from, maxScript+1))
	if err == nil && len(b) > maxScript {
		return nil, errTooLong
	}
	return b, err
}

// file reads the code from a file or standard input.
func (r *runFlags) file(ctx context.Context, name string, p *protocol.RunParams, t terminal) error {
	var b []byte
	var err error
	if name == "-" {
		if p.Language == "" {
			return usage("name it with --language", "code from standard input needs a language")
		}
		b, err = readTyped(ctx, t.in)
	} else {
		b, err = readScript(name, r.around())
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		hint := "give an existing file, or - for standard input"
		if errors.Is(err, errTooLong) {
			hint = "have its interpreter read it: sidecar run -- PROGRAM FILE"
		}
		if errors.Is(err, declared.ErrLeadsOut) {
			hint = sidecar.LeadsOutHint
		}
		if errors.Is(err, fs.ErrNotExist) {
			hint += "; for a command: sidecar run --"
			for _, word := range append([]string{name}, p.Args...) {
				hint += " " + linked.ShellQuote(word)
			}
		}
		hint += r.traceHint(name)
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("reading the code: %v", err), Hint: hint, Err: err}
	}
	p.Code = string(b)
	if p.Language == "" {
		p.Language = env.LanguageOf(filepath.Base(name), p.Code)
	}
	if p.Language == "" {
		return usage("name it with --language"+r.traceHint(name), fmt.Sprintf("the language of %q is not to be told from its name or a #! line", name))
	}
	return nil
}

// readTyped reads code that may be typed just now, which Ctrl-C ends.
func readTyped(ctx context.Context, in io.Reader) ([]byte, error) {
	type text struct {
		b   []byte
		err error
	}
	typed := make(chan text, 1)
	go func() {
		b, err := readCode(in)
		typed <- text{b, err}
	}()
	select {
	case got := <-typed:
		return got.b, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// traceHint is for who wrote --trace FILE.
func (r *runFlags) traceHint(name string) string {
	if r.trace != toTerminal {
		return ""
	}
	return "; if it is to be the trace: --trace=" + linked.ShellQuote(name)
}

func readScript(name, root string) ([]byte, error) {
	f, err := sidecar.OpenStream(name, root)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readCode(f)
}

// input is what the program reads: standard input, unless that was the code. A terminal is passed on only to
// a command, as a pipe: the program never holds the terminal itself.
func (r *runFlags) input(c *cobra.Command, args []string, t terminal) io.Reader {
	isCode := len(args) > 0 && args[0] == "-" && !c.Flags().Changed("eval") && c.ArgsLenAtDash() != 0
	if isCode || t.in == nil || term.IsTerminal(int(t.in.Fd())) && c.ArgsLenAtDash() < 0 {
		return nil
	}
	return t.stdin()
}
