package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// In 2026-07-28 a question is the answer to the call that started a run: "input required", with a state that names the run
// and the question. The run goes on waiting; the call that comes again with the person's answer and the state goes on
// waiting with it.

// waiting is a run that outlives the call it was asked for in.
type waiting struct {
	conn  *conn
	state string
	about string
	ctx   context.Context
	stop  context.CancelCauseFunc
	// turn holds a token while a question is open; put takes it to the call that attends.
	turn chan struct{}
	put  chan *opened
	// done is closed when there is a result.
	done   chan struct{}
	result *mcp.CallToolResult

	mu    sync.Mutex
	shown *progress
	open  *opened
	asked int
	// left says that nobody came back for a question; further ones are not put before a call attends again.
	left bool
}

// errNoRun is never shown: the call is refused.
var errNoRun = errors.New("no run waits")

// opened is a question that is waited for.
type opened struct {
	// number is its own among the run's questions, from 1; it is in the state, and in the key of the answer.
	number int
	q      protocol.Question
	answer chan protocol.Answer
}

func (o *opened) key() string { return "approve-" + strconv.Itoa(o.number) }

// asks says whether the run has asked a question of that number.
func (w *waiting) asks(number string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := strconv.Atoi(number)
	return err == nil && n >= 1 && n <= w.asked && strconv.Itoa(n) == number
}

// wait starts a run for a call, and attends to it.
func (c *conn) wait(call *call, where choice, params protocol.RunParams) *mcp.CallToolResult {
	w := &waiting{conn: c, state: rand.Text(), about: about(where, params), turn: make(chan struct{}, 1), put: make(chan *opened), done: make(chan struct{})}
	w.ctx, w.stop = context.WithCancelCause(c.ctx)
	c.waits.enter(w)
	c.work.Add(1) // the call's own entry keeps it from being over
	go func() {
		defer c.work.Done()
		defer w.end()
		w.result = w.run(where, params, Watch{Output: w.write, Building: w.building, Approve: w.approve, TraceParent: call.traceParent, TraceState: call.traceState})
	}()
	return w.attend(call)
}

// run does the run.
func (w *waiting) run(where choice, params protocol.RunParams, seen Watch) (result *mcp.CallToolResult) {
	defer func() {
		if p := recover(); p != nil {
			w.conn.log.Error("panic", "in", w.state, "value", p, "stack", string(debug.Stack()))
			result = failure(&protocol.Error{Kind: protocol.Internal, Message: "internal error; the log has more"})
		}
	}()
	free, err := w.conn.slot(w.ctx)
	if err != nil {
		return failure(err)
	}
	defer free()
	return w.conn.do(w.ctx, where, params, seen)
}

// end has the result kept for a while.
func (w *waiting) end() {
	w.stop(nil)
	all, state := &w.conn.waits, w.state // the timer is not to keep the result
	all.keep(state)
	close(w.done)
	time.AfterFunc(keptFor, func() { all.forget(state) })
}

// resume goes on with a run when a call comes again. A state that is none of this connection's is refused, as the
// specification asks.
func (c *conn) resume(call *call, p mcp.MultiRoundTripParams) *mcp.CallToolResult {
	w := c.waits.find(p.RequestState)
	if w == nil {
		call.refusal = answer(refuse(call.id, mcp.INVALID_PARAMS, fmt.Sprintf("no run waits under the requestState %.80q: a run waits %v for an answer, and its result as long for its call, on the connection that asked for it; what it did stays. Call run_code anew, without the state",
			p.RequestState, answerWithin)))
		return failure(errNoRun)
	}
	if open := w.deliver(p.InputResponses); open != nil {
		w.follow(call)
		return w.required(open)
	}
	return w.attend(call)
}

// deliver hands the person's answer to the question that is open. A question that stays open is given back; what answers
// another one came too late and is left out.
func (w *waiting) deliver(responses mcp.InputResponses) *opened {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		return nil
	}
	response, ok := responses[w.open.key()]
	if !ok {
		return w.open
	}
	raw, err := json.Marshal(response)
	if err != nil {
		raw = null
	}
	w.open.answer <- readAnswer(w.open.q, raw)
	w.open = nil
	return nil
}

// follow has the run cancelled if the client cancels the call, also after a question was made its answer but before that
// is out. After that there is no call to cancel: the run waits for the person, and only time, or the end of the
// connection, ends that.
func (w *waiting) follow(call *call) {
	context.AfterFunc(call.ctx, func() {
		if cause := context.Cause(call.ctx); errors.Is(cause, errCancelled) {
			w.stop(cause)
		}
	})
}

// attend waits with a call for the result, or for the next question.
func (w *waiting) attend(call *call) *mcp.CallToolResult {
	w.follow(call)
	p := startProgress(call, call.token)
	defer p.finish()
	w.show(p)
	defer w.show(nil)
	select {
	case open := <-w.put:
		return w.required(open)
	case <-w.done:
		w.conn.waits.forget(w.state)
		return w.result
	case <-call.ctx.Done():
		return failure(context.Cause(call.ctx))
	}
}

// required sends a call back for the answer to a question.
func (w *waiting) required(open *opened) *mcp.CallToolResult {
	return server.NewInputRequestBuilder(w.state+"."+strconv.Itoa(open.number)).Elicit(open.key(), form(open.q, w.about, true)).ToolResult()
}

// show has a call see the run from now on; nil is none.
func (w *waiting) show(p *progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown = p; p != nil {
		w.left = false
	}
}

func (w *waiting) write(s protocol.Stream, printed []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown != nil {
		w.shown.write(s, printed)
	}
}

func (w *waiting) building(b protocol.Building) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown != nil {
		w.shown.building(b)
	}
}

// approve puts a question to the person, one at a time. Each run's is asked in its own call, so others need not wait.
func (w *waiting) approve(ctx context.Context, q protocol.Question) protocol.Answer {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, answerWithin)
	defer stop()
	open := w.next(q)
	if open == nil {
		return ""
	}
	defer w.close(open)
	put := w.put
	for {
		select {
		case put <- open:
			put = nil
		case answer := <-open.answer:
			return answer
		case <-ctx.Done():
			w.leave(ctx)
			return ""
		}
	}
}

// next opens a question; nil when nobody is there to come back for it.
func (w *waiting) next(q protocol.Question) *opened {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left {
		return nil
	}
	w.asked++
	w.open = &opened{number: w.asked, q: q, answer: make(chan protocol.Answer, 1)}
	return w.open
}

func (w *waiting) close(open *opened) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == open {
		w.open = nil
	}
}

// leave notes that nobody came back in time.
func (w *waiting) leave(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = w.shown == nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}
