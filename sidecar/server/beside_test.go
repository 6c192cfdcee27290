package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/server"
)

// Clients of every kind at once, in this process, so that the race detector sees the sidecar's side too.
func TestManyClientsAtOnce(t *testing.T) {
	root := project(t)
	ctx, stop := context.WithCancel(t.Context())
	ready, over := make(chan error, 1), make(chan error, 1)
	go func() {
		over <- server.Serve(ctx, server.Options{Root: root, Shim: program}, func(err error) { ready <- err })
	}()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var whole atomic.Int64
	for i := range 8 {
		all.Go(func() { busy(t, root, i, &whole) })
	}
	all.Wait()
	if whole.Load() == 0 {
		t.Error("no run came to its end")
	}
	stop()
	select {
	case err := <-over:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Error("it does not end")
	}
}

// busy is one client: it runs, watches, cancels, reads outputs, and goes away without a word.
func busy(t *testing.T, root string, n int, whole *atomic.Int64) {
	for round := range 4 {
		c, err := client.Connect(t.Context(), root, client.Options{Name: fmt.Sprint("client ", n), Output: protocol.AllOutput, Events: true, Program: program})
		if err != nil {
			t.Error(err)
			return
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Duration(rand.IntN(400))*time.Millisecond)
		var text strings.Builder
		r, err := c.Run(ctx, request(fmt.Sprintf("for i in $(seq 200); do echo %d.%d; done; sleep 0.0%d", n, round, n)), strings.NewReader("input"), client.Watch{Output: func(_ protocol.Stream, b []byte) { text.Write(b) }})
		stop()
		if err == nil && !r.Cancelled {
			whole.Add(1)
		}
		if err == nil && !r.Cancelled && text.String() != strings.Repeat(fmt.Sprintf("%d.%d\n", n, round), 200) {
			t.Errorf("client %d: %d bytes, %+v", n, text.Len(), r)
		}
		var runs protocol.RunsResult
		if err := c.Call(t.Context(), protocol.MethodRuns, nil, &runs); err != nil {
			t.Error(err)
		}
		for _, run := range runs.Runs {
			var out protocol.RunOutputResult
			_ = c.Call(t.Context(), protocol.MethodRunOutput, protocol.RunOutputParams{ID: run.ID}, &out)
			if rand.IntN(4) == 0 {
				_ = c.Call(t.Context(), protocol.MethodCancel, protocol.CancelParams{ID: run.ID}, nil)
			}
		}
		if err := c.Call(t.Context(), protocol.MethodStatus, nil, &protocol.StatusResult{}); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}
