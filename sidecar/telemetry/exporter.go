package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// mostSpans wait to be sent; further ones are dropped. mostAtOnce are sent in one request.
	mostSpans  = 2048
	mostAtOnce = 512
	// longestPause is how long is waited at most after an endpoint failed.
	longestPause = time.Minute
)

// Exporter sends to one place. A goroutine of its own does, which is there while there is something to send.
type Exporter struct {
	s settings
	o Options

	mu      sync.Mutex
	spans   []span
	dropped int
	counts  counts
	// changed says that metrics are not what was sent last.
	changed bool
	// working says that the goroutine is there; stop ends what it sends, and over is closed at its end.
	working, closing bool
	stop             context.CancelFunc
	over             chan struct{}
	// failing are signals that could not be sent the last time.
	failing map[string]bool
}

func newExporter(s settings, o Options) *Exporter {
	return &Exporter{s: s, o: o, counts: newCounts(time.Now()), failing: map[string]bool{}}
}

// Begins counts a run as alive until it ended. Neither waits.
func (e *Exporter) Begins() (ended func(Run)) {
	if e == nil {
		return func(Run) {}
	}
	e.change(func() { e.counts.live++ })
	return func(r Run) {
		var spans []span
		if e.s.traces.url != "" {
			spans = r.spans(e.s.sampler)
		}
		e.change(func() {
			e.counts.live--
			e.counts.add(r)
			fits := min(len(spans), mostSpans-len(e.spans))
			e.spans = append(e.spans, spans[:fits]...)
			e.dropped += len(spans) - fits
		})
	}
}

// change changes what there is to send, and sees that somebody sends it.
func (e *Exporter) change(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
	e.changed = true
	if e.working || e.closing {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	e.working, e.stop, e.over = true, stop, make(chan struct{})
	go e.work(ctx)
}

// work sends until there is nothing more.
func (e *Exporter) work(ctx context.Context) {
	defer close(e.over)
	tick := time.NewTicker(e.s.delay)
	defer tick.Stop()
	var pause time.Duration
	spansAt, metricsAt := time.Now(), time.Now().Add(e.s.interval)
	for !e.rests() {
		select {
		case <-tick.C:
		case <-ctx.Done(): // close sends the rest
			return
		}
		if now := time.Now(); !now.Before(spansAt) {
			if pause = min(max(2*pause, time.Second), longestPause); e.sendSpans(ctx) {
				pause = 0
			}
			spansAt = now.Add(pause)
		}
		if now := time.Now(); !now.Before(metricsAt) {
			e.sendMetrics(ctx)
			metricsAt = now.Add(e.s.interval)
		}
	}
}

// rests says that there is nothing to send, and takes note that nobody works then.
func (e *Exporter) rests() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.spans) > 0 || e.s.metrics.url != "" && (e.changed || e.counts.live > 0) {
		return false
	}
	e.working = false
	e.stop()
	return true
}

// isIdle says that there is nothing to send, and no run that goes on.
func (e *Exporter) isIdle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.working && e.counts.live == 0
}

// close sends what is left, as far as that is done before ctx ends.
func (e *Exporter) close(ctx context.Context) {
	e.mu.Lock()
	working, over, stop := e.working, e.over, e.stop
	e.closing = true
	e.mu.Unlock()
	if working {
		stop()
		<-over
	}
	var both sync.WaitGroup
	both.Go(func() { e.sendSpans(ctx) })
	both.Go(func() { e.sendMetrics(ctx) })
	both.Wait()
}

// sendSpans sends those that wait; false says that they are to be sent again.
func (e *Exporter) sendSpans(ctx context.Context) bool {
	for {
		e.mu.Lock()
		batch := slices.Clone(e.spans[:min(len(e.spans), mostAtOnce)])
		dropped := e.dropped
		e.dropped = 0
		e.mu.Unlock()
		if dropped > 0 {
			e.o.Log.Warn("spans were dropped: their endpoint does not take them in time", "spans", dropped)
		}
		if len(batch) == 0 {
			return true
		}
		again := e.send(ctx, "traces", e.s.traces, tracesRequest{[]resourceSpans{{e.resource(), []scopeSpans{{e.scope(), batch}}}}})
		if again {
			return false
		}
		e.mu.Lock()
		e.spans = slices.Delete(e.spans, 0, len(batch))
		e.mu.Unlock()
	}
}

// sendMetrics sends what is counted, unless that is what was sent before.
func (e *Exporter) sendMetrics(ctx context.Context) {
	ready := 0
	if e.o.Ready != nil {
		ready = e.o.Ready()
	}
	e.mu.Lock()
	wanted := e.s.metrics.url != "" && (e.changed || e.counts.live > 0)
	all := e.counts.metrics(time.Now(), ready)
	e.changed = false
	e.mu.Unlock()
	if wanted && e.send(ctx, "metrics", e.s.metrics, metricsRequest{[]resourceMetrics{{e.resource(), []scopeMetrics{{e.scope(), all}}}}}) {
		e.mu.Lock()
		e.changed = true
		e.mu.Unlock()
	}
}

func (e *Exporter) resource() resource {
	return resource{append([]attribute{text("service.name", e.s.service), text("service.version", e.o.Version), number("process.pid", int64(os.Getpid()))}, e.s.resource...)}
}

func (e *Exporter) scope() scope { return scope{"code.sidecar.dev", e.o.Version} }

// send sends a request; again says that a later try may do better. What fails is logged once, until it works again.
func (e *Exporter) send(ctx context.Context, signal string, to target, request any) (again bool) {
	again, err := post(ctx, to, request)
	e.mu.Lock()
	before := e.failing[signal]
	e.failing[signal] = err != nil
	e.mu.Unlock()
	switch {
	case err != nil && !before:
		e.o.Log.Warn("telemetry cannot be sent", "signal", signal, "again", again, "err", err)
	case err == nil && before:
		e.o.Log.Info("telemetry can be sent again", "signal", signal)
	}
	return again
}

// post posts JSON. Which failures are worth another try is the protocol's to say (OTLP/HTTP, "Retryable Response Codes").
func post(ctx context.Context, to target, request any) (again bool, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return false, err
	}
	if to.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err = w.Write(body)
		if err = errors.Join(err, w.Close()); err != nil {
			return false, err
		}
		body = b.Bytes()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the endpoint is no URL")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "sidecar")
	if to.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	for name, value := range to.headers {
		r.Header.Set(name, value)
	}
	answer, err := to.client.Do(r)
	if err != nil {
		var known *url.Error
		if errors.As(err, &known) { // whose text has the URL, which may hold a secret
			err = known.Err
		}
		return true, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	err = fmt.Errorf("the endpoint answers %s (sidecar sends OTLP as JSON)", answer.Status)
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, answer.StatusCode), err
}
