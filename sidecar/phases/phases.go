// Package phases has where a run's time went.
//
//	p := phases.New(time.Now())
//	end := p.Begin(phases.Discovery)
//	…
//	end()
//
// A nil *Phases takes everything and keeps nothing: what is not asked for costs a comparison. Phases may overlap, since much of a
// run is made ready while bubblewrap starts.
package phases

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// The phases of a run, in the order in which they usually come.
const (
	// Connect: finding the sidecar, starting one if there is none.
	Connect = "connect"
	// Settings: reading the client's settings. Queue: waiting for a place among the runs that go on.
	Settings = "settings"
	Queue    = "queue"
	// Environment: finding it, and having Nix build it. Grant: what the run may beyond its workspace, for which a person may be asked.
	Environment = "environment"
	Grant       = "grant"
	// Discovery: the workspace, its git facts and its protected paths, or remembering them.
	Discovery = "discovery"
	// Placeholders: making them. Plan: the policy, and its plan.
	Placeholders = "placeholders"
	Plan         = "policy and plan"
	// Check: whether what was remembered is still true. Guard: its beginning. History: waiting for the run's record.
	Check   = "check"
	Guard   = "guard begin"
	History = "history"
	// Bubblewrap: from its start to the shim's. Pins: the shim's mounts and limits, and what a sandbox that was ready is handed.
	Bubblewrap = "bubblewrap"
	Pins       = "shim pins"
	// Program: from its fork to its end. Teardown: until every process is gone and the output is read.
	Program  = "program"
	Teardown = "teardown"
	// Audit: the guard's end. Release: taking placeholders away.
	Audit   = "audit"
	Release = "release"
	// Answer: the way to the client, and what else there was on its side.
	Answer = "answer"
)

// Phases are those of one run. It is safe for many callers at once.
type Phases struct {
	start time.Time
	mu    sync.Mutex
	list  []protocol.Phase
}

// New begins to count at a time.
func New(start time.Time) *Phases { return &Phases{start: start} }

// If is New where it is wanted, and nil otherwise.
func If(wanted bool, start time.Time) *Phases {
	if !wanted {
		return nil
	}
	return New(start)
}

func nothing() {}

// Begin begins a phase; end ends it.
func (p *Phases) Begin(name string) (end func()) {
	if p == nil {
		return nothing
	}
	from := time.Now()
	return func() { p.Add(name, from, time.Now()) }
}

// Add adds a phase that is over.
func (p *Phases) Add(name string, from, to time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, protocol.Phase{Name: name, Start: protocol.Duration(from.Sub(p.start)), Duration: protocol.Duration(max(0, to.Sub(from)))})
}

// Start is when the run was asked for.
func (p *Phases) Start() time.Time { return p.start }

// List are the phases that are over, by their beginnings; of nil it is nil.
func (p *Phases) List() []protocol.Phase {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.Clone(p.list)
	slices.SortStableFunc(out, func(a, b protocol.Phase) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// End is when the last of some phases ends, counted from the request.
func End(list []protocol.Phase) (last protocol.Duration) {
	for _, one := range list {
		last = max(last, one.Start+one.Duration)
	}
	return last
}

// Uncovered is the time up to an end in which none of some phases was, which are in the order of their beginnings.
func Uncovered(list []protocol.Phase, end protocol.Duration) (free protocol.Duration) {
	var at protocol.Duration
	for _, one := range list {
		free += max(0, min(one.Start, end)-at)
		at = max(at, one.Start+one.Duration)
	}
	return free + max(0, end-at)
}
