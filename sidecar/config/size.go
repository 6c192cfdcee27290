package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the suffixes of sizes, longest first, so that "MiB" is not taken for "B".
var units = []struct {
	suffix string
	bytes  Size
}{
	{"KiB", kib}, {"MiB", mib}, {"GiB", gib}, {"TiB", gib << 10},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseSize reads a number of bytes: "4096", "512MiB", "1.5GiB", "100kB". Case does not matter. A bare "4G" is
// refused, since programs disagree on what it means.
func ParseSize(text string) (Size, error) {
	number, unit := strings.TrimSpace(text), Size(1)
	for _, u := range units {
		if head, ok := cutSuffixFold(number, u.suffix); ok {
			number, unit = strings.TrimRight(head, " "), u.bytes
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return scale(n, unit, text)
	}
	x, err := parseDecimal(number)
	if err != nil || x*float64(unit) >= math.MaxInt64 {
		return 0, badSize(text)
	}
	return Size(x * float64(unit)), nil
}

// scale multiplies without overflow.
func scale(n int64, unit Size, text string) (Size, error) {
	if n < 0 || n > math.MaxInt64/int64(unit) {
		return 0, badSize(text)
	}
	return Size(n) * unit, nil
}

func badSize(text string) error {
	return fmt.Errorf("no size: %s", quote(text))
}

// cutSuffixFold is strings.CutSuffix for ASCII suffixes of any case.
func cutSuffixFold(s, suffix string) (string, bool) {
	at := len(s) - len(suffix)
	if at < 0 || !strings.EqualFold(s[at:], suffix) {
		return s, false
	}
	return s[:at], true
}

// parseDecimal reads digits with at most one point; strconv alone would also take "inf", "0x1p4" and "1e300".
func parseDecimal(text string) (float64, error) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, fmt.Errorf("no number: %s", quote(text))
	}
	return strconv.ParseFloat(text, 64)
}

// String is the size with the largest unit that leaves a whole number: "4GiB", "100kB", "4097".
func (s Size) String() string {
	best, text := Size(1), strconv.FormatInt(int64(s), 10)
	for _, u := range units {
		if s != 0 && u.bytes > best && s%u.bytes == 0 {
			best, text = u.bytes, strconv.FormatInt(int64(s/u.bytes), 10)+u.suffix
		}
	}
	return text
}

// MarshalText and UnmarshalText let other formats (flags, JSON) write sizes as config files do.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSize.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSize(string(text))
	return err
}

// ParseDuration reads "30s", "5m", "1h30m", or a plain number of seconds.
func ParseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if seconds, err := parseDecimal(text); err == nil {
		if seconds >= math.MaxInt64/float64(time.Second) {
			return 0, fmt.Errorf("no duration: %s", quote(text))
		}
		return time.Duration(seconds * float64(time.Second)), nil
	}
	return time.ParseDuration(text)
}

// quote is %q, cut, for what came from a file.
func quote(text string) string {
	const enough = 80
	if len(text) > enough {
		return strconv.Quote(text[:enough]) + "…"
	}
	return strconv.Quote(text)
}
