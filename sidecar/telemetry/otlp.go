package telemetry

import (
	"encoding/hex"
	"strconv"
	"time"
)

// What follows is OTLP's JSON (opentelemetry-proto, trace/v1 and metrics/v1, with the rules of the protocol's "JSON Protobuf
// Encoding": ids as hexadecimal digits, 64-bit numbers as texts, enums as numbers).

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text *string `json:"stringValue,omitempty"`
	Int  *string `json:"intValue,omitempty"`
}

func text(key, v string) attribute { return attribute{key, value{Text: &v}} }

func number(key string, n int64) attribute {
	s := strconv.FormatInt(n, 10)
	return attribute{key, value{Int: &s}}
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type tracesRequest struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

// Kinds and codes (trace.proto).
const (
	kindInternal = 1
	kindServer   = 2
	statusError  = 2
	// cumulative is AGGREGATION_TEMPORALITY_CUMULATIVE (metrics.proto).
	cumulative = 2
)

type span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	State      string      `json:"traceState,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      nanos       `json:"startTimeUnixNano"`
	End        nanos       `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type status struct {
	Code int `json:"code"`
}

// nanos is a time, as a text of nanoseconds since 1970.
type nanos time.Time

// MarshalJSON writes it.
func (n nanos) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(time.Time(n).UnixNano(), 10)), nil
}

type metricsRequest struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

type metric struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Unit        string     `json:"unit"`
	Sum         *points    `json:"sum,omitempty"`
	Gauge       *points    `json:"gauge,omitempty"`
	Histogram   *histogram `json:"histogram,omitempty"`
}

type points struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality,omitempty"`
	Monotonic   bool    `json:"isMonotonic,omitempty"`
}

type point struct {
	Attributes []attribute `json:"attributes,omitempty"`
	Start      nanos       `json:"startTimeUnixNano"`
	Time       nanos       `json:"timeUnixNano"`
	Int        string      `json:"asInt"`
}

type histogram struct {
	Points      []histogramPoint `json:"dataPoints"`
	Temporality int              `json:"aggregationTemporality"`
}

type histogramPoint struct {
	Attributes []attribute `json:"attributes,omitempty"`
	Start      nanos       `json:"startTimeUnixNano"`
	Time       nanos       `json:"timeUnixNano"`
	Count      string      `json:"count"`
	Sum        float64     `json:"sum"`
	Buckets    []string    `json:"bucketCounts"`
	Bounds     []float64   `json:"explicitBounds"`
}

func digits(id []byte) string { return hex.EncodeToString(id) }
