// Package traces reads where in its code a program says that it failed.
//
//	for _, f := range traces.Find(stderr) { … f.File, f.Line, f.Message … }
//
// It is a table of what interpreters print; what it does not know it passes over.
package traces

import (
	"regexp"
	"strconv"
	"strings"

	"code.sidecar.dev/sidecar/lazyregexp"
)

// Frame is one place in code.
type Frame struct {
	// File is as the program prints it. Line is counted from 1; Column too, and 0 where it is not told.
	File         string
	Line, Column int
	Message      string
	// Caller says that the fault is in what is called here.
	Caller bool
}

// saying is where the message of a frame is.
type saying int

const (
	here   saying = iota // in the same line
	before               // in a line before the first frame
	after                // in the first line after the last frame
	below                // in the first line after it that looks like an error's
)

// pattern is one way to name a place.
type pattern struct {
	line func() *regexp.Regexp
	says saying
	// caller: the fault is never here.
	caller bool
}

// patterns are tried in turn. Their groups are called file, line, column and message.
var patterns = []pattern{
	// Python: File "x.py", line 3, in f
	{line: lazyregexp.New(`^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)`), says: after},
	// Bash: x.sh: line 2: nosuch: command not found
	{line: lazyregexp.New(`^(?P<file>/[^:]+): line (?P<line>\d+): (?P<message>.+)$`)},
	// V8: at f (/x.js:2:8), and at file:///x.mjs:1:7
	{line: lazyregexp.New(`^\s+at (?:.*\()?(?:file://)?(?P<file>/[^():]+):(?P<line>\d+):(?P<column>\d+)\)?$`), says: before},
	// V8, before the source line: /x.js:2
	{line: lazyregexp.New(`^(?:file://)?(?P<file>/[^:]+):(?P<line>\d+)$`), says: below},
	// Ruby's callers: from x.rb:4:in `<main>'
	{line: lazyregexp.New(`^\s+from (?P<file>/[^:]+):(?P<line>\d+):in `), says: before, caller: true},
	// Lua: lua: x.lua:2: boom, and its callers
	{line: lazyregexp.New(`^lua(?:jit|[\d.]*): (?P<file>/[^:]+):(?P<line>\d+): (?P<message>.+)$`)},
	{line: lazyregexp.New(`^\t(?P<file>/[^:]+):(?P<line>\d+): in `), says: before, caller: true},
	// Go's panics: \t/x.go:3 +0x1d
	{line: lazyregexp.New(`^\t(?P<file>/[^:]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$`), says: before},
	// Ruby, compilers and many others: x.rb:2:in `f': boom (RuntimeError); x.go:1:15: syntax error
	{line: lazyregexp.New(`^(?P<file>/[^:]+):(?P<line>\d+):(?:(?P<column>\d+):)? ?(?P<message>\S.*)$`)},
	// PHP: Fatal error: … in x.php on line 2, and PHP Warning: … in x.php:2
	{line: lazyregexp.New(`^(?P<message>.+) in (?P<file>/.+?)(?: on line |:)(?P<line>\d+)$`)},
	{line: lazyregexp.New(`^#\d+ (?P<file>/[^(]+)\((?P<line>\d+)\): `), says: before, caller: true},
	// Perl: boom at x.pl line 2.
	{line: lazyregexp.New(`^(?P<message>.+) at (?P<file>/.+?) line (?P<line>\d+)(?:\.$|, )`)},
	// Julia: [1] f() @ Main /x.jl:2
	{line: lazyregexp.New(`^\s+@ \S+ (?P<file>/[^:]+):(?P<line>\d+)$`), says: before},
}

// fault looks like an error's line: "TypeError: x", "Uncaught …", "panic: …", "ERROR: …".
var fault = lazyregexp.New(`^(?:Uncaught |Unhandled |PHP )?(?:[\w.:]*(?:Error|Exception)\b|panic:|fatal error:|ERROR:|lua[\d.]*:|Fatal error:).*`)

// mostFrames bounds what a program can have an editor show.
const mostFrames = 50

// Find are the places that an output names, in its order, each line of a file once.
func Find(output string) []Frame {
	var r reader
	for line := range strings.Lines(output) {
		r.read(strings.TrimRight(line, "\r\n"))
	}
	return distinct(r.frames)
}

// reader reads an output line by line.
type reader struct {
	frames []Frame
	// fault is the last line that looks like an error's, told is whether a frame has it.
	fault string
	told  bool
	// open are the frames whose message is still to come, and how.
	open []int
	how  saying
}

func (r *reader) read(line string) {
	for _, p := range patterns {
		if m := p.line().FindStringSubmatch(line); m != nil {
			r.frame(p, m)
			return
		}
	}
	isFault := fault().MatchString(line)
	if isFault {
		r.fault, r.told = line, false
	}
	isUnindented := line != "" && line[0] != ' ' && line[0] != '\t'
	if len(r.open) > 0 && (isFault || r.how == after && isUnindented) {
		r.close(line)
	}
}

// frame takes a line that names a place.
func (r *reader) frame(p pattern, m []string) {
	f := Frame{Caller: p.caller}
	for i, name := range p.line().SubexpNames() {
		switch name {
		case "file":
			f.File = m[i]
		case "line":
			f.Line = number(m[i])
		case "column":
			f.Column = number(m[i])
		case "message":
			f.Message = m[i]
		}
	}
	if f.Line == 0 { // none, or no number that fits
		return
	}
	switch p.says {
	case here:
		r.fault, r.told = f.Message, true
	case before:
		f.Message, f.Caller = r.fault, f.Caller || r.told
		r.told = true
	default:
		if p.says != r.how {
			r.open = nil
		}
		r.how = p.says
		r.open = append(r.open, len(r.frames))
	}
	r.frames = append(r.frames, f)
}

// number is 0 for what is none, or too large for a line.
func number(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// close gives the frames that wait for it their message; the last is where the fault is.
func (r *reader) close(message string) {
	for i, at := range r.open {
		r.frames[at].Message, r.frames[at].Caller = message, i < len(r.open)-1
	}
	r.open = nil
}

// distinct leaves out what names the same line again, and what is too much. Where one names the fault, that stays.
func distinct(all []Frame) []Frame {
	type place struct {
		file string
		line int
	}
	at := map[place]int{}
	var out []Frame
	for _, f := range all {
		i, seen := at[place{f.File, f.Line}]
		switch {
		case !seen && len(out) < mostFrames:
			at[place{f.File, f.Line}] = len(out)
			out = append(out, f)
		case seen && !f.Caller && f.Column > 0 && out[i].Column == 0:
			out[i].Column = f.Column
		case seen && out[i].Caller && !f.Caller:
			out[i] = f
		}
	}
	return out
}
