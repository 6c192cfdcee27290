package main

import (
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

func TestOneOfRuns(t *testing.T) {
	runs := []protocol.Run{{ID: "20261130-120000-0000abcd"}, {ID: "20261130-110000-1111abcd"}, {ID: "20261129-110000-22222222"}}
	for name, want := range map[string]string{
		"0000abcd": runs[0].ID, "20261129": runs[2].ID, "2222": runs[2].ID, "20261130-12": runs[0].ID, "none": "none", "1111": "1111",
	} {
		if got, err := oneOfRuns(name, runs, time.Now()); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", name, got, err, want)
		}
	}
	for name, says := range map[string]string{"abcd": `"abcd" fits 2 runs`, "2026": `"2026" fits 3 runs`} {
		if got, err := oneOfRuns(name, runs, time.Now()); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), runs[1].ID) {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	if got, err := oneOfRuns(last, runs[:1], time.Now()); err != nil || got != runs[0].ID {
		t.Errorf("the last is %s, %v", got, err)
	}
	if got, err := oneOfRuns(last, nil, time.Now()); err == nil {
		t.Errorf("the last of none is %s", got)
	}
}
