// Package gitconfig reads git's config files as git does, without running git.
//
//	cfg := gitconfig.Load("/project/.git/config", gitconfig.Options{})
//	path, ok := cfg.Last("core.hookspath")
//
// Every value knows the file and line it came from, include and includeIf are followed, and nothing in a
// file can make a read hang or grow without bound. What it does not do: write, and judge what a value means.
//
// An own parser, since go-git's decoder drops where a value came from, knows no key without a value, accepts
// what git refuses and refuses what git accepts; the tests compare this one with git itself.
package gitconfig

import (
	"bytes"
	"fmt"
	"strings"
)

// Entry is one variable of a config file.
type Entry struct {
	// Key is the whole name as git prints it: section and name in lower case, the subsection as written.
	Key string
	// Value is the value after git's unquoting.
	Value string
	// Bare says that the name stood alone, with no "=", which git reads as true.
	Bare bool
	// File is the file the entry is in, Line its line there.
	File string
	Line int
}

// Section returns what stands before the first dot of the key: "core" of "core.editor".
func (e Entry) Section() string {
	section, _, _ := strings.Cut(e.Key, ".")
	return section
}

// Name returns what stands after the last dot of the key: "path" of "includeif.gitdir:~/a.b/.path".
func (e Entry) Name() string {
	return e.Key[strings.LastIndexByte(e.Key, '.')+1:]
}

// Subsection returns what stands between section and name; "" when there is nothing.
func (e Entry) Subsection() string {
	first, last := strings.IndexByte(e.Key, '.'), strings.LastIndexByte(e.Key, '.')
	if first < 0 || first == last {
		return ""
	}
	return e.Key[first+1 : last]
}

// SyntaxError is a line that git refuses, and with it the whole file.
type SyntaxError struct {
	File string
	Line int
}

// Error names the line in git's words.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("bad config line %d in file %s", e.Line, e.File)
}

// Parse reads the text of one config file, named file in what it returns. On an error it also returns the
// entries before it: git stops there, and so does this. The grammar is the one of git_parse_source in git's
// config.c (version 2.39), described in git-config(1), "Syntax".
func Parse(file string, data []byte) ([]Entry, error) {
	p := &parser{file: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), line: 1}
	if !p.parse() {
		return p.entries, &SyntaxError{File: file, Line: p.line}
	}
	return p.entries, nil
}

type parser struct {
	file    string
	data    []byte
	pos     int
	line    int
	eof     bool
	section []byte
	entries []Entry
}

// next returns the next character; the end of the file reads as a line's end, as in git's get_next_char.
func (p *parser) next() byte {
	if p.pos >= len(p.data) {
		p.eof = true
		return '\n'
	}
	c := p.data[p.pos]
	p.pos++
	if c == '\r' && p.pos < len(p.data) && p.data[p.pos] == '\n' {
		p.pos++
		c = '\n'
	}
	if c == '\n' {
		p.line++
	}
	return c
}

func (p *parser) parse() bool {
	for comment := false; ; {
		c := p.next()
		switch {
		case c == '\n' && p.eof:
			return true
		case c == '\n':
			comment = false
		case comment, isSpace(c):
		case c == '#' || c == ';':
			comment = true
		case c == '[':
			if !p.header() {
				return false
			}
		case !isAlpha(c) || !p.variable(c):
			return false
		}
	}
}

// header reads a section's header after its "[": get_base_var.
func (p *parser) header() bool {
	p.section = nil
	for {
		c := p.next()
		switch {
		case p.eof:
			return false
		case c == ']' && len(p.section) == 0:
			return false
		case c == ']':
			p.section = append(p.section, '.')
			return true
		case isSpace(c):
			return p.subsection(c)
		case !isKeyChar(c) && c != '.':
			return false
		}
		p.section = append(p.section, lower(c))
	}
}

// subsection reads the quoted part of a header: get_extended_base_var.
func (p *parser) subsection(c byte) bool {
	for isSpace(c) {
		if c == '\n' {
			return false
		}
		c = p.next()
	}
	if c != '"' {
		return false
	}
	p.section = append(p.section, '.')
	for {
		c = p.next()
		if c == '"' {
			break
		}
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' {
			return false
		}
		p.section = append(p.section, c)
	}
	if p.next() != ']' {
		return false
	}
	p.section = append(p.section, '.')
	return true
}

// variable reads "name", or "name = value", that begins with c: get_value.
func (p *parser) variable(c byte) bool {
	line := p.line
	key := append(append([]byte{}, p.section...), lower(c))
	for c = p.next(); !p.eof && isKeyChar(c); c = p.next() {
		key = append(key, lower(c))
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	entry := Entry{Key: cString(key), Bare: c == '\n', File: p.file, Line: line}
	if !entry.Bare {
		value, ok := p.value()
		if c != '=' || !ok {
			return false
		}
		entry.Value = value
	}
	p.entries = append(p.entries, entry)
	return true
}

// value reads what stands after "=": parse_value.
func (p *parser) value() (string, bool) {
	var out []byte
	quoted, comment, spaces := false, false, 0
	for {
		c := p.next()
		switch {
		case c == '\n':
			return cString(out), !quoted
		case comment:
			continue
		case isSpace(c) && !quoted:
			if len(out) > 0 {
				spaces++
			}
			continue
		case (c == '#' || c == ';') && !quoted:
			comment = true
			continue
		}
		for ; spaces > 0; spaces-- {
			out = append(out, ' ')
		}
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			escaped, ok := unescape(p.next())
			if !ok {
				return "", false
			}
			out = append(out, escaped...)
		default:
			out = append(out, c)
		}
	}
}

// unescape gives what a backslash and c stand for; a line's end stands for nothing.
func unescape(c byte) (string, bool) {
	switch c {
	case '\n':
		return "", true
	case 't':
		return "\t", true
	case 'b':
		return "\b", true
	case 'n':
		return "\n", true
	case '\\', '"':
		return string(c), true
	}
	return "", false
}

// cString cuts at a NUL: git hands names and values on as C strings.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isAlpha(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isKeyChar(c byte) bool { return isAlpha(c) || '0' <= c && c <= '9' || c == '-' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
