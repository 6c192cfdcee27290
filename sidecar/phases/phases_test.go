package phases_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar/phases"
	"code.sidecar.dev/sidecar/protocol"
)

const ms = protocol.Duration(time.Millisecond)

// What nobody asked for costs nothing, and is nothing.
func TestNobodyAsked(t *testing.T) {
	p := phases.If(false, time.Now())
	if n := testing.AllocsPerRun(100, func() {
		p.Begin(phases.Plan)()
		p.Add(phases.Pins, time.Time{}, time.Time{})
	}); n != 0 || p.List() != nil {
		t.Errorf("%v allocations, %v", n, p.List())
	}
}

func TestPhases(t *testing.T) {
	start := time.Now()
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	p := phases.New(start)
	p.Add(phases.Program, at(30), at(50))
	p.Add(phases.Bubblewrap, at(5), at(25))
	p.Add(phases.Guard, at(6), at(10))
	p.Add(phases.Pins, at(25), at(24)) // clocks that do not agree to the microsecond
	list := p.List()
	if diff := cmp.Diff([]protocol.Phase{
		{Name: phases.Bubblewrap, Start: 5 * ms, Duration: 20 * ms}, {Name: phases.Guard, Start: 6 * ms, Duration: 4 * ms},
		{Name: phases.Pins, Start: 25 * ms}, {Name: phases.Program, Start: 30 * ms, Duration: 20 * ms}}, list); diff != "" {
		t.Error(diff)
	}
	if end := phases.End(list); end != 50*ms {
		t.Errorf("it ends at %v", end)
	}
	if free := phases.Uncovered(list, 60*ms); free != (5+5+10)*ms {
		t.Errorf("%v in no phase", free)
	}
}
