// Package telemetry sends traces and metrics of runs to where the standard variables of OpenTelemetry say, over OTLP/HTTP as JSON
// (https://opentelemetry.io/docs/specs/otlp/, .../specs/otel/protocol/exporter/).
//
//	pool := telemetry.NewPool(telemetry.Options{Version: "v1.2.0"})
//	to := pool.For(os.Getenv) // nil where no variable asks for it; a nil *Exporter takes everything and keeps nothing
//	ended := to.Begins()
//	…
//	ended(telemetry.Run{…})
//	pool.Close()
//
// Nothing of it is there until a run is to be told of: no goroutine, no connection. Nobody waits for an endpoint: what it does
// not take in time is kept up to a bound, and then dropped. Whose variables count is the caller's; no attribute has code, output
// or a variable's value.
package telemetry

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"
)

// Options are those of a process.
type Options struct {
	// Version is this program's.
	Version string
	// Ready is how many sandboxes stand ready; nil is none. It must not wait.
	Ready func() int
	Log   *slog.Logger
}

// Pool has an exporter for each place that clients' variables name.
type Pool struct {
	o      Options
	mu     sync.Mutex
	by     map[string]*Exporter
	closed bool
}

// mostPlaces is how many exporters there are at once; each has a queue.
const mostPlaces = 16

// NewPool makes a pool. It starts nothing.
func NewPool(o Options) *Pool {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Pool{o: o, by: map[string]*Exporter{}}
}

// Wanted says whether variables ask for traces or metrics at all.
func Wanted(getenv func(string) string) bool {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER"} {
		if getenv(name) != "" {
			return !strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true")
		}
	}
	return false
}

// For is the exporter that variables ask for; nil is none.
func (p *Pool) For(getenv func(string) string) *Exporter {
	if p == nil || !Wanted(getenv) {
		return nil
	}
	key := identity(getenv)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.by[key]; ok || p.closed {
		return e
	}
	if len(p.by) >= mostPlaces {
		maps.DeleteFunc(p.by, func(_ string, e *Exporter) bool { return e == nil || e.isIdle() })
	}
	if len(p.by) >= mostPlaces {
		p.o.Log.Warn("too many clients export telemetry to places of their own; this one's is not sent", "most", mostPlaces)
		return nil
	}
	c, complaints := read(getenv)
	for _, text := range complaints {
		p.o.Log.Warn("telemetry", "problem", text)
	}
	var e *Exporter
	if c.traces.url != "" || c.metrics.url != "" {
		e = newExporter(c, p.o)
	}
	p.by[key] = e
	return e
}

// closeWithin is how long the end waits for endpoints.
const closeWithin = time.Second

// Close sends what is left, if endpoints take it at once.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.by
	p.by = map[string]*Exporter{}
	p.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), closeWithin)
	defer stop()
	var each sync.WaitGroup
	for _, e := range all {
		if e != nil {
			each.Go(func() { e.close(ctx) })
		}
	}
	each.Wait()
}
