package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
)

// History is where an engine has its runs written down. Each may be nil.
type History struct {
	// Write takes the record of a run that is about to start (its End is nil), and of one that has ended. It must not wait;
	// the channel is closed when the record is written, or could not be. It sees to it that no secret is kept.
	Write func(protocol.RunRecord) <-chan struct{}
	// Tidy forgets what is older than age, and then what is more than size bytes.
	Tidy func(ctx context.Context, age time.Duration, size int64) error
	// Close is called when the engine is closed, after the last run.
	Close func()
}

const (
	// DeniedKept is how much is remembered of what a run was refused: it may ask for names without end.
	DeniedKept = 50
	// shownCode is how much of a run's code, or command, its clients are told, and shownName of a name.
	shownCode = 4 << 10
	shownName = 200
	// beginningLater is after how long it is written down that a session's call has begun, if it has not ended: a call is
	// mostly shorter than the writing.
	beginningLater = 10 * time.Millisecond
	// recordPatience is how long a program that is ready to start waits for its record: no run is to be slower because of
	// a disk that is. The record is then written a little later.
	recordPatience = 2 * time.Millisecond
	// off is the word of history.keep for no history.
	off = "off"
)

// recording is what is written down of one run; nil is nothing.
type recording struct {
	write func(protocol.RunRecord) <-chan struct{}
	// streamed says that input came which is not part of the request.
	streamed atomic.Bool
	// secret are values of variables, by their names, which what is kept of the output does not have.
	secret map[string]string
	mu     sync.Mutex
	record protocol.RunRecord
	later  *time.Timer // writes a session's call down that goes on
}

// recording begins to note what there is to be known of a run.
func (e *Engine) recording(r Request, asked time.Time) *recording {
	keep := e.settings.History.Keep
	if e.history.Write == nil || keep == off || r.planned || r.Ask.calls != "" { // a session's calls are written down, each by itself
		return nil
	}
	rec := protocol.RunRecord{Run: Shown(r.ID, protocol.RunRequest{RunParams: r.Params, Session: r.Ask.Session, Allow: r.Ask.Allow}, asked), Request: r.Params, Allow: r.Ask.Allow,
		Terminal: r.Ask.Terminal != nil, Keep: keep}
	if r.Shown != nil {
		rec.Run = *r.Shown
	}
	rec.Run.Workspace = r.Dir
	return &recording{write: e.history.Write, record: rec}
}

// reads is the input of a run, of which is noted whether there was any.
func (n *recording) reads(in io.Reader) io.Reader {
	if n == nil || in == nil {
		return in
	}
	return readerFunc(func(b []byte) (int, error) {
		k, err := in.Read(b)
		if k > 0 {
			n.streamed.Store(true)
		}
		return k, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// environment notes what the run is in.
func (n *recording) environment(root string, in env.Environment) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.record.Run.Workspace = root
	n.record.Environment = protocol.RecordedEnvironment{ID: in.ID, Provider: in.Provider}
	if in.Store != nil {
		n.record.Environment.Store, n.record.Environment.Shell = in.Store.Out, in.Store.Shell
	}
}

// conceals notes the values of variables that were given to the run.
func (n *recording) conceals(values map[string]string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.secret = values
}

// variables are those that the person, the settings or the request gives a run, which may be secret.
func (e *Engine) variables(r Request) map[string]string {
	all := maps.Clone(e.settings.Env.Set)
	if all == nil {
		all = map[string]string{}
	}
	for _, name := range slices.Concat(e.settings.Env.Pass, r.granted.profile.Pass) {
		all[name] = e.getenv(name)
	}
	maps.Copy(all, r.granted.env)
	maps.Copy(all, r.Params.Env)
	return all
}

// tellingValue is how long a value is, in bytes, that is looked for in an output: shorter ones are in many.
const tellingValue = 6

// concealed is a text without the values of variables. Values that it does not have cost no more than a search: a replacer for a
// single one would take time by the square of its length.
func concealed(text string, values map[string]string) string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(values)), func(name string) bool {
		return len(values[name]) < tellingValue || !strings.Contains(text, values[name])
	})
	if len(names) == 1 {
		return strings.ReplaceAll(text, values[names[0]], valueOf(names[0]))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(values[b])-len(values[a]), strings.Compare(a, b)) })
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, values[name], valueOf(name))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func valueOf(name string) string { return "[the value of " + name + "]" }

// begins has a run written down that is about to start, while it goes on to. What it gives waits for that, not long.
func (n *recording) begins(p *prepared) (wait func()) {
	if n == nil {
		return func() {}
	}
	late, written := time.After(recordPatience), make(chan struct{})
	go func() {
		defer close(written)
		if tried := n.beginning(p); tried != nil {
			<-tried
		}
	}()
	return func() {
		select {
		case <-written:
		case <-late:
		}
	}
}

// call has a session's call written down, soon: nothing waits for that, since a session has long begun.
func (n *recording) call(p *prepared, policy string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.record.Policy, n.record.Interpreter = policy, p.program
	n.later = time.AfterFunc(beginningLater, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.record.Run.End == nil {
			n.write(n.record)
		}
	})
}

// beginning hands over the record of a run that starts; nil when it has ended already.
func (n *recording) beginning(p *prepared) (tried <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.record.Policy, n.record.Interpreter = PolicyText(p.policy, p.held), p.program // its plan, and what that cannot keep, is being made
	if n.record.Run.End != nil {
		return nil
	}
	return n.write(n.record)
}

// ended writes down how the run ended.
func (n *recording) ended(result protocol.RunResult, err error) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.later != nil {
		n.later.Stop()
	}
	n.record.Run.End = Ended(result, protocol.AsError(err))
	n.record.Notes, n.record.Gaps, n.record.StreamedStdin = result.Notes, result.Gaps, n.streamed.Load()
	n.record.Stdout, n.record.Stderr = recorded(result.Stdout, n.secret), recorded(result.Stderr, n.secret)
	if n.record.Terminal { // all that a screen showed, and of no use to anybody
		n.record.Stdout.Text = ""
	}
	n.write(n.record)
}

func recorded(o protocol.Output, secret map[string]string) protocol.RecordedOutput {
	out := protocol.RecordedOutput{Bytes: o.Bytes, File: o.File}
	if out.File == "" {
		out.Text = concealed(o.Text, secret)
	}
	return out
}

// NotRun writes down a request that came to no run, since err stood against it.
func (e *Engine) NotRun(r Request, err error) {
	e.recording(r, time.Now()).ended(protocol.RunResult{ExitCode: -1}, err)
	e.logsEnd(r, protocol.RunResult{}, err, 0)
}

// Ended is how a run ended, for who remembers it.
func Ended(result protocol.RunResult, err *protocol.Error) *protocol.RunEnd {
	end := &protocol.RunEnd{Time: time.Now(), ExitCode: result.ExitCode, Signal: result.Signal, Limit: result.Limit, Cancelled: result.Cancelled, Duration: result.Duration,
		MaxRSS: result.MaxRSS, CPU: result.CPU, Stdout: result.Stdout.Bytes, Stderr: result.Stderr.Bytes, Findings: result.Findings, Denied: denialsKept(result.Denied), Error: err}
	if err != nil {
		end.ExitCode = -1
	}
	return end
}

// denialsKept are the first of what a run was refused, and how many came after them.
func denialsKept(all []protocol.Denial) []protocol.Denial {
	more := len(all) - DeniedKept
	if more <= 0 {
		return all
	}
	return append(slices.Clone(all[:DeniedKept]), protocol.Denial{Why: fmt.Sprintf("%d further things were denied", more), Count: more})
}

// PlaceholderLine begins a line of PolicyText about a path that is held, so that nothing is made there, in the place of its pin's kind.
const PlaceholderLine = "placeholder "

// PolicyText is a policy for people, with its limits, and without what is noted elsewhere: the program and its arguments. held
// says which of the pinned paths exist for a run alone.
func PolicyText(p sandbox.Policy, held []workspace.Protected) string {
	text := p.String()
	if i := strings.LastIndex(text, "\nrun "); i >= 0 {
		text = text[:i+1]
	}
	made := map[string]bool{}
	for _, h := range held {
		made[sandbox.Frozen.String()+" "+h.Path+"\n"] = h.Hold == workspace.Placeholder
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if made[line] {
			lines[i] = PlaceholderLine + strings.TrimPrefix(line, sandbox.Frozen.String()+" ")
		}
	}
	l := p.Limits
	return strings.Join(lines, "") + fmt.Sprintf("limits time %v, memory %d, file size %d, output %d, processes %d, open files %d\nin %s\n", l.Time, l.Memory, l.FileSize, l.Output, l.Processes, l.OpenFiles, p.Dir)
}

// Shown is a run as clients see it, at its beginning. It is kept for long and sent to all, so what a client may make as long
// as it likes is cut.
func Shown(id string, req protocol.RunRequest, started time.Time) protocol.Run {
	return protocol.Run{ID: id, Client: protocol.Head(req.Client, shownName), Language: languageName(req.Language), Command: heads(req.Command), Code: protocol.Head(req.Code, shownCode),
		CodeBytes: len(req.Code), Cwd: protocol.Head(req.Cwd, shownCode), SessionName: protocol.Head(req.SessionName, shownName), Session: req.Session, Profile: profileName(req.Allow), Started: started}
}

// languageName is a language's own name for an alias, so that runs are found under one; what is none is kept as it was said.
func languageName(said string) string {
	if lang, err := env.Lookup(said); err == nil {
		return lang.Name
	}
	return protocol.Head(said, shownName)
}

func profileName(a *protocol.Allowance) string {
	switch {
	case a == nil:
		return ""
	case a.Policy != nil:
		return protocol.Head(config.PolicyName(a.Policy.File), shownName)
	}
	return protocol.Head(a.Profile, shownName)
}

// heads is the beginning of a command.
func heads(command []string) []string {
	var out []string
	left := shownCode
	for i, word := range command {
		if left <= 0 {
			return append(out, fmt.Sprintf("… %d more", len(command)-i))
		}
		out = append(out, protocol.Head(word, left))
		left -= len(word) + 1
	}
	return out
}
