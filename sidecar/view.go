package sidecar

import (
	"context"
	"fmt"
	"strings"

	"code.sidecar.dev/workspace"
)

// View is a workspace as a person wants to see it.
type View struct {
	Root      string          `json:"root"`
	Marker    string          `json:"marker,omitempty"`
	GitDir    string          `json:"gitDir,omitempty"`
	CommonDir string          `json:"commonDir,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Linked    bool            `json:"linked,omitempty"`
	Worktrees []string        `json:"worktrees,omitempty"`
	Protected []ProtectedView `json:"protected"`
	Notes     []string        `json:"notes,omitempty"`
}

// ProtectedView is one protected path.
type ProtectedView struct {
	Path   string `json:"path"`
	Hold   string `json:"hold"`
	Reason string `json:"reason"`
}

// View shows the workspace around dir and what a run may not change in it.
func (e *Engine) View(ctx context.Context, dir string) (View, error) {
	ws, err := e.discover(dir, nil)
	if err != nil {
		return View{}, err
	}
	g, err := e.guardOf(ws)
	if err != nil {
		return View{}, err
	}
	defer e.giveBack(g)
	_ = g.Ready(ctx)
	known := g.Known()
	ws.AddNested(known.Repositories)
	v := View{Root: ws.Root, Marker: ws.Marker, Notes: ws.Notes}
	if r := ws.Repo; r != nil {
		v.GitDir, v.CommonDir, v.Branch, v.Linked = r.GitDir, r.CommonDir, r.Branch, r.Linked
		for _, w := range r.Worktrees {
			v.Worktrees = append(v.Worktrees, w.Path)
		}
	}
	for _, p := range protect(ws, e.rules(), known) {
		v.Protected = append(v.Protected, ProtectedView{p.Path, holdName(p.Hold), p.Reason})
	}
	return v, nil
}

func holdName(h workspace.Hold) string {
	return map[workspace.Hold]string{workspace.ReadOnly: "read-only", workspace.Writable: "writable", workspace.Placeholder: "held while a run lasts",
		workspace.Watch: "watched", workspace.Hidden: "hidden"}[h]
}

// Text is the view for people.
func (v View) Text() string {
	var b strings.Builder
	// A run may have put a line's end into a name, and behind it what reads like a line of ours.
	line := func(format string, names ...any) {
		for i, name := range names {
			names[i] = strings.ReplaceAll(fmt.Sprint(name), "\n", "\uFFFD")
		}
		fmt.Fprintf(&b, format, names...)
	}
	line("workspace  %s\n", v.Root)
	if v.GitDir != "" {
		line("git        %s\n", v.GitDir)
	}
	if v.CommonDir != v.GitDir {
		line("shared git %s (this is a linked worktree)\n", v.CommonDir)
	}
	if v.Branch != "" {
		line("branch     %s\n", v.Branch)
	}
	for _, w := range v.Worktrees {
		line("worktree   %s\n", w)
	}
	for _, n := range v.Notes {
		line("note       %s\n", n)
	}
	b.WriteString("\na run may not change:\n")
	for _, p := range v.Protected {
		line("  %-22s %s\n      %s\n", p.Hold, p.Path, p.Reason)
	}
	return b.String()
}
