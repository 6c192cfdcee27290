package server

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
)

const (
	// remembered is how many ended runs a sidecar knows.
	remembered = 200
	// shownName is how much is told of a client's name.
	shownName = 200
)

// run is one run, from its request on.
type run struct {
	id    string
	token string
	asker *client
	// approvals says that the asker can ask a person about this run.
	approvals bool
	cancel    context.CancelFunc
	// phases are where its time goes, if somebody asked for that.
	phases *phases.Phases
	stdin  *io.PipeReader
	input  *io.PipeWriter
	*control

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
	// trim gives memory back when no run has gone on for a while.
	trim *time.Timer
}

// trimAfter is how long after the last run memory is given back: an idle sidecar is one of many.
const trimAfter = 500 * time.Millisecond

func newRuns() *runs {
	r := &runs{current: map[string]*run{}}
	r.trim = time.AfterFunc(trimAfter, r.giveBack)
	return r
}

// giveBack returns memory that runs needed to the system. Pools let go of what nobody uses at the second collection only
// (sync.Pool), and the history's has megabytes.
func (r *runs) giveBack() {
	if r.none() {
		runtime.GC()
		debug.FreeOSMemory()
	}
}

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
	r.before = append(r.before, n.past(n.asker))
	if over := len(r.before) - remembered; over > 0 {
		r.before = slices.Delete(r.before, 0, over)
	}
	r.count++
	var call []func()
	if len(r.current) == 0 {
		call, r.over = r.over, nil
		r.trim.Reset(trimAfter)
	}
	r.mu.Unlock()
	for _, f := range call {
		f()
	}
}

// leave lets go of a client that is gone: its connection would stay in memory with each run that it asked for.
func (r *runs) leave(c *client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range r.before {
		if n.asker == c {
			r.before[i] = n.past(nil)
		}
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

// list gives all runs, those that go on and those that are remembered.
func (r *runs) list() []protocol.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []protocol.Run{}
	for _, n := range r.current {
		out = append(out, n.show())
	}
	for _, n := range r.before {
		out = append(out, n.show())
	}
	return out
}

// live gives those that go on, the newest first.
func (r *runs) live() []protocol.Run {
	return protocol.RunsParams{Live: true}.Of(r.list())
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

// runs takes note of the command, which may be the profile's.
func (n *run) runs(req protocol.RunRequest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shown.Command = sidecar.Shown(n.id, req, n.shown.Started).Command
}

// end notes how the run ended.
func (n *run) end(result protocol.RunResult, err *protocol.Error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
	n.keep()
	n.shown.End = sidecar.Ended(result, err)
}

// past is what is remembered of a run that has ended, without the way to its sandbox.
func (n *run) past(asker *client) *run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return &run{id: n.id, token: n.token, asker: asker, cancel: func() {}, control: new(control), shown: n.shown, kept: n.kept, ended: true}
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
