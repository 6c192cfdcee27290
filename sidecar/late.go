package sidecar

import (
	"context"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/workspace"
)

// follow keeps the pins of a running sandbox true: in a large tree the guard's first look ends after the run's
// start, and what it then knows of (a repository nested deep) is held from that moment on.
func (p *prepared) follow(ctx context.Context, control *sandbox.Control) {
	if p.complete {
		return
	}
	if p.guard.Ready(ctx) != nil {
		return
	}
	control.Pin(p.latePins(p.ws), nil)
}

// latePins are those that the guard's knowledge of now asks for beyond the run's own.
func (p *prepared) latePins(ws *workspace.Workspace) []sandbox.Pin {
	known := p.guard.Known()
	ws.AddNested(known.Repositories)
	held := append(withoutPlaceholders(protect(ws, p.engine.rules(), known)), p.engine.own(ws)...) // what is not there cannot be mounted on
	return newPins(p.policy.Pins, sandbox.BuildPins(p.writable, pinsOf(held, known.Sockets)))
}

// newPins are those of want that have does not have.
func newPins(have, want []sandbox.Pin) []sandbox.Pin {
	old := map[string]bool{}
	for _, p := range have {
		old[p.Path] = true
	}
	var out []sandbox.Pin
	for _, p := range want {
		if !old[p.Path] {
			out = append(out, p)
		}
	}
	return out
}

// repin holds a path again after a host program replaced it: the kernel drops the mounts of a file that is
// replaced or unlinked from outside (git writes its config so), and the run would see the new one bare. again is told when it
// is held.
func (p *prepared) repin(control *sandbox.Control, path string, again func()) {
	for _, pin := range p.policy.Pins {
		if pin.Path == path && pin.Kind != sandbox.Border {
			control.Pin([]sandbox.Pin{pin}, again)
		}
	}
}
