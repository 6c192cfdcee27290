package lsp

import (
	"strings"
	"unicode/utf8"
)

// position is LSP's Position: a line, and how many code units are before it, both from 0. What is beyond the end of a line
// or of the document means that end; negative numbers mean 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// span is LSP's Range; its end is not part of it.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// The encodings of positions that are served: LSP's own, and the one that needs no counting.
const (
	utf16Units = "utf-16"
	utf8Bytes  = "utf-8"
)

// units is how many code units a text has.
func units(text, encoding string) int {
	if encoding == utf8Bytes {
		return len(text)
	}
	n := 0
	for _, r := range text {
		n += unitsOf(r)
	}
	return n
}

// unitsOf is how many UTF-16 code units a character has.
func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// offset is where a position is in a text, in bytes; never inside a character.
func offset(text string, p position, encoding string) int {
	at := 0
	for range p.Line {
		end, next := lineEnd(text, at)
		if end == next {
			return len(text)
		}
		at = next
	}
	end, _ := lineEnd(text, at)
	return at + within(text[at:end], p.Character, encoding)
}

// within is how many bytes of a line its first code units are.
func within(line string, character int, encoding string) int {
	if encoding == utf8Bytes {
		n := min(max(character, 0), len(line))
		for n > 0 && n < len(line) && !utf8.RuneStart(line[n]) {
			n--
		}
		return n
	}
	seen := 0
	for at, r := range line {
		if seen+unitsOf(r) > character {
			return at
		}
		seen += unitsOf(r)
	}
	return len(line)
}

// lineEnd is where the line at a place ends, and where the next begins; they are the same at the end of the text.
func lineEnd(text string, at int) (end, next int) {
	i := strings.IndexAny(text[at:], "\r\n")
	switch {
	case i < 0:
		return len(text), len(text)
	case strings.HasPrefix(text[at+i:], "\r\n"):
		return at + i, at + i + 2
	}
	return at + i, at + i + 1
}
