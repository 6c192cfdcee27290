package sidecar

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
)

// byName says that a name is to be looked for wherever it turns up. What counts at the root alone is watched
// there by its path, unless it is a pattern, which has none.
func byName(e workspace.Entry) bool { return e.Anywhere || strings.ContainsAny(e.Name, "*?[") }

// gitDirs are all git directories that are known of a workspace.
func gitDirs(ws *workspace.Workspace) []string {
	var out []string
	seen := map[string]bool{}
	add := func(dir string) {
		if dir != "" && !seen[dir] {
			seen[dir] = true
			out = append(out, dir)
		}
	}
	var visit func(*workspace.Repository)
	visit = func(r *workspace.Repository) {
		if r == nil {
			return
		}
		add(r.GitDir)
		add(r.CommonDir)
		for _, w := range r.Worktrees {
			add(w.Admin)
		}
		for _, s := range r.Submodules {
			visit(s)
		}
	}
	visit(ws.Repo)
	for _, n := range ws.Nested {
		visit(n)
	}
	return out
}

// watch has the guard look at this run. stop ends a run that arms things without end.
func (p *prepared) watch(stop func(), control *sandbox.Control) *guard.Watch {
	stormed := new(atomic.Bool)
	p.stormed = stormed
	storm := func() {
		stormed.Store(true)
		stop()
	}
	o := guard.BeginOptions{RunID: p.id, GitDirs: p.gitDirs, Storm: storm, Replaced: func(path string, again func()) { p.repin(control, path, again) }}
	known := map[string]bool{}
	for _, dir := range o.GitDirs {
		known[dir] = true
	}
	for _, h := range p.held {
		switch h.Hold {
		case workspace.Watch:
			if !known[filepath.Dir(h.Path)] || !guard.Compares(filepath.Base(h.Path)) {
				o.Watched = append(o.Watched, guard.Watched{Path: h.Path, Reason: h.Reason, Folder: h.Folder})
			}
		case workspace.Writable:
			o.Open = append(o.Open, h.Path)
		case workspace.ReadOnly, workspace.Placeholder:
			p.heldOrLinked(&o, h)
		}
	}
	return p.guard.Begin(o)
}

// heldOrLinked tells the guard that a mount holds a path, or what of it a hard link can change all the same.
func (p *prepared) heldOrLinked(o *guard.BeginOptions, h workspace.Protected) {
	linked := p.linked[h.Path]
	if len(linked) == 0 {
		o.Held = append(o.Held, h.Path)
		return
	}
	inGitDir := slices.Contains(o.GitDirs, filepath.Dir(h.Path)) // the guard compares these by itself
	for _, path := range linked {
		if !inGitDir {
			o.Watched = append(o.Watched, guard.Watched{Path: path, Reason: h.Reason})
		}
	}
}

// audit ends the watch. In a very large tree its rest goes on after the answer, and what it finds is told
// with the next result.
func (e *Engine) audit(w *guard.Watch, p *prepared) (found []protocol.Finding, pending bool) {
	ctx, stop := context.WithTimeout(context.Background(), patienceAfter)
	defer stop()
	report := w.End(ctx)
	if report.Degraded != "" {
		p.ws.Notes = append(p.ws.Notes, report.Degraded)
	}
	if report.Rest != nil {
		e.retain(p.guard)
		go e.tellLater(p.guard, p.id, report.Rest)
	}
	return append(e.pending.take(), findings(report.Findings)...), report.Rest != nil
}

// tellLater tells what the rest of an audit finds, and gives the guard back when it is done.
func (e *Engine) tellLater(g *sharedGuard, run string, rest <-chan []guard.Finding) {
	defer e.giveBack(g)
	for more := range rest {
		late := findings(more)
		e.pending.add(late)
		for _, f := range late {
			e.found(run, f)
		}
	}
}

// findings are the guard's, as clients see them.
func findings(list []guard.Finding) []protocol.Finding {
	var out []protocol.Finding
	for _, f := range list {
		out = append(out, protocol.Finding{Path: f.Path, Reason: f.Reason, Action: protocol.Action(f.Action), MovedTo: f.MovedTo, Error: f.Error})
	}
	return out
}
