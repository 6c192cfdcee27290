package nix

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// The last one who waits ends a flight; the first does not.
func TestFlightEndsWithTheLast(t *testing.T) {
	var f flights[int]
	var started, ended atomic.Int64
	running := make(chan struct{})
	work := func(ctx context.Context, _ func(Progress)) (int, error) {
		started.Add(1)
		close(running)
		<-ctx.Done()
		ended.Add(1)
		return 0, ctx.Err()
	}
	one, endOne := context.WithCancel(t.Context())
	two, endTwo := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	go func() { _, err := f.do(one, "k", nil, work); errs <- err }()
	<-running
	joined := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := f.do(two, "k", func(Progress) { once.Do(func() { close(joined) }) }, work)
		errs <- err
	}()
	for waiting := 0; waiting < 2; {
		f.mu.Lock()
		waiting = len(f.open["k"].waiters)
		f.mu.Unlock()
	}
	endOne()
	if err := <-errs; !errors.Is(err, context.Canceled) || ended.Load() != 0 {
		t.Fatalf("%v; %d ended", err, ended.Load())
	}
	endTwo()
	if err := <-errs; !errors.Is(err, context.Canceled) || ended.Load() != 1 || started.Load() != 1 {
		t.Fatalf("%v; %d ended of %d", err, ended.Load(), started.Load())
	}
	if v, err := f.do(t.Context(), "k", nil, func(context.Context, func(Progress)) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("the next one: %v, %v", v, err)
	}
}

// Who comes late is told how far it is, and nobody is told anything once he has left.
func TestFlightTells(t *testing.T) {
	var f flights[int]
	told, goOn := make(chan struct{}), make(chan struct{})
	var begun sync.Once // who asks after the end starts another
	work := func(_ context.Context, report func(Progress)) (int, error) {
		report(Progress{Stage: "one"})
		begun.Do(func() { close(told) })
		<-goOn
		for range 1000 {
			report(Progress{Stage: "two"})
		}
		return 7, nil
	}
	results := make(chan int, 20)
	go func() { v, _ := f.do(t.Context(), "k", nil, work); results <- v }()
	<-told
	var first sync.Once
	var last atomic.Bool
	for range 19 {
		go func() {
			gone := atomic.Bool{}
			v, _ := f.do(t.Context(), "k", func(p Progress) {
				if gone.Load() {
					last.Store(true)
				}
				first.Do(func() { close(goOn) })
			}, work)
			gone.Store(true)
			results <- v
		}()
	}
	for range 20 {
		if v := <-results; v != 7 {
			t.Errorf("a result is %d", v)
		}
	}
	if last.Load() {
		t.Error("progress came after the result")
	}
}

// An error is that of all who wait, and nothing is left of the flight.
func TestFlightWithoutResult(t *testing.T) {
	var f flights[int]
	if _, err := f.do(t.Context(), "k", nil, func(context.Context, func(Progress)) (int, error) { return 0, errors.New("no") }); err == nil || err.Error() != "no" {
		t.Error(err)
	}
	if len(f.open) > 0 {
		t.Error("a flight is left over")
	}
}
