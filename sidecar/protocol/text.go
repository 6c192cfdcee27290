package protocol

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text is output as text: what is no UTF-8 becomes U+FFFD.
func Text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// OneLine is a text that quotes what a run or a client chose, such as a file's name, with nothing in it that moves a cursor, ends a
// line or turns the direction of writing.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Head is the beginning of a text that is longer than most bytes, without a part of a character at its end.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := []byte(text[:most])
	return string(cut[:most-Unfinished(cut)]) + "…"
}

// Unfinished is how many bytes at the end of b begin a character that is not whole: at most three.
func Unfinished(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if at := b[len(b)-i:]; utf8.RuneStart(at[0]) {
			if !utf8.FullRune(at) {
				return i
			}
			return 0
		}
	}
	return 0
}

// mismatch is what encoding/json says of a value that is of another type.
var mismatch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:json: )?cannot unmarshal (\w+)[^\n]*? into Go (?:struct field \w*\.?(?:[A-Z]\w*\.)*(\S*)|value) of type (\S+)`)
})

// WithoutGo says in a text that quotes encoding/json which value is of the wrong type, without Go's names for it.
func WithoutGo(text string) string {
	if !strings.Contains(text, " into Go ") {
		return text
	}
	return mismatch().ReplaceAllStringFunc(text, func(said string) string {
		parts := mismatch().FindStringSubmatch(said)
		field := parts[2]
		if field == "" {
			field = "it"
		}
		return field + " is " + article(parts[1]) + ", and has to be " + typeName(parts[3])
	})
}

// typeName is what JSON calls a type of Go's.
func typeName(name string) string {
	name = strings.TrimPrefix(name, "*")
	switch {
	case name == "string" || name == "bool":
		return article(name)
	case strings.HasPrefix(name, "[]"):
		return "an array"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number"
	}
	return "an object"
}

func article(name string) string {
	switch name {
	case "bool":
		return "true or false"
	case "array", "object":
		return "an " + name
	}
	return "a " + name
}
