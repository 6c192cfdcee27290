package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
	"code.sidecar.dev/workspace/hold"
	"code.sidecar.dev/workspace/looks"
)

// How long a run waits for the guard's first look at the tree: before the run, so that repositories nested in a small tree
// are held from the start, and after it, before the answer goes without the rest of the audit.
const (
	patienceBefore = 40 * time.Millisecond
	patienceAfter  = 30 * time.Second
)

// maxDeep is how many obeyed files below the root are held by mounts; further ones are the guard's alone.
const maxDeep = 200

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
	program string
	guard   *sharedGuard
	lease   *hold.Lease
	engine  *Engine
	// complete says that the guard had seen the whole tree when the policy was made.
	complete bool
	// unchecked are the facts it is made ready by, when they are still to be checked.
	unchecked *facts
	writable  []string
}

// prepare looks at the workspace, takes hold of what must not change, and plans. Nothing has started when it returns.
// With r.early it may be by facts that are still to be checked.
func (e *Engine) prepare(ctx context.Context, r Request) (*prepared, error) {
	prep, j, err := e.survey(ctx, r.Dir, r.Params, r.environment, r.early)
	if err != nil {
		return nil, err
	}
	prep.id = r.ID
	if err := prep.placehold(); err != nil {
		prep.release()
		return nil, err
	}
	if prep.unchecked != nil && len(prep.lease.Existing) > 0 {
		prep.release()
		return nil, errStale
	}
	j.held, j.pins = prep.held, prep.pins
	if err := prep.makePlan(j); err != nil {
		prep.release()
		return nil, err
	}
	return prep, nil
}

// survey gathers the facts that a policy is made of, and changes nothing.
func (e *Engine) survey(ctx context.Context, dir string, p protocol.RunParams, environment env.Environment, early bool) (*prepared, job, error) {
	f, g, checked, err := e.learn(ctx, dir, early)
	if err != nil {
		return nil, job{}, err
	}
	cwd, err := workingDir(f.ws.Root, p.Cwd)
	if err != nil {
		e.giveBack(g)
		return nil, job{}, err
	}
	prep := &prepared{ws: f.ws.Copy(), env: environment, engine: e, guard: g, complete: f.known.Complete,
		held: f.held, linked: f.linked, pins: f.pins, gitDirs: f.gitDirs}
	j := job{ws: prep.ws, env: environment, settings: e.settings, account: thisAccount(e.resolvedHome(), f.ws.Root), params: p,
		dir: cwd, held: f.held, pins: f.pins, sockets: f.known.Sockets, git: f.git, getenv: e.getenv}
	if !checked {
		prep.unchecked = f
	}
	return prep, j, nil
}

// isTrue checks the facts that the run was made ready by.
func (p *prepared) isTrue(ctx context.Context) bool {
	return p.unchecked == nil || p.engine.stillTrue(ctx, p.unchecked, p.guard)
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
func protect(ws *workspace.Workspace, rules workspace.Rules, known guard.Known, l *looks.Looks) []workspace.Protected {
	held := ws.Protected(rules)
	have := map[string]bool{}
	for _, h := range held {
		have[h.Path] = true
	}
	deep := 0
	for _, path := range known.Obeyed {
		entry, ok := rules.Match(filepath.Base(path))
		if !ok || !byName(entry) || have[path] || deep >= maxDeep {
			continue
		}
		kind, err := l.Kind(path)
		if err != nil {
			continue
		}
		deep++
		held = append(held, workspace.Protected{Path: path, Hold: workspace.ReadOnly, Folder: kind == syscall.S_IFDIR, Link: kind == syscall.S_IFLNK, Reason: entry.Reason})
	}
	return held
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
	if p.lease, err = ledger.Acquire(p.id, want); err != nil {
		return cannotHold(err)
	}
	var existing []string
	for _, e := range p.lease.Existing {
		existing = append(existing, e.Path)
	}
	p.existing(existing)
	return nil
}

// cannotHold says which folder is at fault when placeholders cannot be made.
func cannotHold(err error) error {
	out := &protocol.Error{Kind: protocol.Denied, Message: "a path that a run must not create cannot be held: " + err.Error(),
		Hint: "the workspace must be writable for you, and have room; nothing was run", Err: err}
	var records *hold.LedgerError
	if errors.As(err, &records) {
		out.Kind = protocol.Internal
		out.Hint = fmt.Sprintf("sidecar's state folder %q must be writable for you, and have room (XDG_STATE_HOME names another place); nothing was run", filepath.Dir(records.Dir))
	}
	return out
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
		return nil, &protocol.Error{Kind: protocol.Internal, Message: "the state folder: " + err.Error(), Hint: "set XDG_STATE_HOME to a folder of your own", Err: err}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ledger == nil {
		e.ledger = hold.Open(filepath.Join(state, "holds"))
	}
	return e.ledger, nil
}

func (p *prepared) makePlan(j job) error {
	var err error
	p.writable = writable(j.ws)
	if p.policy, p.program, err = j.policy(); err != nil {
		return err
	}
	h := p.engine.host
	h.Mounts = p.engine.mode()
	if h.Bubblewrap, err = p.engine.bubblewrap(j.ws.Root); err != nil {
		return err
	}
	p.plan, err = bubblewrap.New(p.policy, h)
	return err
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
	if ws.Root == "/" {
		return nil, noProject(dir)
	}
	return ws, nil
}

func noProject(dir string) error {
	return bad("go to a project's folder, or name one with --workspace", "%q is no project: its root would be /", dir)
}

// Root is the root of the project around dir.
func Root(dir string) (string, error) {
	root, err := workspace.Root(dir, workspace.Options{Env: os.Getenv})
	if err != nil {
		return "", bad("name an existing folder with --workspace", "%v", err)
	}
	if root == "/" {
		return "", noProject(dir)
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

// LongestTimeout is the longest that a run may last.
func (e *Engine) LongestTimeout() time.Duration { return e.settings.Limits.TimeoutMax }

// Check refuses a request that no sandbox could carry out, before anything is touched.
func (e *Engine) Check(p protocol.RunParams) error { return checkRequest(p, e.settings.Limits) }

// Longest is how long a run with these parameters may last.
func (e *Engine) Longest(p protocol.RunParams) time.Duration { return timeout(p, e.settings.Limits) }

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
func (e *Engine) Plan(ctx context.Context, dir string, p protocol.RunParams) (sandbox.Plan, sandbox.Policy, error) {
	if err := checkRequest(p, e.settings.Limits); err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	root, err := e.rootOf(dir)
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	environment, err := e.environment(ctx, root, p, nil)
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	prep, j, err := e.survey(ctx, dir, p, environment, false)
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	defer prep.release()
	j.held, j.pins = withoutPlaceholders(prep.held), nil
	err = prep.makePlan(j)
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
