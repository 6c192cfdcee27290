package client

import (
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/protocol"
)

// Pool has a connection to the sidecar of each workspace that it was asked about, and makes a new one when that
// sidecar ended.
type Pool struct {
	o  Options
	mu sync.Mutex
	by map[string]*slot
}

// slot is the connection to one workspace's sidecar; its lock is held while it is made.
type slot struct {
	mu sync.Mutex
	c  *Client
}

// NewPool makes a pool. It connects to nobody yet.
func NewPool(o Options) *Pool { return &Pool{o: o, by: map[string]*slot{}} }

// Close ends all connections.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.by {
		s.mu.Lock()
		if s.c != nil {
			s.c.Close()
		}
		s.mu.Unlock()
	}
}

// Of is the connection for the workspace at root, which has its links resolved.
func (p *Pool) Of(ctx context.Context, root string) (*Client, error) {
	p.mu.Lock()
	s := p.by[root]
	if s == nil {
		s = new(slot)
		p.by[root] = s
	}
	p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c != nil && !s.c.over() {
		return s.c, nil
	}
	c, err := Connect(ctx, root, p.o)
	s.c = c
	return c, err
}

// over says whether the connection has ended.
func (c *Client) over() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// persistence is for how long what had not begun is asked for again, of sidecars that make way, end or are killed just then.
const persistence = 5 * time.Second

// again waits a little before the next attempt, each time longer, and says whether there is one.
type again struct {
	until time.Time
	pause time.Duration
}

func (a *again) wait(ctx context.Context) bool {
	if a.until.IsZero() {
		a.until, a.pause = time.Now().Add(persistence), 5*time.Millisecond
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(a.pause):
	}
	a.pause *= 2
	return time.Now().Before(a.until)
}

// Run does a run in the workspace at root. If its sidecar is gone before the run began, it is asked for again;
// if the sidecar ended while it went on, what it left is cleared away, and the error says so.
func (p *Pool) Run(ctx context.Context, root string, req protocol.RunRequest, stdin io.Reader, w Watch) (protocol.RunResult, error) {
	var next again
	for {
		c, err := p.Of(ctx, root)
		if err != nil {
			return protocol.RunResult{}, err
		}
		result, began, err := c.run(ctx, req, stdin, w)
		if !gone(err) {
			return result, err
		}
		c.Close()
		if began || ctx.Err() != nil {
			return result, c.lost(err)
		}
		if !next.wait(ctx) {
			return result, err
		}
	}
}

// lost waits for a dead sidecar's end and clears its placeholders away; the error is for who asked for the run.
func (c *Client) lost(err error) error {
	pid := c.about.PID
	for range 100 {
		if syscall.Kill(pid, 0) != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	message := fmt.Sprintf("the sidecar (process %d) ended while the run went on; the run was ended with it", pid)
	if swept := sidecar.Sweep(c.about.State); swept != nil {
		message += fmt.Sprintf(", and its placeholders could not be taken away: %v", swept)
	}
	return &protocol.Error{Kind: protocol.Gone, Message: message, Hint: "what the run did until then stays; ask again, and a new sidecar is started", Err: err}
}

// Ask is a request to the sidecar of the workspace at root, made again if that one is gone.
func (p *Pool) Ask(ctx context.Context, root, method string, params, result any) error {
	var next again
	for {
		c, err := p.Of(ctx, root)
		if err != nil {
			return err
		}
		if err = c.Call(ctx, method, params, result); !gone(err) || !next.wait(ctx) {
			return err
		}
		c.Close()
	}
}
