package protocol

import (
	"strings"
	"unicode/utf8"
)

// Text is output as text: what is no UTF-8 becomes U+FFFD.
func Text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

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
