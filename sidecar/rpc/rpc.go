// Package rpc is the channel between a sidecar and its clients: JSON-RPC 2.0 with LSP's base protocol, made so that
// no peer can harm the other by what it sends, by not reading, or by going away.
//
//	peer := rpc.New(ctx, conn, rpc.Options{Handle: handle})
//	var result protocol.StatusResult
//	err := peer.Call(ctx, protocol.MethodStatus, nil, &result)
//
// Requests are handled beside each other, notifications in the order of their arrival, and a cancel acts before
// anything behind it is read. A handler's panic, a notification's error and an unknown notification end nothing; a
// peer that disconnects cancels what it asked for. It does not authenticate: who may connect is the socket's matter.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/protocol"
)

// maxCalls is how many requests of one peer are in work at once; more are refused.
const maxCalls = 1024

// Handler answers one request (params are the caller's to keep) or takes a notification, whose result and error are dropped.
type Handler func(ctx context.Context, method string, params json.RawMessage) (any, error)

// Options say what a Peer does.
type Options struct {
	// Handle takes requests and notifications; nil refuses them.
	Handle Handler
	// LSP takes the methods of the Language Server Protocol first; nil leaves them to Handle.
	LSP lsp.Server
	// Ordered names the requests whose handlers run before anything behind them is read, until they call Release.
	Ordered map[string]bool
	Log     *slog.Logger
}

// Peer is the other side of a connection.
type Peer struct {
	conn   jsonrpc2.Conn
	stream *stream
	stop   context.CancelCauseFunc
	log    *slog.Logger
	// calls holds a token for each request in work.
	calls chan struct{}
	// open is how many requests of the peer are not answered yet.
	open atomic.Int64

	mu      sync.Mutex
	working map[jsonrpc2.ID]context.CancelFunc
}

// errDisconnected is why what a peer asked for is cancelled when it is gone.
var errDisconnected = errors.New("the client disconnected")

// New starts to read from conn, which the Peer then owns. It ends when conn does, or with Close.
func New(ctx context.Context, conn net.Conn, o Options) *Peer {
	ctx, stop := context.WithCancelCause(ctx)
	p := &Peer{stop: stop, log: o.Log, calls: make(chan struct{}, maxCalls), working: map[jsonrpc2.ID]context.CancelFunc{}}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.stream = newStream(conn, func() { stop(errDisconnected) })
	p.conn = jsonrpc2.NewConn(p.stream, jsonrpc2.WithCodec(codec{}))
	p.conn.Go(ctx, p.guard(p.cancellable(p.dispatch(o))))
	return p
}

// guard keeps a handler's fault to the message it is about.
func (p *Peer) guard(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
		call := req.IsCall()
		method := req.Method()
		defer func() {
			if v := recover(); v != nil {
				p.log.Error("panic", "in", method, "value", v, "stack", string(debug.Stack()))
				err = &protocol.Error{Kind: protocol.Internal, Message: "internal error in " + method, Hint: "the sidecar's log has more"}
			}
			if err != nil && !call {
				p.log.Debug("a notification was not understood", "method", method, "err", err)
				err = nil
			}
			if err != nil {
				err = onWire(err)
			}
		}()
		return next(ctx, req)
	}
}

// cancellable gives each request a context that $/cancelRequest ends. jsonrpc2's own handler derives it from a
// context that is used again for the next request, which is a race for every request that is answered in place.
func (p *Peer) cancellable(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(request context.Context, req *jsonrpc2.Request) (any, error) {
		ctx := jsonrpc2.DetachContext(request)
		if req.Method() == lsp.MethodCancelRequest {
			return nil, p.cancel(req.Params())
		}
		if !req.IsCall() {
			return next(ctx, req)
		}
		ctx, cancel := context.WithCancel(ctx)
		ctx = context.WithValue(ctx, releaseKey{}, sync.OnceFunc(func() { jsonrpc2.Async(request) }))
		p.open.Add(1)
		answered := request.Done() // jsonrpc2 ends a request's context when its answer was written
		go func() {
			<-answered
			p.open.Add(-1)
		}()
		id := req.ID()
		p.mu.Lock()
		p.working[id] = cancel
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			delete(p.working, id)
			p.mu.Unlock()
			cancel()
		}()
		return next(ctx, req)
	}
}

// cancel ends the context of a request.
func (p *Peer) cancel(raw jsonrpc2.RawMessage) error {
	var params lsp.CancelParams
	if err := lsp.Unmarshal(raw, &params); err != nil {
		return err
	}
	var id jsonrpc2.ID
	switch n := params.ID.(type) {
	case lsp.Integer:
		id = jsonrpc2.NewNumberID(int64(n))
	case lsp.String:
		id = jsonrpc2.NewStringID(string(n))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.working[id]; cancel != nil {
		cancel()
	}
	return nil
}

// releaseKey is where a request's context has what Release does.
type releaseKey struct{}

// dispatch hands requests on, each beside the others.
func (p *Peer) dispatch(o Options) jsonrpc2.Handler {
	standard := func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil }
	if o.LSP != nil {
		standard = lsp.ServerHandler(o.LSP, nil)
	}
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.IsCall() { // waiting here would leave the end of the connection, and cancels, unread
			select {
			case p.calls <- struct{}{}:
				defer func() { <-p.calls }()
			default:
				return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("%d requests of this connection are not answered yet", maxCalls), Hint: "wait for some of them"}
			}
		}
		if req.IsCall() && !o.Ordered[req.Method()] {
			Release(ctx)
		}
		if o.LSP != nil && !ours(req.Method()) {
			result, err := standard(ctx, req)
			if errors.Is(err, jsonrpc2.ErrMethodNotFound) {
				err = Unknown(req.Method())
			}
			return result, err
		}
		if o.Handle == nil {
			return nil, Unknown(req.Method())
		}
		params := append(json.RawMessage(nil), req.Params()...)
		return o.Handle(ctx, req.Method(), params)
	}
}

// Release lets what comes behind an ordered request be read while its handler goes on. Once is enough, more does nothing.
func Release(ctx context.Context) {
	if release, ok := ctx.Value(releaseKey{}).(func()); ok {
		release()
	}
}

// ours says that a method is sidecar's own, not LSP's.
func ours(method string) bool {
	return strings.HasPrefix(method, "sidecar/")
}

// Unknown is the error for a method that is not there.
func Unknown(method string) error {
	return jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "unknown method %.100q", method)
}

// NotInitialized is the error for what comes before initialize.
func NotInitialized(method string) error {
	return jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "%.100q before initialize; send that first", method)
}

// AfterShutdown is the error for what comes after shutdown (LSP, section on shutdown).
func AfterShutdown(method string) error {
	return jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "%.100q after shutdown; connect anew", method)
}

// Call asks the peer and waits for its answer; when ctx ends it sends $/cancelRequest and returns at once. Errors
// that the peer sent are *protocol.Error; that it is gone is one of kind Gone.
func (p *Peer) Call(ctx context.Context, method string, params, result any) error {
	return fromWire(lsp.Call(ctx, p.conn, method, params, result))
}

// sentKey is where a call's context has what is to be done once the call is on its way.
type sentKey struct{}

// Start is Call in the background: it returns when the request is on its way, so that what is sent after it arrives
// after it, and gives the answer's error later.
func (p *Peer) Start(method string, params, result any) <-chan error {
	answered, sent := make(chan error, 1), make(chan struct{})
	var once sync.Once
	ctx := context.WithValue(context.Background(), sentKey{}, func() { once.Do(func() { close(sent) }) })
	go func() {
		_, err := p.conn.Call(ctx, method, params, result)
		once.Do(func() { close(sent) })
		answered <- fromWire(err)
	}()
	<-sent
	return answered
}

// Notify sends a notification; it waits while the peer does not read.
func (p *Peer) Notify(method string, params any) error {
	return fromWire(p.conn.Notify(context.Background(), method, params))
}

// Push sends a notification without waiting. A peer that lets too much pile up is disconnected.
func (p *Peer) Push(method string, params any) {
	raw, err := codec{}.Marshal(params)
	if err != nil {
		p.log.Error("a notification cannot be written", "method", method, "err", err)
		return
	}
	if !p.stream.push(jsonrpc2.NewNotification(method, raw)) {
		p.log.Warn("disconnecting a client that does not read")
		p.Drop()
	}
}

// Send is Push once there is room; until then it waits, at most until ctx ends, when it sends nothing and says so.
func (p *Peer) Send(ctx context.Context, method string, params any) bool {
	sent := p.stream.await(ctx)
	if sent {
		p.Push(method, params)
	}
	return sent
}

// Room says whether what is sent now would not wait behind much that the peer has not read yet.
func (p *Peer) Room() bool { return p.stream.room() }

// Unread says for how long the peer has read nothing although something waits for it; 0 is nothing waits.
func (p *Peer) Unread() time.Duration { return p.stream.unread() }

// Done is closed when the connection has ended.
func (p *Peer) Done() <-chan struct{} { return p.stream.gone }

// Close ends the connection after the answers to what is in work and what was sent so far, if that is a matter of a
// moment.
func (p *Peer) Close() {
	for until := time.Now().Add(lingering); p.open.Load() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	p.stream.flush()
	p.Drop()
}

// Drop ends the connection at once.
func (p *Peer) Drop() {
	p.stop(errDisconnected)
	_ = p.stream.Close()
}

// onWire is err as JSON-RPC has it: the kind's code, and kind and hint as data. One that came from another peer goes on as it
// came.
func onWire(err error) error {
	var wire *jsonrpc2.Error
	known := protocol.AsError(err)
	switch came := errors.As(err, &wire); {
	case came && known.Err == error(wire):
		return wire
	case came && known.Err == nil:
		return err
	}
	data, _ := json.Marshal(errorData{known.Kind, known.Hint, known.Log})
	return &jsonrpc2.Error{Code: jsonrpc2.Code(known.Kind.Code()), Message: known.Message, Data: data}
}

// fromWire finds the *protocol.Error in what JSON-RPC has.
func fromWire(err error) error {
	var wire *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wire):
		return fromCode(wire)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, jsonrpc2.ErrClientClosing), errors.Is(err, jsonrpc2.ErrServerClosing), errors.Is(err, errBroken):
		return &protocol.Error{Kind: protocol.Gone, Message: "the sidecar ended", Err: err}
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return &protocol.Error{Kind: protocol.Gone, Message: "the sidecar ended: " + op.Err.Error(), Err: err}
	}
	return err
}

func fromCode(wire *jsonrpc2.Error) error {
	out := &protocol.Error{Kind: protocol.Internal, Message: wire.Message, Err: wire}
	var data errorData
	if json.Unmarshal(wire.Data, &data) == nil && data.Kind != "" {
		out.Kind, out.Hint, out.Log = data.Kind, data.Hint, data.Log
	}
	return out
}

// errorData is what JSON-RPC's errors carry beside their message.
type errorData struct {
	Kind protocol.ErrorKind `json:"kind"`
	Hint string             `json:"hint,omitempty"`
	Log  string             `json:"log,omitempty"`
}

// Params reads the parameters of a request; none are the zero value. The error is one of kind BadRequest.
func Params[T any](method string, raw json.RawMessage) (T, error) {
	var v T
	if len(raw) == 0 || string(raw) == "null" {
		return v, nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the parameters of %s: %s", method, protocol.WithoutGo(err.Error())), Err: err}
	}
	return v, nil
}
