package main

import (
	"testing"
	"time"
)

func TestStretch(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5": 5 * time.Second, "0.5": 500 * time.Millisecond, "90s": 90 * time.Second, "15m": 15 * time.Minute, "1h30m": 90 * time.Minute,
		"30d": 30 * day, "1d12h": 36 * time.Hour, "0": 0,
	} {
		var s, again stretch
		if err := s.Set(text); err != nil || time.Duration(s) != want {
			t.Errorf("%s is %s, %v, want %s", text, time.Duration(s), err, want)
		}
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%s is shown as %s, which is %s, %v", text, s.String(), time.Duration(again), err)
		}
	}
	for _, text := range []string{"", "-5", "-5h", "-1d", "1d-5h", "1.5d", "5 minutes", "1w", "d", "99999999d", "1e9"} {
		var s stretch
		if err := s.Set(text); err == nil || err.Error() != "give "+stretches {
			t.Errorf("%q is %s, %v", text, time.Duration(s), err)
		}
	}
}
