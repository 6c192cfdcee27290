package server

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/protocol"
)

const (
	// remembered is how many ended runs a sidecar knows.
	remembered = 200
	// shownCode is how much of a run's code, or command, its clients are told, and shownName of a name.
	shownCode = 4 << 10
	shownName = 200
)

// run is one run, from its request on.
type run struct {
	id     string
	token  string
	asker  *client
	cancel context.CancelFunc
	stdin  *io.PipeReader
	input  *io.PipeWriter

	mu    sync.Mutex
	shown protocol.Run
	// look is how to see the output so far; after the end, kept is what there is.
	look  sidecar.Live
	kept  map[protocol.Stream]sidecar.Kept
	ended bool
	// turn is closed when the last piece of input that came has been handed over.
	turn chan struct{}
}

// runs are those that go on and those that are remembered.
type runs struct {
	mu      sync.Mutex
	current map[string]*run
	before  []*run // the oldest first
	count   int
	// over is called once no run goes on.
	over []func()
}

func newRuns() *runs { return &runs{current: map[string]*run{}} }

// add enters a run that is about to start.
func (r *runs) add(n *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current[n.id] = n
}

// remove moves a run to those that are remembered.
func (r *runs) remove(n *run) {
	r.mu.Lock()
	delete(r.current, n.id)
	r.before = append(r.before, n)
	if over := len(r.before) - remembered; over > 0 {
		r.before = slices.Delete(r.before, 0, over)
	}
	r.count++
	var call []func()
	if len(r.current) == 0 {
		call, r.over = r.over, nil
	}
	r.mu.Unlock()
	for _, f := range call {
		f()
	}
}

// none says that no run goes on.
func (r *runs) none() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.current) == 0
}

// whenNone calls f once no run goes on.
func (r *runs) whenNone(f func()) {
	r.mu.Lock()
	if len(r.current) > 0 {
		r.over = append(r.over, f)
		f = func() {}
	}
	r.mu.Unlock()
	f()
}

func (r *runs) cancelAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.current {
		n.cancel()
	}
}

// find gives a run by its id.
func (r *runs) find(id string) (*run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.current[id]; ok {
		return n, nil
	}
	for _, n := range slices.Backward(r.before) {
		if n.id == id {
			return n, nil
		}
	}
	return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "no run " + quoted(id) + " is known to this sidecar", Hint: "ask `sidecar runs` (sidecar/runs) for those that are"}
}

// of is how many runs of a client go on.
func (r *runs) of(c *client) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, x := range r.current {
		if x.asker == c {
			n++
		}
	}
	return n
}

// list gives runs, the newest first.
func (r *runs) list(limit int, liveOnly bool) []protocol.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []protocol.Run{}
	for _, n := range r.current {
		out = append(out, n.show())
	}
	if !liveOnly {
		for _, n := range r.before {
			out = append(out, n.show())
		}
	}
	slices.SortFunc(out, func(a, b protocol.Run) int { return b.Started.Compare(a.Started) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// ran is how many have ended.
func (r *runs) ran() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// show is the run as clients see it.
func (n *run) show() protocol.Run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.shown
}

// end notes how the run ended.
func (n *run) end(result protocol.RunResult, err *protocol.Error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
	n.keep()
	n.shown.End = &protocol.RunEnd{Time: time.Now(), ExitCode: result.ExitCode, Signal: result.Signal, Limit: result.Limit, Cancelled: result.Cancelled,
		Duration: result.Duration, MaxRSS: result.MaxRSS, Stdout: result.Stdout.Bytes, Stderr: result.Stderr.Bytes, Findings: result.Findings, Error: err}
	if err != nil {
		n.shown.End.ExitCode = -1
	}
}

// keptBytes is how much of a stream without a file is remembered: more is only there when storing it failed.
const keptBytes = 4 << 10

// keep lets go of the buffers of a run that has ended.
func (n *run) keep() {
	if n.look == nil {
		return
	}
	n.kept = map[protocol.Stream]sidecar.Kept{}
	for _, s := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		k := n.look(s)
		k.Head = slices.Clone(k.Head[:min(len(k.Head), keptBytes)])
		n.kept[s] = k
	}
	n.look = nil
}

// printed is what there is of a stream, and whether the run has ended.
func (n *run) printed(s protocol.Stream) (sidecar.Kept, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.look != nil {
		return n.look(s), n.ended
	}
	return n.kept[s], n.ended
}

// started takes note of how to see the output of a run that has begun.
func (n *run) started(look sidecar.Live) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.look = look
}

// queue gives a piece of input its place: it is to wait for before, and close done.
func (n *run) queue() (before, done chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, done = n.turn, make(chan struct{})
	n.turn = done
	return before, done
}
