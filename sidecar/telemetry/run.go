package telemetry

import (
	"crypto/rand"
	"slices"
	"strconv"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// Run is a run that has ended. It has what may be told of it: no code, no arguments, no output, no values.
type Run struct {
	ID, Client, Environment, Workspace, Session string
	// Language is a name of a table, or "command".
	Language string
	Started  time.Time
	Duration time.Duration
	// Result is how it ended, of which only what stands above and numbers are told; Kind why it could not be done.
	Result protocol.RunResult
	Kind   protocol.ErrorKind
	Phases []protocol.Phase
	// TraceParent and TraceState are the trace that it is part of.
	TraceParent, TraceState string
}

// outcome is how a run ended, in a word.
func (r Run) outcome() string {
	switch {
	case r.Kind != "":
		return "error"
	case r.Result.Limit != "":
		return "limit"
	case r.Result.Cancelled:
		return "cancelled"
	case r.Result.ExitCode != 0:
		return "failed"
	}
	return "ok"
}

// spans are the run's own, and one for each of its phases.
func (r Run) spans(s sampler) []span {
	from, hasParent := parentOf(r.TraceParent, r.TraceState)
	if !hasParent {
		_, _ = rand.Read(from.trace[:])
	}
	if !s.takes(from.trace, from, hasParent) {
		return nil
	}
	trace := digits(from.trace[:])
	top := span{TraceID: trace, SpanID: newSpan(), State: from.state, Name: "run " + r.Language, Kind: kindServer, Start: nanos(r.Started), End: nanos(r.Started.Add(r.Duration)), Attributes: r.attributes()}
	if hasParent {
		top.Parent = digits(from.span[:])
	}
	if o := r.outcome(); o == "error" || o == "limit" {
		top.Status = &status{statusError}
	}
	all := []span{top}
	for _, p := range r.Phases {
		start := r.Started.Add(time.Duration(p.Start))
		all = append(all, span{TraceID: trace, SpanID: newSpan(), Parent: top.SpanID, State: from.state, Name: p.Name, Kind: kindInternal,
			Start: nanos(start), End: nanos(start.Add(time.Duration(p.Duration)))})
	}
	return all
}

func newSpan() string {
	var id [8]byte
	_, _ = rand.Read(id[:])
	return digits(id[:])
}

func (r Run) attributes() []attribute {
	all := []attribute{text("sidecar.run.id", r.ID), text("sidecar.client", r.Client), text("sidecar.workspace", r.Workspace), text("sidecar.environment", r.Environment),
		text("sidecar.session", r.Session), text("sidecar.limit", r.Result.Limit), text("error.type", string(r.Kind))}
	all = append(all, r.labels().attributes()...)
	all = slices.DeleteFunc(all, func(a attribute) bool { return *a.Value.Text == "" })
	if r.Kind == "" {
		all = append(all, number("process.exit.code", int64(r.Result.ExitCode)))
	}
	return append(all, number("sidecar.findings", int64(len(r.Result.Findings))), number("sidecar.denials", int64(len(r.Result.Denied))))
}

// labels are by what runs are counted.
type labels struct{ language, start, outcome string }

func (r Run) labels() labels { return labels{r.Language, r.Result.Start, r.outcome()} }

func (l labels) attributes() []attribute {
	return []attribute{text("sidecar.language", l.language), text("sidecar.start", l.start), text("sidecar.outcome", l.outcome)}
}

// bounds are those of durations, in seconds: runs take from a few milliseconds on.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// series is what is counted of runs with the same labels.
type series struct {
	count   int64
	sum     float64
	buckets []int64
}

// counts are an exporter's metrics, from its first run on.
type counts struct {
	since             time.Time
	runs              map[labels]*series
	denials, findings map[string]int64 // by language
	live              int64
}

func newCounts(now time.Time) counts {
	return counts{since: now, runs: map[labels]*series{}, denials: map[string]int64{}, findings: map[string]int64{}}
}

func (c *counts) add(r Run) {
	l := r.labels()
	s := c.runs[l]
	if s == nil {
		s = &series{buckets: make([]int64, len(bounds)+1)}
		c.runs[l] = s
	}
	seconds := r.Duration.Seconds()
	i, _ := slices.BinarySearch(bounds, seconds) // a bound is in the bucket below it
	s.count, s.sum = s.count+1, s.sum+seconds
	s.buckets[i]++
	c.denials[r.Language] += int64(len(r.Result.Denied))
	c.findings[r.Language] += int64(len(r.Result.Findings))
}

// metrics are the counts as they are now, with how many sandboxes stand ready.
func (c *counts) metrics(now time.Time, ready int) []metric {
	var runs []point
	var durations []histogramPoint
	for l, s := range c.runs {
		runs = append(runs, c.point(now, s.count, l.attributes()...))
		h := histogramPoint{Attributes: l.attributes(), Start: nanos(c.since), Time: nanos(now), Count: strconv.FormatInt(s.count, 10), Sum: s.sum, Bounds: bounds}
		for _, n := range s.buckets {
			h.Buckets = append(h.Buckets, strconv.FormatInt(n, 10))
		}
		durations = append(durations, h)
	}
	total := func(name, about, unit string, of map[string]int64) metric {
		var all []point
		for language, n := range of {
			all = append(all, c.point(now, n, text("sidecar.language", language)))
		}
		return metric{Name: name, Description: about, Unit: unit, Sum: &points{all, cumulative, true}}
	}
	return []metric{
		{Name: "sidecar.runs", Description: "runs that have ended", Unit: "{run}", Sum: &points{runs, cumulative, true}},
		{Name: "sidecar.run.duration", Description: "from the request to the end", Unit: "s", Histogram: &histogram{durations, cumulative}},
		total("sidecar.denials", "what runs wanted to reach and were refused", "{denial}", c.denials),
		total("sidecar.findings", "what runs made that the host would obey", "{finding}", c.findings),
		{Name: "sidecar.sandboxes", Description: "sandboxes that live: of this client's runs, and of the sidecar's that stand ready", Unit: "{sandbox}", Gauge: &points{Points: []point{
			c.point(now, c.live, text("sidecar.state", "running")), c.point(now, int64(ready), text("sidecar.state", "ready"))}}},
	}
}

func (c *counts) point(now time.Time, n int64, attributes ...attribute) point {
	return point{Attributes: attributes, Start: nanos(c.since), Time: nanos(now), Int: strconv.FormatInt(n, 10)}
}
