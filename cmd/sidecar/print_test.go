package main

import "testing"

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc é 日本 שלום \u200f": "a\tb\nc é 日本 שלום \u200f",
		"\x1b]52;c;eA==\a":         "\uFFFD]52;c;eA==\uFFFD",
		"x\ry\x7f\u009b2J":         "x\uFFFDy\uFFFD\uFFFD2J",
		"not UTF-8 \x9b2J":         "not UTF-8 \uFFFD2J",
		"\u202ax\u202d\u202eexe.a": "\uFFFDx\uFFFD\uFFFDexe.a",
		"\u2066\u2067\u2068\u2069": "\uFFFD\uFFFD\uFFFD\uFFFD",
		"\u2029\u2065\u206a\u202f": "\u2029\u2065\u206a\u202f",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}
