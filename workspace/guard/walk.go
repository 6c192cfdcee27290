//go:build unix

package guard

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"
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
	began := now().UnixNano()
	if t.walk(ctx, t.tops) != nil {
		return
	}
	t.mu.Lock()
	t.isWalked = true
	t.wasWalked(began)
	t.mu.Unlock()
	close(t.walked)
}

// wasWalked takes note of a walk that has ended.
func (t *tree) wasWalked(began int64) {
	t.walkedAt = began
	if t.cut {
		t.walkedAt = 0
	}
}

// mayWalk waits until nobody else walks: what he finds is then found for all. Who may gives the turn back.
func (t *tree) mayWalk(ctx context.Context) bool {
	select {
	case t.walking <- struct{}{}:
		return true
	default:
	}
	select {
	case t.walking <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter is how long a guard does without watches that it could not have. Those that a run took for itself are free when it
// has ended.
const retryAfter = time.Minute

// rewalk reads the whole tree again, since events were lost or cannot be had. With afresh the guard could rely on them before
// the run.
func (t *tree) rewalk(ctx context.Context, afresh bool) error {
	began := now().UnixNano()
	t.mu.Lock()
	lost, short := t.lost, t.short
	t.lost, t.queued, t.unwatched, t.unreadable, t.cut = "", 0, 0, nil, false
	if t.notify != nil && short != "" && (afresh || time.Since(t.retried) > retryAfter) {
		t.short, t.retried = "", time.Now()
	}
	t.rewalking, t.flooded = true, lost == tooMany
	for r := range t.runs {
		clear(r.knew.ways)
	}
	t.unkept, t.wereUnkept = map[unkept]int{}, t.unkept
	tops := append([]*node(nil), t.tops...)
	t.mu.Unlock()
	err := t.walk(ctx, tops)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rewalking, t.flooded = false, false
	if err != nil {
		t.lost, t.short = cmp.Or(t.lost, lost), cmp.Or(t.short, short)
		maps.Copy(t.unkept, t.wereUnkept)
		return err
	}
	t.wereUnkept = nil
	t.wasWalked(began)
	return nil
}

// scanBelow scans one new folder and all below it, for who does not hold the lock.
func (t *tree) scanBelow(n *node, how origin) {
	buf := make([]byte, scanBuffer)
	for stack := []*node{n}; len(stack) > 0; {
		last := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], t.scan(last, how, buf)...)
	}
}
