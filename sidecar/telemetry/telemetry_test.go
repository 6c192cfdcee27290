package telemetry_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/telemetry"
)

// receiver is an endpoint for OTLP/HTTP with JSON. It reads leniently what it is sent, as map of names.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	answer   func() int
}

type request struct {
	path   string
	header http.Header
	body   map[string]any
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{answer: func() int { return http.StatusOK }}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var body io.Reader = q.Body
		if q.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(q.Body); err != nil {
				t.Error(err)
			}
		}
		got := request{path: q.URL.Path, header: q.Header}
		if err := json.NewDecoder(body).Decode(&got.body); err != nil {
			t.Errorf("%s: %v", q.URL, err)
		}
		status := r.answer()
		r.mu.Lock()
		defer r.mu.Unlock()
		if status == http.StatusOK {
			r.requests = append(r.requests, got)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

// all are the requests to a path.
func (r *receiver) all(path string) (out []request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.requests {
		if q.path == path {
			out = append(out, q)
		}
	}
	return out
}

// at follows names, and numbers, into a value.
func at(t *testing.T, v any, path string) any {
	t.Helper()
	for _, step := range strings.Split(path, "/") {
		if n, err := strconv.Atoi(step); err == nil {
			v = v.([]any)[n]
		} else {
			v = v.(map[string]any)[step]
		}
		if v == nil {
			t.Fatalf("no %s in %s", step, path)
		}
	}
	return v
}

// attributes are those of a thing, as text.
func attributes(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, _ := v.(map[string]any)["attributes"].([]any)
	for _, a := range list {
		for kind, value := range at(t, a, "value").(map[string]any) {
			if kind != "stringValue" && kind != "intValue" {
				t.Errorf("a value of %s", kind)
			}
			out[at(t, a, "key").(string)] = value.(string)
		}
	}
	return out
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func pool(t *testing.T, log io.Writer) *telemetry.Pool {
	t.Helper()
	o := telemetry.Options{Version: "v1", Ready: func() int { return 2 }}
	if log != nil {
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	return telemetry.NewPool(o)
}

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

func aRun() telemetry.Run {
	ms := protocol.Duration(time.Millisecond)
	return telemetry.Run{ID: "r1", Client: "terminal", Environment: "host", Workspace: "/p", Language: "python", Started: time.Unix(1_800_000_000, 5), Duration: 60 * time.Millisecond,
		Result: protocol.RunResult{Start: "warm", Findings: make([]protocol.Finding, 1), Denied: make([]protocol.Denial, 2),
			Stdout: protocol.Output{Text: "SECRET"}, Stderr: protocol.Output{Text: "SECRET"}, Notes: []string{"SECRET"}},
		Phases:      []protocol.Phase{{Name: "discovery", Start: ms, Duration: 2 * ms}, {Name: "program", Start: 5 * ms, Duration: 50 * ms}},
		TraceParent: "00-" + traceID + "-" + spanID + "-01", TraceState: "vendor=x"}
}

// What is sent is what the protocol's JSON wants, and nothing that a run had or printed.
func TestWhatIsSent(t *testing.T) {
	for _, compression := range []string{"", "gzip"} {
		to := newReceiver(t)
		p := pool(t, nil)
		e := p.For(env("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL+"/base/", "OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b", "OTEL_EXPORTER_OTLP_COMPRESSION", compression,
			"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=dev", "OTEL_SERVICE_NAME", "mine"))
		e.Begins()(aRun())
		limit := aRun()
		limit.Result.Limit, limit.Duration, limit.TraceParent = "time", 2*time.Hour, ""
		e.Begins()(limit)
		e.Begins() // goes on
		p.Close()
		traces, metrics := to.all("/base/v1/traces"), to.all("/base/v1/metrics")
		if len(traces) != 1 || len(metrics) != 1 {
			t.Fatalf("%d and %d requests", len(traces), len(metrics))
		}
		if h := traces[0].header; h.Get("Content-Type") != "application/json" || h.Get("X-Key") != "a b" {
			t.Errorf("headers %v", h)
		}
		if all := fmt.Sprint(traces, metrics); strings.Contains(all, "SECRET") {
			t.Errorf("sent %s", all)
		}
		spans := at(t, traces[0].body, "resourceSpans/0/scopeSpans/0/spans").([]any)
		if len(spans) != 6 {
			t.Fatalf("%d spans", len(spans))
		}
		top := spans[0].(map[string]any)
		id := top["spanId"].(string)
		own := attributes(t, top)
		if d := diff.Diff(map[string]string{"sidecar.run.id": "r1", "sidecar.client": "terminal", "sidecar.workspace": "/p", "sidecar.environment": "host", "sidecar.language": "python", "sidecar.start": "warm",
			"sidecar.outcome": "ok", "process.exit.code": "0", "sidecar.findings": "1", "sidecar.denials": "2"}, own); d != "" {
			t.Error(d)
		}
		delete(top, "attributes")
		delete(top, "spanId")
		if d := diff.Diff(map[string]any{"traceId": traceID, "parentSpanId": spanID, "traceState": "vendor=x", "name": "run python", "kind": 2.0,
			"startTimeUnixNano": "1800000000000000005", "endTimeUnixNano": "1800000000060000005"}, top); d != "" || len(id) != 16 {
			t.Error(id, d)
		}
		phase := spans[2].(map[string]any)
		if phase["spanId"] == id {
			t.Error("two spans have one id")
		}
		delete(phase, "spanId")
		if d := diff.Diff(map[string]any{"traceId": traceID, "parentSpanId": id, "traceState": "vendor=x", "name": "program", "kind": 1.0,
			"startTimeUnixNano": "1800000000005000005", "endTimeUnixNano": "1800000000055000005"}, phase); d != "" {
			t.Error(d)
		}
		alone := spans[3].(map[string]any)
		if alone["parentSpanId"] != nil || alone["traceId"] == traceID || at(t, alone, "status/code") != 2.0 {
			t.Errorf("a run without a parent: %v", alone)
		}
		about := attributes(t, at(t, traces[0].body, "resourceSpans/0/resource"))
		if about["service.name"] != "mine" || about["service.version"] != "v1" || about["deployment.environment.name"] != "dev" || about["process.pid"] == "" {
			t.Errorf("resource %v", about)
		}
		if d := diff.Diff([]string{"sidecar.denials{python} 4", "sidecar.findings{python} 2", "sidecar.run.duration{python warm limit} 1 0000000000000001 7200",
			"sidecar.run.duration{python warm ok} 1 0000100000000000 0.06", "sidecar.runs{python warm limit} 1", "sidecar.runs{python warm ok} 1", "sidecar.sandboxes{ready} 2", "sidecar.sandboxes{running} 1"}, counted(t, metrics[0])); d != "" {
			t.Error(d)
		}
	}
}

// counted are the metrics of a request, a line each.
func counted(t *testing.T, r request) (out []string) {
	t.Helper()
	for _, m := range at(t, r.body, "resourceMetrics/0/scopeMetrics/0/metrics").([]any) {
		for _, kind := range []string{"sum", "gauge", "histogram"} {
			data, _ := m.(map[string]any)[kind].(map[string]any)
			points, _ := data["dataPoints"].([]any)
			for _, p := range points {
				labels := attributes(t, p)
				of := strings.TrimSpace(cmp.Or(labels["sidecar.state"], labels["sidecar.language"]+" "+labels["sidecar.start"]+" "+labels["sidecar.outcome"]))
				value := p.(map[string]any)["asInt"]
				if kind == "histogram" {
					var buckets string
					for _, b := range at(t, p, "bucketCounts").([]any) {
						buckets += b.(string)
					}
					if len(buckets) != len(at(t, p, "explicitBounds").([]any))+1 {
						t.Errorf("%d buckets", len(buckets))
					}
					value = fmt.Sprint(at(t, p, "count"), " ", buckets, " ", at(t, p, "sum"))
				}
				if kind != "gauge" && at(t, data, "aggregationTemporality") != 2.0 {
					t.Errorf("%v", data)
				}
				out = append(out, fmt.Sprintf("%s{%s} %v", at(t, m, "name"), of, value))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Which variables have what sent.
func TestVariables(t *testing.T) {
	to := newReceiver(t)
	for _, c := range []struct {
		vars            []string
		traces, metrics bool
		says            string
	}{
		{nil, false, false, ""},
		{[]string{"OTEL_SERVICE_NAME", "x"}, false, false, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL}, true, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_SDK_DISABLED", "True"}, false, false, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_TRACES_EXPORTER", "none"}, false, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_METRICS_EXPORTER", "console"}, true, false, "names no exporter"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", to.URL + "/v1/traces"}, true, false, ""},
		{[]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", to.URL + "/v1/metrics"}, false, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_TRACES_SAMPLER", "always_off"}, false, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_TRACES_SAMPLER", "parentbased_always_off"}, true, true, ""}, // its parent is sampled
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0"}, false, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "two"}, true, true, "no number from 0 to 1"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, true, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, false, "http/json"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"}, false, false, "no http or https URL"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_EXPORTER_OTLP_HEADERS", "hunter2"}, false, false, "no list of name=value"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_EXPORTER_OTLP_TIMEOUT", "soon"}, true, true, "no number of milliseconds"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE", "/none"}, false, false, "no file with certificates"},
	} {
		to.mu.Lock()
		to.requests = nil
		to.mu.Unlock()
		var said bytes.Buffer
		p := pool(t, &said)
		p.For(env(c.vars...)).Begins()(aRun())
		p.Close()
		if traces, metrics := len(to.all("/v1/traces")) > 0, len(to.all("/v1/metrics")) > 0; traces != c.traces || metrics != c.metrics {
			t.Errorf("%v: traces %v, metrics %v", c.vars, traces, metrics)
		}
		if c.says == "" != (said.Len() == 0) || !strings.Contains(said.String(), c.says) || strings.Contains(said.String(), "hunter2") {
			t.Errorf("%v: says %q", c.vars, said.String())
		}
	}
}

// A traceparent is obeyed if it is one (W3C Trace Context, 3.2).
func TestTraceParents(t *testing.T) {
	for parent, want := range map[string]string{
		"00-" + traceID + "-" + spanID + "-01":                  "child",
		"00-" + traceID + "-" + spanID + "-00":                  "not sampled",
		"cc-" + traceID + "-" + spanID + "-01-future":           "child",
		"00-" + traceID + "-" + spanID + "-01-more":             "alone",
		"ff-" + traceID + "-" + spanID + "-01":                  "alone",
		"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01":  "alone",
		"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01": "alone",
		"00-" + strings.ToUpper(traceID) + "-" + spanID + "-01": "alone",
		"00-xyz": "alone", "": "alone", strings.Repeat("-", 5000): "alone",
	} {
		to := newReceiver(t)
		p := pool(t, nil)
		r := aRun()
		r.TraceParent = parent
		p.For(env("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)).Begins()(r)
		p.Close()
		got := "not sampled"
		if all := to.all("/v1/traces"); len(all) > 0 {
			got = "alone"
			if at(t, all[0].body, "resourceSpans/0/scopeSpans/0/spans/0").(map[string]any)["parentSpanId"] == spanID {
				got = "child"
			}
		}
		if got != want {
			t.Errorf("%.80q: %s", parent, got)
		}
	}
}

// Where no variable asks for it there is nothing: no goroutine, no memory. And where one does, only while there is something to
// send.
func TestNothingWithoutAWish(t *testing.T) {
	before := runtime.NumGoroutine()
	p := pool(t, nil)
	none := env("PATH", "/bin")
	run := aRun()
	if n := testing.AllocsPerRun(100, func() { p.For(none).Begins()(run) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	to := newReceiver(t)
	e := p.For(env("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL, "OTEL_BSP_SCHEDULE_DELAY", "1", "OTEL_METRIC_EXPORT_INTERVAL", "5"))
	e.Begins()(run)
	await(t, func() bool { return len(to.all("/v1/traces")) == 1 && len(to.all("/v1/metrics")) == 1 })
	p.Close()
	to.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	await(t, func() bool { return runtime.NumGoroutine() <= before })
}

// An endpoint that is down, slow or refuses costs runs nothing, holds no end up, and grows nothing; one that is back gets what
// waited.
func TestBadEndpoints(t *testing.T) {
	release := make(chan struct{})
	slow := newReceiver(t)
	slow.answer = func() int {
		<-release
		return http.StatusOK
	}
	defer close(release)
	down := newReceiver(t)
	down.Close()
	refuses := newReceiver(t)
	refuses.answer = func() int { return http.StatusUnsupportedMediaType }
	for name, url := range map[string]string{"slow": slow.URL, "down": down.URL, "refuses": refuses.URL} {
		var said bytes.Buffer
		p := pool(t, &said)
		e := p.For(env("OTEL_EXPORTER_OTLP_ENDPOINT", url, "OTEL_BSP_SCHEDULE_DELAY", "1", "OTEL_METRIC_EXPORT_INTERVAL", "1", "OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2"))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		for range 20_000 {
			e.Begins()(aRun())
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: telling of 20,000 runs took %v", name, took)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("%s: grown by %d", name, grown)
		}
		began = time.Now()
		p.Close()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: the end took %v", name, took)
		}
		if strings.Contains(said.String(), "hunter2") || strings.Count(said.String(), "cannot be sent") > 2 {
			t.Errorf("%s: says %s", name, said.String())
		}
	}
}

func TestAnEndpointThatComesBack(t *testing.T) {
	to := newReceiver(t)
	var tries int
	var mu sync.Mutex
	to.answer = func() int {
		mu.Lock()
		defer mu.Unlock()
		if tries++; tries <= 2 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	p := pool(t, nil)
	defer p.Close()
	p.For(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", to.URL+"/v1/traces", "OTEL_BSP_SCHEDULE_DELAY", "1")).Begins()(aRun())
	await(t, func() bool { return len(to.all("/v1/traces")) == 1 })
}

func await(t *testing.T, what func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !what(); {
		if time.Now().After(until) {
			t.Fatal("it never came")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
