package protocol

import (
	"fmt"
	"strconv"
	"time"
)

// Duration is a length of time; in JSON a number of milliseconds, which may have a fraction.
type Duration time.Duration

// MarshalJSON writes milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Duration(d).Microseconds())/1000, 'f', -1, 64), nil
}

// UnmarshalJSON reads milliseconds; the error says what is wanted.
func (d *Duration) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	ms, err := strconv.ParseFloat(string(b), 64)
	if err != nil || ms < -maxMillis || ms > maxMillis {
		return fmt.Errorf("%.40s is no number of milliseconds up to %d", b, int64(maxMillis))
	}
	*d = Duration(ms * float64(time.Millisecond))
	return nil
}

// maxMillis is a year; larger numbers are mistakes.
const maxMillis = 365 * 24 * 3600 * 1000

// String is as time.Duration has it.
func (d Duration) String() string { return time.Duration(d).String() }
