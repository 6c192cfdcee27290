package main

import (
	"testing"
	"time"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

func TestMoment(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"90m":                  now.Add(-90 * time.Minute),
		"90":                   now.Add(-90 * time.Second),
		"90m ago":              now.Add(-90 * time.Minute),
		"1d12h":                now.Add(-36 * time.Hour),
		"7d ago":               time.Date(2026, 11, 23, 12, 0, 0, 0, zone),
		"7d":                   time.Date(2026, 11, 23, 12, 0, 0, 0, zone),
		"2026-11-29":           time.Date(2026, 11, 29, 0, 0, 0, 0, zone),
		"2026-11-29T08:00:00Z": time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC),
	} {
		if got, err := moment(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-1h", "-1d", "ago", "1.5d", "1d1d", "99999999d", "2026-13-01", " "} {
		if got, err := moment(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestSameStore: the store path of then is asked for, unless it is gone, or was more than a path.
func TestSameStore(t *testing.T) {
	store := t.TempDir()
	is := func(path string, shell bool) protocol.RunRecord {
		return protocol.RunRecord{Environment: protocol.RecordedEnvironment{ID: "nix", Provider: "nix", Store: path, Shell: shell}}
	}
	for name, test := range map[string]struct {
		rec         protocol.RunRecord
		environment string
		lacks       int
	}{
		"host":      {protocol.RunRecord{}, "", 0},
		"there":     {is(store, false), store, 0},
		"gone":      {is(store+"/gone", false), "", 1},
		"dev shell": {is(store, true), "", 1},
	} {
		req := protocol.RunRequest{RunParams: protocol.RunParams{Packages: []string{"jq"}}}
		lacks := sameStore(&req, test.rec, config.Defaults())
		if req.Environment != test.environment || len(lacks) != test.lacks || (test.environment == "") != (len(req.Packages) == 1) || (req.Allow != nil) != (test.environment != "") {
			t.Errorf("%s: %+v, %q", name, req, lacks)
		}
	}
}

func TestDifferences(t *testing.T) {
	before, now := []string{"ro /usr", "network none"}, []string{"ro /usr", "network open"}
	if got := differences(before, before); got != nil {
		t.Error(got)
	}
	if got := differences(before, now); len(got) != 2 || got[0] != "the policy had: network none" || got[1] != "the policy has: network open" {
		t.Error(got)
	}
	if got := differences(nil, make([]string, 100)); len(got) != maxDifferences+1 {
		t.Error(got)
	}
}
