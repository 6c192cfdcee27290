package bubblewrap

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seccomp"
)

// Stand plans a run in two parts: a sandbox that can be made ahead of it (sandbox.Stand), and what that is handed for it.
// Runs whose plans are equal can use the same sandbox, once. It takes mounts by the shim, and neither a terminal nor a kept
// folder beneath others.
func Stand(p sandbox.Policy, h sandbox.Host, w sandbox.Wait) (sandbox.Plan, sandbox.Handover, error) {
	if err := p.Check(); err != nil {
		return sandbox.Plan{}, sandbox.Handover{}, err
	}
	if h.Mounts != sandbox.ByShim || p.Terminal != nil || len(p.Bases) > 0 {
		return sandbox.Plan{}, sandbox.Handover{}, errors.New("such a sandbox cannot be made ahead of its run")
	}
	if seen := seenBefore(p.Mounts); seen != "" {
		return sandbox.Plan{}, sandbox.Handover{}, fmt.Errorf("a sandbox that is made ahead of its run would show %s before", seen)
	}
	filter, err := seccomp.Filter(h.Arch)
	if err != nil {
		return sandbox.Plan{}, sandbox.Handover{}, err
	}
	hand := sandbox.Handover{Pins: p.Pins, Dir: p.Dir, Argv: p.Argv, Env: p.Env, Release: w.Release}
	p.Pins = nil
	p.Files, hand.Files = apart(p.Files, func(f sandbox.File) bool { return f.Late })
	p.Links, hand.Links = apart(p.Links, func(l sandbox.Link) bool { return l.Late })
	if w.Fifo == "" {
		p.Dir, p.Argv, p.Env = "/", []string{"/"}, nil
	} else {
		p.Env = append(slices.Clip(p.Env), w.Env...)
		hand.Dir, hand.Argv, hand.Env = "", nil, nil
	}
	b := builder{policy: p, host: h}
	b.namespaces()
	b.layout()
	for _, dir := range folders(hand) {
		b.add("--perms", "0755", "--dir", dir)
	}
	b.add("--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/")
	work := b.shimPlan(filter)
	work.Stands, work.Waits = true, w.Fifo
	plan := b.started(work)
	plan.Stands, plan.Sources = true, sources(p)
	return plan, hand, nil
}

// seenBefore is a late mount of which something is to be seen through another one, which is not late; "" is none.
func seenBefore(mounts []sandbox.Mount) string {
	for _, m := range mounts {
		for _, other := range mounts {
			if m.Late && !other.Late && shows(other, m) {
				return m.Source
			}
		}
	}
	return ""
}

// shows says that an early mount shows a late one, or a part of it, before that is there.
func shows(early, late sandbox.Mount) bool {
	part := sandbox.Inside(early.Source, late.Source) && !sandbox.Inside(early.Target, late.Target) // else it goes with it
	return part || sandbox.Inside(late.Source, early.Source) || sandbox.Inside(late.Target, early.Target)
}

// apart parts what is late from a list.
func apart[T any](list []T, late func(T) bool) (early, rest []T) {
	for _, x := range list {
		if late(x) {
			rest = append(rest, x)
		} else {
			early = append(early, x)
		}
	}
	return early, rest
}

// folders are those that files and links of a hand-over come into.
func folders(h sandbox.Handover) []string {
	var out []string
	for _, f := range h.Files {
		out = append(out, path.Dir(f.Target))
	}
	for _, l := range h.Links {
		out = append(out, path.Dir(l.Target))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// late are the outermost of the places where late mounts come.
func (b *builder) late() []string {
	all := b.policy.Late()
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) })
	return outermost(all)
}

// sources are the paths of the host that the policy's mounts show.
func sources(p sandbox.Policy) []string {
	var out []string
	for _, m := range p.Mounts {
		out = append(out, m.Source)
	}
	for _, k := range p.Picks {
		out = append(out, k.Source)
	}
	return out
}
