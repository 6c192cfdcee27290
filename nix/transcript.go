package nix

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	// tailLines of a failed build's log are in its error.
	tailLines = 30
	// longestLine of nix's output is read whole; what is longer is cut.
	longestLine = 1 << 20
	// longestLog is the most that is written of one log.
	longestLog = 64 << 20
	// mostErrors of one nix are kept.
	mostErrors = 100
	// bytesEvery is how often progress is told that is of bytes alone.
	bytesEvery = 200 * time.Millisecond
)

// transcript reads what nix says while it works: for the log file, for progress, and for the error that it
// may come to. It is nix's standard error.
type transcript struct {
	log     *os.File
	written int64
	report  func(Progress)
	meter   *meter
	told    time.Time
	partial []byte
	// derivations are those being built, tails the ends of their logs.
	derivations map[uint64]string
	tails       map[string][]string
	last        string
	errors      []string
}

func newTranscript(log *os.File, report func(Progress)) *transcript {
	return &transcript{log: log, report: report, meter: newMeter(), derivations: map[uint64]string{}, tails: map[string][]string{}}
}

// Write takes the next part of nix's output; it never fails, so that nix never does for want of a log.
func (t *transcript) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if room := longestLine - len(t.partial); room > 0 {
			t.partial = append(t.partial, line[:min(len(line), room)]...)
		}
		if !ended {
			return n, nil
		}
		t.line(t.partial)
		t.partial = t.partial[:0]
		p = rest
	}
}

// line takes one line.
func (t *transcript) line(line []byte) {
	e, ok := parseEvent(line)
	if !ok {
		text := plain(string(line))
		t.print(text)
		t.message(text, strings.HasPrefix(text, "error:"))
		return
	}
	t.event(e)
	if changed, much := t.meter.take(e); changed && t.report != nil && (much || time.Since(t.told) > bytesEvery) {
		t.told = time.Now()
		t.report(t.meter.progress)
	}
}

// event takes what is for people: messages, and the builds' own output.
func (t *transcript) event(e event) {
	switch {
	case e.Action == "msg" && e.Level <= 3:
		text := plain(e.Msg)
		t.print(text)
		t.message(text, e.Level == 0 && strings.HasPrefix(text, "error"))
	case e.Action == "start" && e.Type == activityBuild && len(t.derivations) < mostOpen:
		t.derivations[e.ID] = e.text(0)
		t.print("building " + e.text(0))
	case e.Action == "result" && e.Type == resultBuildLog:
		derivation, text := t.derivations[e.ID], plain(e.text(0))
		t.print(strings.TrimSuffix(storeName(derivation), ".drv") + "> " + text)
		t.last = derivation
		t.tails[derivation] = append(t.tails[derivation], text)
		if tail := t.tails[derivation]; len(tail) > 2*tailLines {
			t.tails[derivation] = append([]string{}, tail[len(tail)-tailLines:]...)
		}
	}
}

// message keeps errors.
func (t *transcript) message(text string, isError bool) {
	if isError && len(t.errors) < mostErrors {
		t.errors = append(t.errors, text)
	}
}

// print writes a line to the log file, as far as there is room.
func (t *transcript) print(text string) {
	if t.log == nil || t.written > longestLog {
		return
	}
	n, _ := fmt.Fprintln(t.log, text)
	if t.written += int64(n); t.written > longestLog {
		_, _ = fmt.Fprintln(t.log, "the log is longer; it is cut here")
	}
}

// tail is the end of a derivation's log, or of the one that spoke last.
func (t *transcript) tail(derivation string) []string {
	tail, ok := t.tails[derivation]
	if !ok && derivation == "" {
		tail = t.tails[t.last]
	}
	return tail[max(0, len(tail)-tailLines):]
}

// escapes are colours and whatever else would move a terminal's cursor.
var escapes = compiled("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[\x00-\x08\x0b-\x1f\x7f]")

// plain is text without colours and control characters.
func plain(text string) string {
	return strings.ToValidUTF8(escapes().ReplaceAllString(text, ""), "�")
}
