package lsp

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// mostPrinted is how much of a run's output is kept for the editor; `sidecar output ID` has all of it.
	mostPrinted = 256 << 10
	// mostLogged is how much of it is shown in the editor's log as it comes.
	mostLogged = 16 << 10
	// longestLine is what waits for its end.
	longestLine = 4 << 10
)

// transcript is what a run printed, both streams as they came, as text without a terminal's escapes.
type transcript struct {
	mu      sync.Mutex
	clean   cleaner
	text    strings.Builder
	left    int // bytes that did not fit
	line    string
	logged  int
	silence bool
}

// add takes output, and gives the lines that became whole.
func (t *transcript) add(output string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left > 0 { // what is passed over needs no look, but for the line that a progress shows
		t.left += len(output)
		return new(cleaner).text(output[max(0, len(output)-longestReport):])
	}
	output = t.clean.text(output)
	if room := mostPrinted - t.text.Len(); room < len(output) {
		fits := head(output, room)
		t.left += len(output) - len(fits)
		t.text.WriteString(fits)
	} else {
		t.text.WriteString(output)
	}
	t.line += output
	at := strings.LastIndexByte(t.line, '\n')
	if at < 0 && len(t.line) > longestLine {
		at = len(t.line) - 1
	}
	lines := t.line[:at+1]
	t.line = t.line[at+1:]
	return strings.TrimRight(lines, "\n")
}

// head is the beginning of a text, without a part of a character.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// mayLog says whether so much more may be logged.
func (t *transcript) mayLog(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.logged+n > mostLogged {
		t.silence = true
	}
	t.logged += n
	return !t.silence
}

// whole is all that was kept, and what is to be said of the rest.
func (t *transcript) whole(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text.String()
	if t.left > 0 {
		text += fmt.Sprintf("\n… %d bytes more: sidecar output %s\n", t.left, id)
	}
	return text
}

// lastLine is the last line with something in it.
func lastLine(lines string) string {
	lines = strings.TrimSpace(lines)
	return lines[strings.LastIndexByte(lines, '\n')+1:]
}

// cleaner takes out what has a terminal do something (ECMA-48: escape sequences, control characters), also where it comes
// in pieces. A line that is written over by a carriage return is kept as lines.
type cleaner struct {
	state byte // 0, or what began the sequence: ESC, '[', or ']' for strings of any kind
}

// text is the output without. The end of a line ends a sequence, so that none swallows all that follows.
func (c *cleaner) text(output string) string {
	var b strings.Builder
	for _, r := range output {
		if c.passes(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (c *cleaner) passes(r rune) bool {
	switch c.state {
	case 0:
		switch {
		case r == 0x1b:
			c.state = 0x1b
		case r == 0x9b:
			c.state = '['
		case r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0):
			return true
		}
	case 0x1b:
		switch {
		case r == '[':
			c.state = '['
		case strings.ContainsRune("]PX^_", r):
			c.state = ']'
		case r >= ' ' && r <= '/': // an intermediate byte: one more follows
		default:
			c.state = 0
			return r == '\n'
		}
	case '[':
		if r >= '@' && r <= '~' || r < ' ' {
			c.state = 0
			return r == '\n'
		}
	case ']':
		switch r {
		case 0x07, 0x9c:
			c.state = 0
		case 0x1b: // and a backslash
			c.state = 0x1b
		case '\n':
			c.state = 0
			return true
		}
	}
	return false
}
