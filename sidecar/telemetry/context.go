package telemetry

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// parent is the span that a run is part of.
type parent struct {
	trace   [16]byte
	span    [8]byte
	state   string
	sampled bool
}

// longestState is how long a tracestate may be that is passed on (W3C Trace Context, 3.3.1.5: at least 512 characters).
const longestState = 512

// parentOf reads traceparent and tracestate (W3C Trace Context, 3.2 and 3.3); false when there is none, or none that is right.
func parentOf(traceparent, tracestate string) (p parent, ok bool) {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 4 || len(parts) > 4 && parts[0] == "00" || traceparent != strings.ToLower(traceparent) {
		return p, false
	}
	var version, flags [1]byte
	for i, to := range [][]byte{version[:], p.trace[:], p.span[:], flags[:]} {
		if len(parts[i]) != 2*len(to) {
			return p, false
		}
		if _, err := hex.Decode(to, []byte(parts[i])); err != nil {
			return p, false
		}
	}
	if version[0] == 0xff || p.trace == [16]byte{} || p.span == [8]byte{} {
		return parent{}, false
	}
	p.sampled = flags[0]&1 != 0
	if len(tracestate) <= longestState && !strings.ContainsFunc(tracestate, func(r rune) bool { return r < ' ' || r > '~' }) {
		p.state = tracestate
	}
	return p, true
}

// sampler decides which traces are sent.
type sampler struct {
	// ratio is of how many of those without a parent, or of all if not byParent.
	ratio    float64
	byParent bool
}

// samplerOf reads OTEL_TRACES_SAMPLER and its argument.
func samplerOf(name, argument string) (sampler, error) {
	kind, byParent := strings.CutPrefix(name, "parentbased_")
	s := sampler{ratio: 1, byParent: byParent || name == ""}
	switch kind {
	case "", "always_on":
	case "always_off":
		s.ratio = 0
	case "traceidratio":
		if argument == "" {
			break
		}
		ratio, err := strconv.ParseFloat(argument, 64)
		if err != nil || ratio < 0 || ratio > 1 {
			return s, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1")
		}
		s.ratio = ratio
	default:
		return sampler{ratio: 1, byParent: true}, fmt.Errorf("OTEL_TRACES_SAMPLER is none that sidecar has; all traces are sent")
	}
	return s, nil
}

// takes says whether a trace is sent.
func (s sampler) takes(trace [16]byte, p parent, hasParent bool) bool {
	if hasParent && s.byParent {
		return p.sampled
	}
	return float64(binary.BigEndian.Uint64(trace[8:])>>1) < s.ratio*(1<<63)
}
