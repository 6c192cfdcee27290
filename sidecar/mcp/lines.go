package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
)

// maxLine is the longest message that is taken in. It leaves room for code far over the limit of a run, so that
// such a call gets the answer that names that limit.
const maxLine = 64 << 20

// keptOfLong is how much of each end of a message over maxLine is kept, to find the id to answer to.
const keptOfLong = 512

// errTooLong says that a line was over the limit; it was read to its end and not held.
var errTooLong = errors.New("message is longer than 64 MiB")

// lines reads messages, one a line. jsonrpc2's NDJSON stream has the same framing, but ends the connection at a
// long line and at broken JSON, where this edge has to answer and go on.
type lines struct {
	in    *bufio.Reader
	limit int
}

func newLines(in io.Reader) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), limit: maxLine}
}

// next is the next line that is not blank, without its end. With errTooLong it is the line's head and tail. The
// last line needs no newline.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || err == io.EOF || err == errTooLong) {
			if err == io.EOF {
				err = nil
			}
			return line, err
		}
		if err != nil {
			return nil, err
		}
	}
}

// line reads up to the next newline.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.limit {
			return l.skip(append(line[:min(len(line), keptOfLong)], part...), err)
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// skip reads a long line to its end and keeps its head and tail.
func (l *lines) skip(line []byte, err error) ([]byte, error) {
	head := bytes.Clone(line[:min(len(line), keptOfLong)])
	tail := line
	for err == bufio.ErrBufferFull {
		var part []byte
		part, err = l.in.ReadSlice('\n')
		tail = append(bytes.Clone(last(tail, keptOfLong)), part...)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return append(head, bytes.Clone(last(tail, keptOfLong))...), errTooLong
}

func last(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// The two places where clients write a message's id: first, or last.
var (
	idFirst = regexp.MustCompile(`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*,`)
	idLast  = regexp.MustCompile(`[,}]\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

// idOfLong finds the id of a message of which only the ends are left, so that its sender does not wait in vain;
// nil when it is at neither end. A string inside the message that looks like one misleads only its own sender.
func idOfLong(ends []byte) []byte {
	for _, place := range []*regexp.Regexp{idFirst, idLast} {
		if found := place.FindSubmatch(ends); found != nil {
			return found[1]
		}
	}
	return nil
}
