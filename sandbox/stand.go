package sandbox

import "code.sidecar.dev/sandbox/shim"

// Handover is what a sandbox that stands is given for its run, which it was not made for yet: everything that the
// plan of Stand leaves out of the policy.
type Handover struct {
	Pins  []Pin
	Files []File
	Links []Link
	Dir   string
	Argv  []string
	Env   []string
	// Release is what a program that waits reads, and goes on.
	Release []byte
}

func (h Handover) order() shim.Order {
	out := shim.Handover{Pins: shimPins(h.Pins), Dir: h.Dir, Argv: h.Argv, Env: h.Env, Release: string(h.Release)}
	for _, f := range h.Files {
		out.Files = append(out.Files, shim.File{Path: f.Target, Data: string(f.Data), Mode: int(f.Mode)})
	}
	for _, l := range h.Links {
		out.Links = append(out.Links, shim.Link{Path: l.Target, To: l.To})
	}
	return shim.Order{Hand: &out}
}

// Wait is a program that is started ahead of its run, and waits for its code at a fifo: it opens Fifo, and reads Release
// from it, once it is ready. Where a file of the policy has the fifo's path it is there afterwards. The zero value is a
// program that is started with its run.
type Wait struct {
	Fifo string
	// Release is what it reads; Env are variables that it has beside the policy's.
	Release []byte
	Env     []string
}
