package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// What a client can have in flight, so that one that only ever asks costs a bounded amount of memory.
const (
	maxCalls = 1024
	maxHeld  = 256 << 20
	// maxRuns run at once; further ones wait for their turn in the order of arrival.
	maxRuns = 64
)

// grace is how long answers may take to get out once the end has come.
const grace = 2 * time.Second

// Why a call ends before it is done.
var (
	errCancelled = errors.New("cancelled by the client")
	errEnd       = errors.New("the client closed the connection")
	errHangup    = errors.New("the client is gone")
)

// conn is the connection to the one client. mcp-go's MCPServer answers single messages; reading, cancelling,
// ordering and ending are done here, since its ServeStdio loses cancels and lets progress come after the result.
type conn struct {
	o       Options
	log     *slog.Logger
	mcp     *server.MCPServer
	session *session
	out     *writer
	asks    asks
	roots   *roots
	outputs outputs
	waits   waits
	// told says that a result had the notes of the start.
	told atomic.Bool
	// turn holds a token while a person is asked, in the revisions in which that is a request of ours.
	turn chan struct{}
	ctx  context.Context
	stop context.CancelCauseFunc
	// slots holds one token for each run; who waits to put one in is served in order.
	slots chan struct{}

	mu      sync.Mutex
	calls   map[string]*call
	held    int
	closing bool
	work    sync.WaitGroup
}

func newConn(ctx context.Context, out io.Writer, o Options) *conn {
	c := &conn{o: o, log: o.Log, session: newSession(), calls: map[string]*call{}, slots: make(chan struct{}, maxRuns), turn: make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancelCause(ctx)
	c.out = newWriter(out, c.lost)
	c.roots = newRoots(c)
	c.mcp = newServer(c)
	return c
}

// lost notes that the client cannot be written to.
func (c *conn) lost(err error) {
	c.log.Info("writing to the client", "error", err)
	c.stop(errHangup)
}

// read takes in messages until there are no more.
func (c *conn) read(in *lines) error {
	for {
		line, err := in.next()
		switch {
		case err == errTooLong:
			c.refuse(refuse(idOfLong(line), mcp.INVALID_REQUEST, err.Error()+"; pass large input in a file of the workspace"))
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("reading from the client: %w", err)
		default:
			c.take(line)
		}
	}
}

// take dispatches one message. It never waits for the client to read, save when there are too many calls.
func (c *conn) take(line []byte) {
	m, refusal := parse(line)
	switch {
	case refusal != nil:
		c.refuse(*refusal)
	case m.Method == "":
		c.asks.deliver(m)
	case m.ID == nil:
		c.notified(m)
	default:
		c.request(m, line)
	}
}

// notified acts on a notification, at once and before anything behind it is read.
func (c *conn) notified(m message) {
	switch m.Method {
	case "notifications/cancelled":
		c.cancel(m.Params)
	case "notifications/initialized", mcp.MethodNotificationRootsListChanged:
		c.roots.refresh()
	}
}

// cancel ends the call that the client names, wherever it is: its entry was made while it was read.
func (c *conn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[keyOf(p.ID)]; call != nil {
		call.cancel()
	}
}

// request enters a call and answers it beside all others. Only initialize is answered in place: what comes after
// it, even in the same breath, depends on what it says.
func (c *conn) request(m message, line []byte) {
	call, refusal := c.begin(m, len(line))
	if refusal != nil {
		c.refuse(*refusal)
		return
	}
	if call == nil {
		return
	}
	short := call.read(m, line)
	if m.Method == string(mcp.MethodInitialize) {
		c.serve(call, short)
		return
	}
	go c.serve(call, short)
	runtime.Gosched() // on this thread, which is awake: the next read is the one that another one is woken for
}

// begin makes the entry of a call. Nil without a refusal says that the connection is ending.
func (c *conn) begin(m message, size int) (*call, *reply) {
	key := keyOf(m.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing:
		return nil, nil
	case c.calls[key] != nil:
		// To answer under that id would answer the other request.
		return nil, answer(refuse(nil, mcp.INVALID_REQUEST, fmt.Sprintf("id %.100s is in use by a request that is not answered yet", m.ID)))
	case len(c.calls) >= maxCalls || c.held+size > maxHeld && c.held > 0:
		return nil, answer(refuse(m.ID, errorBusy, fmt.Sprintf("busy: %d requests of %d bytes are in work; wait for some of them", len(c.calls), c.held)))
	}
	call := &call{conn: c, id: m.ID, size: size}
	call.ctx, call.stop = context.WithCancelCause(context.WithValue(c.mcp.WithContext(c.ctx, c.session), callKey{}, call))
	c.calls[key] = call
	c.held += size
	c.work.Add(1)
	return call, nil
}

// end takes the entry of a call out.
func (c *conn) end(call *call) {
	call.stop(nil)
	c.answering(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held -= call.size
	c.work.Done()
}

// answering takes a call out of those that can be cancelled: a client that has the answer must not end by it what the
// answer says goes on.
func (c *conn) answering(call *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := keyOf(call.id); c.calls[key] == call {
		delete(c.calls, key)
	}
}

// serve has mcp-go answer a call.
func (c *conn) serve(call *call, line json.RawMessage) {
	defer c.end(call)
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic", "in", string(call.id), "value", p, "stack", string(debug.Stack()))
			call.tell(refuse(call.id, mcp.INTERNAL_ERROR, "internal error; the log has more"))
		}
	}()
	answer := c.mcp.HandleMessage(call.ctx, line)
	for n, ok := c.session.next(); ok; n, ok = c.session.next() {
		call.tell(n)
	}
	if call.ctx.Err() == nil {
		c.answering(call)
	}
	if r, ok := withID(call.id, answer); call.refusal != nil {
		call.tell(*call.refusal)
	} else if ok {
		call.tell(r)
	}
}

// refuse answers what never became a call, without holding up the reader while the client does not read, as long
// as there are not too many of them.
func (c *conn) refuse(r reply) {
	c.mu.Lock()
	few := len(c.calls) < maxCalls && !c.closing
	if few {
		c.work.Add(1)
	}
	c.mu.Unlock()
	if !few {
		c.out.send(r, nil)
		return
	}
	go func() {
		defer c.work.Done()
		c.out.send(r, nil)
	}()
}

// shut cancels what is left and waits for it: for runs as long as they take to end, for the client to read its
// last answers only so long.
func (c *conn) shut() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.stop(errEnd)
	late := time.AfterFunc(grace, c.out.close)
	defer late.Stop()
	c.work.Wait()
	c.out.close()
}

// keyOf makes one key of all spellings of an id, and keeps 1 and "1" apart.
func keyOf(id json.RawMessage) string {
	var text string
	if len(id) > 0 && id[0] == '"' && json.Unmarshal(id, &text) == nil {
		return "s" + text
	}
	return "n" + string(id)
}
