package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// asks are the requests that we sent to the client and that it has not answered.
type asks struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan message
}

// open makes a new id and the channel on which its answer comes.
func (a *asks) open() (json.RawMessage, chan message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[string]chan message{}
	}
	a.last++
	id := json.RawMessage(strconv.Quote("sidecar-" + strconv.Itoa(a.last)))
	answer := make(chan message, 1)
	a.waiting[keyOf(id)] = answer
	return id, answer
}

func (a *asks) forget(id json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, keyOf(id))
}

// deliver hands an answer to whoever asked. One that nobody waits for is dropped, also a second one.
func (a *asks) deliver(m message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer := a.waiting[keyOf(m.ID)]; answer != nil {
		delete(a.waiting, keyOf(m.ID))
		answer <- m
	}
}

// ask sends the client a request and waits for its answer. One that is waited for no more is cancelled.
func (c *conn) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id, answer := c.asks.open()
	defer c.asks.forget(id)
	c.out.send(notice{JSONRPC: mcp.JSONRPC_VERSION, ID: id, Method: method, Params: params}, nil)
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("the client answered %s with %.200s", method, m.Error)
		}
		return m.Result, nil
	case <-ctx.Done():
		c.out.send(notice{JSONRPC: mcp.JSONRPC_VERSION, Method: "notifications/cancelled", Params: map[string]any{"requestId": id}},
			func() bool { return c.ctx.Err() == nil })
		return nil, fmt.Errorf("the client did not answer %s: %w", method, context.Cause(ctx))
	}
}
