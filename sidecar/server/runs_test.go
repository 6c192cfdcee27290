package server

import (
	"testing"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/protocol"
)

// TestDenialsThatAreRemembered: a run that is refused thing after thing does not stay in memory with all of them.
func TestDenialsThatAreRemembered(t *testing.T) {
	for all, want := range map[int]int{0: 0, sidecar.DeniedKept: sidecar.DeniedKept, 20 * sidecar.DeniedKept: sidecar.DeniedKept + 1} {
		r := &run{}
		r.end(protocol.RunResult{Denied: make([]protocol.Denial, all)}, nil)
		got := r.show().End.Denied
		if len(got) != want || cap(got) > 3*sidecar.DeniedKept {
			t.Errorf("of %d: %d (capacity %d), want %d", all, len(got), cap(got), want)
		}
		if all > sidecar.DeniedKept && got[sidecar.DeniedKept].Count != all-sidecar.DeniedKept {
			t.Errorf("of %d: the last is %+v", all, got[sidecar.DeniedKept])
		}
	}
}
