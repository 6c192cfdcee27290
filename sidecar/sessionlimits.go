package sidecar

import (
	"context"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
)

// watch ends the call when its caller wants that, or a limit does; and the session, if the call does not end then.
func (c *sessionCall) watch(ctx context.Context, limit time.Duration, finished <-chan struct{}) {
	clock := time.NewTimer(limit)
	defer clock.Stop()
	for waits := true; waits; {
		select {
		case <-finished:
			return
		case <-ctx.Done():
			waits = false
		case <-c.over:
			c.limited(sandbox.LimitOutput)
			waits = false
		case <-clock.C:
			if left := c.clock.left(limit); left > 0 {
				clock.Reset(left)
				continue
			}
			c.limited(sandbox.LimitTime)
			waits = false
		}
	}
	for until := time.Now().Add(longestInterrupt); time.Now().Before(until); {
		c.k.control.Signal(int(syscall.SIGINT))
		select {
		case <-finished:
			return
		case <-time.After(interruptEvery):
		}
	}
	c.k.end(c.stubborn())
	<-finished
}

// stubborn is why a session is ended whose call does not.
func (c *sessionCall) stubborn() string {
	if limit := c.limitNow(); limit != "" {
		return "a call that reached its limit of " + limit + " could not be interrupted"
	}
	return "a call that was cancelled could not be interrupted"
}

func (c *sessionCall) limited(limit string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = limit
}

func (c *sessionCall) limitNow() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// counts passes output on until the call has printed more than its limit, which ends it.
func (c *sessionCall) counts(out captures, s protocol.Stream) writerFunc {
	to := out.writer(s, c.r.Sink)
	limit := int64(c.k.settings.Limits.Output)
	return func(b []byte) (int, error) {
		c.mu.Lock()
		before := c.printed
		c.printed += int64(len(b))
		c.mu.Unlock()
		if room := limit - before; int64(len(b)) > room {
			if room >= 0 {
				close(c.over)
			}
			if room <= 0 {
				return len(b), nil
			}
			_, _ = to.Write(b[:room])
			return len(b), nil
		}
		return to.Write(b)
	}
}

// clock is a call's, which stands still while a person is asked.
type clock struct {
	mu    sync.Mutex
	began time.Time
	held  int
	since time.Time
	stood time.Duration
}

func (c *clock) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = time.Now()
}

// hold stops it until release is called.
func (c *clock) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 {
		c.since = time.Now()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 {
			c.stood += time.Since(c.since)
		}
	}
}

// longestAsked is how long a call's clock stands still at most: it must not buy time by asking on and on.
const longestAsked = 15 * time.Minute

// left is how much of the limit is left.
func (c *clock) left(limit time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	stood := c.stood
	if c.held > 0 {
		stood += time.Since(c.since)
	}
	left := limit + min(stood, longestAsked) - time.Since(c.began)
	if c.held > 0 && stood < longestAsked {
		left = max(left, 50*time.Millisecond)
	}
	return left
}
