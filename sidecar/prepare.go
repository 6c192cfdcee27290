package sidecar

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/bubblewrap"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
	"code.sidecar.dev/workspace/hold"
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
	policy  sandbox.Policy
	plan    sandbox.Plan
	program string
	guard   *guard.Guard
	lease   *hold.Lease
	engine  *Engine
	// complete says that the guard had seen the whole tree when the policy was made.
	complete bool
	writable []string
}

// prepare looks at the workspace, takes hold of what must not change, and plans. Nothing has started when it returns.
func (e *Engine) prepare(ctx context.Context, r Request) (*prepared, error) {
	prep, j, err := e.survey(ctx, r.Dir, r.Params)
	if err != nil {
		return nil, err
	}
	prep.id = r.ID
	if err := prep.placehold(); err != nil {
		return nil, err
	}
	j.held = prep.held
	if err := prep.makePlan(j); err != nil {
		prep.release()
		return nil, err
	}
	return prep, nil
}

// survey gathers the facts that a policy is made of, and changes nothing.
func (e *Engine) survey(ctx context.Context, dir string, p protocol.RunParams) (*prepared, job, error) {
	ws, err := e.discover(dir)
	if err != nil {
		return nil, job{}, err
	}
	cwd, err := workingDir(ws.Root, p.Cwd)
	if err != nil {
		return nil, job{}, err
	}
	environment, err := e.Environment(ws.Root)
	if err != nil {
		return nil, job{}, err
	}
	prep := &prepared{ws: ws, env: environment, engine: e}
	j := job{ws: ws, env: environment, settings: e.settings, account: thisAccount(e.resolvedHome(), ws.Root), params: p, dir: cwd, getenv: e.getenv}
	if prep.guard, err = e.guardOf(ws); err != nil {
		return nil, j, err
	}
	known := e.look(ctx, prep.guard)
	prep.complete = known.Complete
	ws.AddNested(known.Repositories)
	j.sockets = known.Sockets
	j.git = gitSettings{global: workspace.HarmlessGlobal(ws, e.getenv), keys: workspace.RunSettings(ws)}
	prep.held = append(protect(ws, e.rules(), known), e.own(ws)...)
	if e.mode() == sandbox.ByArgv {
		prep.held = withoutLinks(prep.held)
	}
	j.held = prep.held
	return prep, j, nil
}

// look waits a little for the guard's first walk and gives what it knows by then.
func (e *Engine) look(ctx context.Context, g *guard.Guard) guard.Known {
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
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		deep++
		held = append(held, workspace.Protected{Path: path, Hold: workspace.ReadOnly, Folder: info.IsDir(), Link: info.Mode()&os.ModeSymlink != 0, Reason: entry.Reason})
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
		return &protocol.Error{Kind: protocol.Denied, Message: "a path that a run must not create cannot be held: " + err.Error(),
			Hint: "the workspace must be writable for you, and have room; nothing was run", Err: err}
	}
	for _, existing := range p.lease.Existing {
		p.existing(existing.Path)
	}
	return nil
}

func (p *prepared) existing(path string) {
	for i := range p.held {
		if p.held[i].Path != path {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			p.held[i].Hold = workspace.Watch
			continue
		}
		p.held[i].Hold, p.held[i].Folder, p.held[i].Link = workspace.ReadOnly, info.IsDir(), info.Mode()&os.ModeSymlink != 0
	}
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
	p.writable = j.writable()
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

// release takes the placeholders away.
func (p *prepared) release() {
	if p.lease == nil {
		return
	}
	if err := p.lease.Release(); err != nil {
		p.engine.log.Error("taking placeholders away", "err", err)
	}
}

// discover finds the workspace around dir, and refuses what is none.
func (e *Engine) discover(dir string) (*workspace.Workspace, error) {
	ws, err := workspace.Discover(dir, workspace.Options{Env: e.getenv})
	if err != nil {
		return nil, bad("", "%v", err)
	}
	if ws.Root == "/" {
		return nil, bad("go to a project's folder, or name one with --workspace", "%q is no project: its root would be /", dir)
	}
	return ws, nil
}

// Root is the root of the project around dir.
func Root(dir string) (string, error) {
	root, err := workspace.Root(dir, workspace.Options{Env: os.Getenv})
	if err != nil {
		return "", bad("", "%v", err)
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

// Environment is what runs in the workspace at root can use.
func (e *Engine) Environment(root string) (env.Environment, error) {
	path := e.settings.Host.Path
	if path == "" {
		path = e.getenv("PATH")
	}
	return host.Cached(host.Machine{Path: path, Home: e.home, Getenv: e.getenv, Dir: root}), nil
}

// LongestTimeout is the longest that a run may last.
func (e *Engine) LongestTimeout() time.Duration { return e.settings.Limits.TimeoutMax }

// Longest is how long a run with these parameters may last.
func (e *Engine) Longest(p protocol.RunParams) time.Duration { return timeout(p, e.settings.Limits) }

// Plan is what a run would be: its plan and policy. It starts nothing and makes no placeholders.
func (e *Engine) Plan(ctx context.Context, dir string, p protocol.RunParams) (sandbox.Plan, sandbox.Policy, error) {
	if err := checkRequest(p, e.settings.Limits); err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	prep, j, err := e.survey(ctx, dir, p)
	if err != nil {
		return sandbox.Plan{}, sandbox.Policy{}, err
	}
	j.held = withoutPlaceholders(prep.held)
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
