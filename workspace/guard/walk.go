//go:build unix

package guard

import (
	"context"
	"sync"
)

// walkers is how many goroutines walk: the work is the kernel's, and a run wants the other cores.
const walkers = 2

// deepFrom is from how many folders down a folder is deep.
const deepFrom = 128

// scanBuffer is what one getdents call may fill.
const scanBuffer = 32 << 10

// queue holds the folders still to be scanned, the newest first, so that it stays short; but very deep ones
// last, since each costs as much as it is deep, and a run could hide a repository behind them.
type queue struct {
	mu      sync.Mutex
	more    *sync.Cond
	nodes   []*node
	deep    []*node
	working int
	stopped bool
}

func newQueue(start []*node) *queue {
	q := &queue{nodes: append([]*node(nil), start...)}
	q.more = sync.NewCond(&q.mu)
	return q
}

// next waits for a folder; nil when all is done.
func (q *queue) next() *node {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.nodes)+len(q.deep) == 0 && q.working > 0 && !q.stopped {
		q.more.Wait()
	}
	if len(q.nodes) == 0 {
		q.nodes, q.deep = q.deep, nil
	}
	if len(q.nodes) == 0 || q.stopped {
		return nil
	}
	last := len(q.nodes) - 1
	n := q.nodes[last]
	q.nodes = q.nodes[:last]
	q.working++
	return n
}

func (q *queue) done(found []*node) {
	q.mu.Lock()
	for _, n := range found {
		if n.depth > deepFrom {
			q.deep = append(q.deep, n)
		} else {
			q.nodes = append(q.nodes, n)
		}
	}
	q.working--
	q.mu.Unlock()
	q.more.Broadcast()
}

func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.more.Broadcast()
}

// walk scans everything below the given folders. It ends early, with an error, when ctx does.
func (t *tree) walk(ctx context.Context, tops []*node) error {
	q := newQueue(tops)
	defer context.AfterFunc(ctx, q.stop)()
	var wg sync.WaitGroup
	for range walkers {
		wg.Go(func() {
			buf := make([]byte, scanBuffer)
			for n := q.next(); n != nil; n = q.next() {
				q.done(t.scan(n, byWalk, buf))
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// firstWalk is the walk that Open starts.
func (t *tree) firstWalk(ctx context.Context) {
	if t.walk(ctx, t.tops) != nil {
		return
	}
	t.mu.Lock()
	t.isWalked = true
	t.mu.Unlock()
	close(t.walked)
}

// rewalk reads the whole tree again, since events were lost or cannot be had.
func (t *tree) rewalk(ctx context.Context) error {
	t.mu.Lock()
	lost := t.lost
	t.lost, t.queued, t.unwatched, t.unreadable = "", 0, 0, nil
	tops := append([]*node(nil), t.tops...)
	t.mu.Unlock()
	err := t.walk(ctx, tops)
	if err != nil {
		t.mu.Lock()
		t.lost = lost
		t.mu.Unlock()
	}
	return err
}

// scanBelow scans one new folder and all below it, for who does not hold the lock.
func (t *tree) scanBelow(n *node, how origin) {
	buf := make([]byte, scanBuffer)
	for stack := []*node{n}; len(stack) > 0; {
		last := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], t.scan(last, how, buf)...)
	}
}
