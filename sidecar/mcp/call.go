package mcp

import (
	"context"
	"encoding/json"
	"sync/atomic"
)

// call is one request of the client, from the moment it is read until it is answered or cancelled.
type call struct {
	conn *conn
	id   json.RawMessage
	ctx  context.Context
	stop context.CancelCauseFunc
	// silent is set when the client cancelled: from then on it hears no more of this call.
	silent atomic.Bool
	// size is how many bytes of the client's this call holds.
	size int
	// arguments are a tool call's, which mcp-go does not get to see.
	arguments json.RawMessage
	// token is the client's for progress, as it sent it; nil when it wants none.
	token json.RawMessage
	// traceParent and traceState are the trace that the call is part of, if its _meta says one.
	traceParent, traceState string
	// refusal takes the place of mcp-go's answer, which has one code for all that a handler fails with.
	refusal *reply
}

// wanted says whether the client still waits for this call.
func (c *call) wanted() bool { return !c.silent.Load() }

// cancel ends the call on the client's word.
func (c *call) cancel() {
	c.silent.Store(true)
	c.stop(errCancelled)
}

// tell sends the client something about this call, unless it was cancelled.
func (c *call) tell(message any) { c.conn.out.send(message, c.wanted) }

// callKey finds the call in the context of a handler.
type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }
