package nix

import (
	"context"
	"errors"
	"sync"
)

// flights are the builds that go on, one a key however many ask. x/sync/singleflight knows neither progress
// nor a cancel that counts those who still wait.
type flights[T any] struct {
	mu   sync.Mutex
	open map[string]*flight[T]
}

// flight is one build. All but done, result and err are guarded by flights.mu; those two are read after done.
type flight[T any] struct {
	cancel  context.CancelFunc
	done    chan struct{}
	result  T
	err     error
	waiters map[*waiter]bool
	last    *Progress
}

// waiter is one who asked.
type waiter struct {
	mu       sync.Mutex
	progress func(Progress)
}

// tell reports progress to one waiter; after left it does nothing.
func (w *waiter) tell(p Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.progress != nil {
		w.progress(p)
	}
}

func (w *waiter) left() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress = nil
}

// work makes the result of a flight.
type work[T any] func(ctx context.Context, report func(Progress)) (T, error)

// do waits for the flight of a key, and starts it if there is none. When the context of the last one who waits
// ends, so does the flight, and only then does do return: nothing of it goes on.
func (f *flights[T]) do(ctx context.Context, key string, progress func(Progress), work work[T]) (result T, err error) {
	w := &waiter{progress: progress}
	defer w.left()
	fl := f.join(ctx, key, w, work)
	select {
	case <-fl.done:
		return fl.result, fl.err
	case <-ctx.Done():
	}
	if f.leave(key, fl, w) {
		<-fl.done
	}
	return result, context.Cause(ctx)
}

// join adds a waiter to the flight of a key.
func (f *flights[T]) join(ctx context.Context, key string, w *waiter, work work[T]) *flight[T] {
	f.mu.Lock()
	fl, ok := f.open[key]
	if !ok {
		within, cancel := context.WithCancel(context.WithoutCancel(ctx))
		fl = &flight[T]{cancel: cancel, done: make(chan struct{}), waiters: map[*waiter]bool{}}
		if f.open == nil {
			f.open = map[string]*flight[T]{}
		}
		f.open[key] = fl
		go f.fly(within, key, fl, work)
	}
	fl.waiters[w] = true
	last := fl.last
	f.mu.Unlock()
	if last != nil {
		w.tell(*last)
	}
	return fl
}

// fly does the work of a flight.
func (f *flights[T]) fly(ctx context.Context, key string, fl *flight[T], work work[T]) {
	fl.err = errors.New("bug: a build panicked")
	defer func() {
		f.mu.Lock()
		if f.open[key] == fl {
			delete(f.open, key)
		}
		f.mu.Unlock()
		fl.cancel()
		close(fl.done)
	}()
	fl.result, fl.err = work(ctx, func(p Progress) { f.tell(fl, p) })
}

// tell reports progress to all who wait.
func (f *flights[T]) tell(fl *flight[T], p Progress) {
	f.mu.Lock()
	fl.last = &p
	waiters := make([]*waiter, 0, len(fl.waiters))
	for w := range fl.waiters {
		waiters = append(waiters, w)
	}
	f.mu.Unlock()
	for _, w := range waiters {
		w.tell(p)
	}
}

// leave takes a waiter away; the last one ends the flight, and who asks after that starts another.
func (f *flights[T]) leave(key string, fl *flight[T], w *waiter) (last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(fl.waiters, w)
	if len(fl.waiters) > 0 {
		return false
	}
	if f.open[key] == fl {
		delete(f.open, key)
	}
	fl.cancel()
	return true
}
