package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
	"code.sidecar.dev/workspace/hold"
	"code.sidecar.dev/workspace/looks"
)

// How long a run waits for the guard's first look at the tree: before the run, so that repositories nested in the tree are held
// from the start, and that it is known what was there, and after it, before the answer goes without the rest of the audit. A
// short run would wait as long after it. A second is enough for 100,000 folders, but not on a busy machine.
const (
	patienceBefore = 3 * time.Second
	patienceAfter  = 30 * time.Second
)

// maxDeep is how many obeyed files below the root are held by mounts; of further ones the guard compares the contents of
// maxWatched, and sees what appears in the place of all.
const (
	maxDeep    = 200
	maxWatched = 5000
)

// prepared is a run that is ready to start, and what must be cleared away after it.
type prepared struct {
	id      string
	ws      *workspace.Workspace
	env     env.Environment
	held    []workspace.Protected
	linked  map[string][]string
	gitDirs []string
	pins    []sandbox.Pin // of held; nil when they are to be made anew
	policy  sandbox.Policy
	plan    sandbox.Plan
	host    sandbox.Host
	program string
	network *network
	guard   *sharedGuard
	lease   *hold.Lease
	engine  *Engine
	phases  *phases.Phases
	// complete says that the guard had seen the whole tree when the policy was made.
	complete bool
	// stormed says that the run was ended because it armed things without end.
	stormed *atomic.Bool
	// facts are what it is made ready by, and how says how they were come by.
	facts    *facts
	how      how
	writable []string
	// interpreter runs the code; waits are the ways in which it can be started ahead.
	interpreter env.Interpreter
	waits       []sandbox.Wait
}

// prepare looks at the workspace, takes hold of what must not change, and plans. Nothing has started when it returns.
// With r.early it may be by facts that are still to be checked.
func (e *Engine) prepare(ctx context.Context, r Request) (*prepared, error) {
	prep, err := e.readied(ctx, r)
	if errors.Is(err, errStale) && !r.early {
		r.anew = true
		prep, err = e.readied(ctx, r)
	}
	return prep, err
}

// readied is prepare, of which the error is errStale when what is in the place of a placeholder is not as what is remembered has
// it; then that is forgotten.
func (e *Engine) readied(ctx context.Context, r Request) (*prepared, error) {
	over := r.Phases.Begin(phases.Discovery)
	prep, j, err := e.survey(ctx, r)
	if over(); err != nil {
		return nil, err
	}
	prep.id, prep.phases = r.ID, r.Phases
	if e.settings.Workspace.Access == "read-only" && !e.seated() { // nothing appears where nothing can be written, by the person either
		prep.held, prep.pins = withoutPlaceholders(prep.held), nil
	}
	over = r.Phases.Begin(phases.Placeholders)
	if err := prep.placehold(); err != nil {
		prep.release()
		return nil, err
	}
	over()
	if !prep.isExpected() {
		prep.release()
		e.forget(prep.facts)
		return nil, errStale
	}
	j.held, j.pins = prep.held, prep.pins
	over = r.Phases.Begin(phases.Plan)
	if err := prep.makePlan(j, r); err != nil {
		prep.release()
		return nil, err
	}
	over()
	return prep, nil
}

// survey gathers the facts that a policy is made of, and changes nothing.
func (e *Engine) survey(ctx context.Context, r Request) (*prepared, job, error) {
	f, g, how, err := e.learn(ctx, r)
	if err != nil {
		return nil, job{}, err
	}
	cwd, err := workingDir(f.ws.Root, r.Params.Cwd)
	if err != nil {
		e.giveBack(g)
		return nil, job{}, err
	}
	prep := &prepared{facts: f, how: how, ws: f.ws.Copy(), env: r.environment, engine: e, guard: g, complete: f.known.Complete,
		held: f.held, linked: f.linked, pins: f.pins, gitDirs: f.gitDirs}
	j := job{ws: prep.ws, env: r.environment, settings: e.settings, account: thisAccount(e.resolvedHome(), f.ws.Root), params: r.Params,
		dir: cwd, held: f.held, pins: f.pins, sockets: f.known.Sockets, git: f.git, getenv: e.getenv, machine: e.machine(f.ws.Root), Ask: r.Ask, granted: r.granted, backend: e.host.Backend, hasInput: r.Stdin != nil || r.Params.Stdin != ""}
	j.borrowed = e.borrows(prep.ws)
	return prep, j, nil
}

// isTrue checks the facts that the run was made ready by.
func (p *prepared) isTrue(ctx context.Context) bool {
	return p.how != recalled || p.engine.stillTrue(ctx, p.facts, p.guard)
}

// look waits a little for the guard's first walk and gives what it knows by then.
func (e *Engine) look(ctx context.Context, g *sharedGuard) guard.Known {
	ctx, stop := context.WithTimeout(ctx, patienceBefore)
	defer stop()
	_ = g.Ready(ctx) // what is not known yet is the audit's
	return g.Known()
}

// rules are the protected names that the settings add and except.
func (e *Engine) rules() workspace.Rules {
	return workspace.Rules{Also: e.settings.Protect.Also, Except: e.settings.Protect.Except}
}

func (e *Engine) mode() sandbox.MountMode {
	if e.argvMounts.Load() || e.settings.Sandbox.Mounts == "argv" {
		return sandbox.ByArgv
	}
	return e.host.Mounts
}

// protect is the list of protected paths, with the obeyed files that lie deep in the tree.
func protect(ws *workspace.Workspace, rules workspace.Rules, known guard.Known) []workspace.Protected {
	var deep []string
	var rest []workspace.Protected
	for _, path := range known.Obeyed {
		entry, _, ok := rules.MatchPath(path)
		switch {
		case !ok:
		case len(deep) < maxDeep:
			deep = append(deep, path)
		case len(rest) < maxWatched: // its content is compared
			rest = append(rest, workspace.Protected{Path: path, Hold: workspace.Watch, Folder: entry.Folder, Reason: entry.Reason})
		}
	}
	all := ws.Protected(rules, deep...)
	held := map[string]bool{}
	for _, p := range all {
		held[p.Path] = true
	}
	for _, p := range rest {
		if !held[p.Path] {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b workspace.Protected) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// withoutLinks leaves symbolic links to the guard, where mounts cannot hold them.
func withoutLinks(held []workspace.Protected) []workspace.Protected {
	out := slices.Clone(held)
	for i := range out {
		if out[i].Link && out[i].Hold == workspace.ReadOnly {
			out[i].Hold = workspace.Watch
		}
	}
	return out
}

// withoutPlaceholders leaves out what only placeholders would hold.
func withoutPlaceholders(held []workspace.Protected) []workspace.Protected {
	return slices.DeleteFunc(slices.Clone(held), func(h workspace.Protected) bool { return h.Hold == workspace.Placeholder })
}

// placehold makes the placeholders. What turned up in their place meanwhile is held as what it is.
func (p *prepared) placehold() error {
	if p.engine.seated() { // rules hold what is not there
		return nil
	}
	var want []hold.Placeholder
	for _, h := range p.held {
		if h.Hold == workspace.Placeholder {
			want = append(want, hold.Placeholder{Path: h.Path, Folder: h.Folder, Content: h.Content})
		}
	}
	ledger, err := p.engine.holds()
	if err != nil {
		return err
	}
	if p.lease, err = ledger.Acquire(p.id, p.ws.Root, want); err != nil {
		return cannotHold(err)
	}
	var existing []string
	for _, e := range p.lease.Existing {
		existing = append(existing, e.Path)
	}
	p.existing(existing)
	p.engine.decided(p.id, "placeholders are held", "asked", len(want), "existing", len(existing))
	return nil
}

// cannotHold says which folder is at fault when placeholders cannot be made.
func cannotHold(err error) error {
	out := &protocol.Error{Kind: protocol.Denied, Message: "a path that a run must not create cannot be held: " + err.Error(),
		Hint: "the workspace must be writable for you, and have room; nothing was run", Err: err}
	var records *hold.LedgerError
	if errors.As(err, &records) {
		out.Kind = protocol.Internal
		out.Hint = stateHint(filepath.Dir(records.Dir))
	}
	return out
}

// stateHint is what to do when a run cannot be, since nothing can be written to the state folder.
func stateHint(state string) string {
	return fmt.Sprintf("sidecar's state folder %q must be writable for you, and have room (XDG_STATE_HOME names another place); nothing was run", state)
}

// asFound holds a path as what is there now.
func asFound(h *workspace.Protected) {
	info, err := os.Lstat(h.Path)
	if err != nil {
		h.Hold = workspace.Watch
		return
	}
	h.Hold, h.Folder, h.Link = workspace.ReadOnly, info.IsDir(), info.Mode()&os.ModeSymlink != 0
}

// holds is the ledger of placeholders; what dead processes left is cleared on first use.
func (e *Engine) holds() (*hold.Ledger, error) {
	state, err := e.stateDir()
	if err != nil {
		out := config.NoState(err)
		out.Kind = protocol.Internal
		return nil, out
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ledger == nil {
		e.ledger = hold.Open(filepath.Join(state, "holds"))
		e.background.Go(sandbox.Sweep)
	}
	return e.ledger, nil
}

func (p *prepared) makePlan(j job, r Request) error {
	var err error
	if p.network, err = p.engine.network(j.granted, r, j.env.Store != nil); err != nil {
		return err
	}
	j.network = p.network
	if err := p.plans(j); err != nil {
		p.network.close()
		return err
	}
	return nil
}

func (p *prepared) plans(j job) error {
	var err error
	p.writable = writable(j.ws)
	if p.policy, p.program, err = j.policy(); err != nil {
		return err
	}
	h := p.engine.host
	h.Mounts = p.engine.mode()
	if p.host = h; p.engine.seated() {
		p.plan, err = p.seatPlan(h)
		p.daemonGap()
		return err
	}
	if h.Bubblewrap, err = p.engine.bubblewrap(j.ws.Root); err != nil {
		return err
	}
	if h.Shim, err = p.engine.shim(h.Shim); err != nil {
		return err
	}
	p.host = h
	p.interpreter, p.waits = j.waits(p.policy)
	return nil
}

// planCold is the plan of a sandbox that the run starts itself.
func (p *prepared) planCold() error {
	if p.engine.seated() { // planned already
		return nil
	}
	over := p.phases.Begin(phases.Plan)
	defer over()
	var err error
	p.plan, err = bubblewrap.New(p.policy, p.host)
	p.daemonGap()
	return err
}

func (p *prepared) daemonGap() {
	if p.env.Daemon != nil {
		p.plan.Gaps = append(p.plan.Gaps, nixGap)
	}
}

// release takes the placeholders away and gives the guard back.
func (p *prepared) release() {
	defer p.engine.giveBack(p.guard)
	if p.lease == nil {
		return
	}
	if err := p.lease.Release(); err != nil {
		p.engine.log.Error("taking placeholders away", "err", err)
	}
}

// discover finds the workspace around dir, and refuses what is none.
func (e *Engine) discover(dir string, l *looks.Looks) (*workspace.Workspace, error) {
	ws, err := workspace.Discover(dir, workspace.Options{Env: e.getenv, Looks: l})
	if err != nil {
		return nil, bad("", "%v", err)
	}
	if workspace.IsSystem(ws.Root) {
		return nil, noProject(ws.Root)
	}
	if e.isOwn(ws.Root) {
		return nil, bad("go to a project's folder, or name one with --workspace", "%s is sidecar's own folder, which no run may see", ws.Root)
	}
	return ws, nil
}

func noProject(root string) error {
	return bad("go to a project's folder, or name one with --workspace", "%s is a folder of the system and no project: runs may write in it", root)
}

// Root is the root of the project around dir.
func Root(dir string) (string, error) {
	root, err := workspace.Root(dir, workspace.Options{Env: os.Getenv})
	if err != nil {
		return "", bad("name an existing folder with --workspace", "%v", err)
	}
	if workspace.IsSystem(root) {
		return "", noProject(root)
	}
	if !utf8.ValidString(root) { // no request could name it
		return "", bad("give the folder a name of Unicode characters", "the name of the folder %+q is not UTF-8", root)
	}
	return root, nil
}

// CwdIn is this process's working folder if it lies in root, else root.
func CwdIn(root string) string {
	dir, err := os.Getwd()
	if err != nil {
		return root
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && sandbox.Inside(real, root) {
		return real
	}
	return root
}

// Settings are those that this engine goes by.
func (e *Engine) Settings() config.Settings { return e.settings }

// LongestTimeout is the longest that a run may last.
func (e *Engine) LongestTimeout() time.Duration { return e.settings.Limits.TimeoutMax }

// Check refuses a request that no sandbox could carry out, before anything is touched.
func (e *Engine) Check(p protocol.RunParams, a Ask) error {
	_, r, err := e.profiled(Request{Params: p, Ask: a})
	if err == nil {
		err = checkRequest(r.Params, e.settings.Limits)
	}
	if err == nil {
		err = checkSession(p, a)
	}
	return err
}

// Longest is how long a run with these parameters may last.
func (e *Engine) Longest(p protocol.RunParams, a Ask) time.Duration {
	l := sandbox.Limits{Time: timeout(p, e.settings.Limits)}
	if a.bounds(&l, p); l.Time == 0 {
		return endless
	}
	return l.Time
}

// endless is longer than any session lasts.
const endless = 10 * 365 * 24 * time.Hour

// rootOf is the root of the project around dir, in this engine's environment.
func (e *Engine) rootOf(dir string) (string, error) {
	root, err := workspace.Root(dir, workspace.Options{Env: e.getenv})
	if err != nil {
		return "", bad("", "%v", err)
	}
	return root, nil
}

// Plan is what a run would be: its plan and policy. It starts no run and makes no placeholders; an environment that Nix
// has not built yet is built.
func (e *Engine) Plan(ctx context.Context, r Request) (sandbox.Plan, sandbox.Policy, error) {
	e, r, err := e.profiled(r)
	if err == nil {
		err = checkRequest(r.Params, e.settings.Limits)
	}
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	root, err := e.rootOf(r.Dir)
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	if r.environment, err = e.environment(ctx, root, r.Params, nil); err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	r.planned = true
	if r.granted, err = e.grant(ctx, r, root); err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	prep, j, err := e.survey(ctx, r)
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	defer prep.release()
	if j.held, j.pins = prep.held, prep.pins; !e.seated() {
		j.held, j.pins = withoutPlaceholders(prep.held), nil
	}
	if err = prep.makePlan(j, r); err == nil {
		err = prep.planCold()
	}
	prep.network.close()
	return prep.plan, prep.policy, err
}

// pendingFindings are those of audits that went on after their run's answer.
type pendingFindings struct {
	mu   sync.Mutex
	list []protocol.Finding
}

func (p *pendingFindings) add(f []protocol.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, f...)
}

func (p *pendingFindings) take() []protocol.Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list = nil
	return list
}
