package config

import (
	"math"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "4096": 4096, "512MiB": 512 * mib, "4GiB": 4 * gib, "4 GiB": 4 * gib, "100kB": 100e3, "100KB": 100e3,
		"1.5GiB": 3 * gib / 2, "2gib": 2 * gib, "7B": 7, "9223372036854775807": math.MaxInt64, "1TB": 1e12, "3TiB": 3 * gib << 10,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, int64(got), err, int64(want))
		}
	}
	for _, text := range []string{
		"", "B", "MiB", "4G", "4K", "-1", "-1MiB", "1e3", "0x10", "inf", "NaN", "9223372036854775808", "8388608TiB", "1..5MiB", "1 2", "+", ".",
	} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, int64(got))
		}
	}
}

func TestSizeString(t *testing.T) {
	for size, want := range map[Size]string{
		0: "0", 1: "1", 1000: "1kB", 1024: "1KiB", 4 * gib: "4GiB", 100e3: "100kB", 4097: "4097", 1536 * mib: "1536MiB", 1024 * gib: "1TiB",
	} {
		if got := size.String(); got != want {
			t.Errorf("%d is shown as %q, want %q", int64(size), got, want)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add(int64(4096))
	f.Add(int64(3) << 40)
	f.Fuzz(func(t *testing.T, n int64) {
		if n < 0 {
			return
		}
		if got, err := ParseSize(Size(n).String()); err != nil || got != Size(n) {
			t.Errorf("%d is shown as %q, which reads as %d, %v", n, Size(n), int64(got), err)
		}
	})
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "60": time.Minute, "0.25": 250 * time.Millisecond, " 7 ": 7 * time.Second,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "5 minutes", "1e99", "99999999999", "."} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
}
