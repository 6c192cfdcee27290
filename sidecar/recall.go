package sidecar

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"syscall"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
	"code.sidecar.dev/workspace/looks"
)

// facts are what one look at a workspace tells, and the engine remembers: they are used again for the next run
// when every look that led to them would show the same. With hundreds of submodules that is a tenth of the work.
// What is in here is not changed any more, but for what is known of empty folders.
type facts struct {
	looks   *looks.Looks
	mode    sandbox.MountMode
	known   guard.Known
	ws      *workspace.Workspace
	git     gitSettings
	held    []workspace.Protected
	own     []workspace.Protected // of held: sidecar's own folders
	linked  map[string][]string   // by protected path: what of it has a second name
	gitDirs []string
	pins    []sandbox.Pin
	// early says that a run can be made ready by them while they are looked into: placeholders, which are made
	// before, do not show in what is looked at.
	early bool
	// empty are folders that are held like placeholders, since what is empty may be one that was left behind, and that were
	// found to be the person's: hooks of which somebody has removed the samples.
	empty sync.Map
}

// isExpected says that what is in the place of placeholders is what the facts have there. They do not tell: looks at those
// paths are left out. Facts that were gathered for this run learn it.
func (p *prepared) isExpected() bool {
	if p.lease == nil {
		return true
	}
	for _, met := range p.lease.Existing {
		empty := met.Folder && isEmptyFolder(met.Path)
		switch _, known := p.facts.empty.Load(met.Path); {
		case p.how == looked && empty:
			p.facts.empty.Store(met.Path, nil)
		case p.how != looked && !(known && empty):
			return false
		}
	}
	// Into one that another run has, too, the person may have put something: a hook, which names programs.
	isFull := func(h workspace.Protected) bool {
		return h.Hold == workspace.Placeholder && h.Folder && !isEmptyFolder(h.Path)
	}
	return p.how == looked || !slices.ContainsFunc(p.held, isFull)
}

func isEmptyFolder(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// learned is what facts are about: the workspace around a folder, for names that the settings add and except. What
// they depend on of a client's environment is among their looks.
type learned struct{ dir, rules string }

// mostFacts is of how many folders facts are remembered.
const mostFacts = 16

// errStale says that facts which a run was made ready by are not true any more. Nothing of it has run.
var errStale = errors.New("the workspace has changed")

// how facts were come by.
type how int

const (
	recalled how = iota // they are those of an earlier run, and still to be checked
	checked             // the same, and all looks that led to them show the same
	looked              // they were gathered just now
)

// learn gives the facts about the workspace that a request is about, as they are now, and its guard. With r.early they may be
// recalled, with r.anew they are gathered. The guard is to be given back.
func (e *Engine) learn(ctx context.Context, r Request) (f *facts, g *sharedGuard, _ how, err error) {
	of := learned{r.Dir, e.rules().String()}
	e.mu.Lock()
	if f = e.facts[of]; f != nil && !r.anew {
		g = e.taken(guarded{f.ws.Root, of.rules})
	}
	e.mu.Unlock()
	switch {
	case g == nil:
	case r.early && f.early:
		return f, g, recalled, nil
	case e.stillTrue(ctx, f, g):
		return f, g, checked, nil
	default:
		e.giveBack(g)
	}
	f, g, err = e.learnAnew(ctx, r.Dir)
	if err == nil {
		e.log.Debug("the workspace was discovered", "root", f.ws.Root, "protected", len(f.held), "pins", len(f.pins), "complete", f.known.Complete, "early", f.early)
	}
	if err == nil && filepath.IsAbs(r.Dir) {
		e.remember(of, f)
	}
	return f, g, looked, err
}

func (e *Engine) stillTrue(ctx context.Context, f *facts, g *sharedGuard) bool {
	return f.mode == e.mode() && reflect.DeepEqual(f.own, e.own(f.ws)) && reflect.DeepEqual(f.known, e.look(ctx, g)) && f.looks.Same(e.getenv)
}

func (e *Engine) remember(of learned, f *facts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.facts) >= mostFacts {
		clear(e.facts)
	}
	e.facts[of] = f
}

func (e *Engine) forget(f *facts) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.facts, func(_ learned, other *facts) bool { return other == f })
}

func (e *Engine) learnAnew(ctx context.Context, dir string) (*facts, *sharedGuard, error) {
	l := looks.New(e.getenv)
	ws, err := e.discover(dir, l)
	if err != nil {
		return nil, nil, err
	}
	g, err := e.guardOf(ws)
	if err != nil {
		return nil, nil, err
	}
	f := &facts{looks: l, ws: ws, mode: e.mode(), known: e.look(ctx, g)}
	ws.AddNested(f.known.Repositories)
	f.git = gitSettings{global: workspace.HarmlessGlobal(ws, l.Getenv), keys: workspace.RunSettings(ws)}
	f.own = e.own(ws)
	f.held = append(protect(ws, e.rules(), f.known), f.own...)
	if f.mode == sandbox.ByArgv {
		f.held = withoutLinks(f.held)
	}
	f.linked = map[string][]string{}
	for _, h := range f.held {
		if paths := hardLinked(h, l); len(paths) > 0 {
			f.linked[h.Path] = paths
		}
	}
	f.gitDirs = gitDirs(ws)
	f.pins = sandbox.BuildPins(writable(ws), pinsOf(f.held, f.known.Sockets))
	var left []string // none: then no listing is kept either
	if f.known.Complete {
		left = placeholders(f.held)
	}
	f.early = l.Leave(left) && f.known.Complete
	ws.Settled()
	return f, g, nil
}

func placeholders(held []workspace.Protected) (paths []string) {
	for _, h := range held {
		if h.Hold == workspace.Placeholder {
			paths = append(paths, h.Path)
		}
	}
	return paths
}

// existing says that something turned up where a placeholder was to be made. It is held as what it is: the
// run's own copy of the facts is changed.
func (p *prepared) existing(paths []string) {
	if len(paths) == 0 {
		return
	}
	p.held, p.linked, p.pins = slices.Clone(p.held), maps.Clone(p.linked), nil
	for i := range p.held {
		if h := &p.held[i]; slices.Contains(paths, h.Path) {
			asFound(h)
			if linked := hardLinked(*h, nil); len(linked) > 0 {
				p.linked[h.Path] = linked
			}
		}
	}
}
