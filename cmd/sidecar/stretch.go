package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"code.sidecar.dev/sidecar/config"
)

// stretch is a length of time as flags have it, with days, which settings have not: 90s, 15m, 12h, 7d, or a number of seconds.
type stretch time.Duration

// stretches says how one is written, in help texts.
const stretches = "90s, 15m, 12h, 7d, or a number of seconds"

func stretchVar(fs *pflag.FlagSet, to *time.Duration, name string, value time.Duration, help string) {
	*to = value
	fs.Var((*stretch)(to), name, help+": "+stretches)
}

// String is the value as Set reads it.
func (s *stretch) String() string {
	d := time.Duration(*s)
	if d == 0 {
		return "0" // which help does not show as a default
	}
	if days := d / day; days > 0 && d%day == 0 {
		return strconv.Itoa(int(days)) + "d"
	}
	return d.String()
}

// Type is what help texts call it.
func (s *stretch) Type() string { return "time" }

// Set reads it.
func (s *stretch) Set(text string) error {
	days, rest, err := stretchOf(text)
	*s = stretch(time.Duration(days)*day + rest)
	return err
}

const day = 24 * time.Hour

// stretchOf reads a length of time: whole days, and the rest.
func stretchOf(text string) (days int, rest time.Duration, err error) {
	wrong := errors.New("give " + stretches)
	if number, hours, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, 0, wrong
		}
		if days = int(n); hours == "" { //nolint:gosec // 16 bits
			return days, 0, nil
		}
		text = hours
	}
	if rest, err = config.ParseDuration(text); err != nil || rest < 0 {
		return 0, 0, wrong
	}
	return days, rest, nil
}
