package lsp

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A position is where editors say, in either encoding, and never outside of the text or inside a character.
func TestOffset(t *testing.T) {
	const text = "ab\r\n😀c\rü\n"
	for _, test := range []struct {
		line, character int
		encoding, rest  string
	}{
		{0, 0, utf16Units, text},
		{0, 1, utf16Units, "b\r\n😀c\rü\n"},
		{0, 99, utf16Units, "\r\n😀c\rü\n"},
		{1, 0, utf16Units, "😀c\rü\n"},
		{1, 1, utf16Units, "😀c\rü\n"}, // inside a pair
		{1, 2, utf16Units, "c\rü\n"},
		{1, 4, utf8Bytes, "c\rü\n"},
		{1, 3, utf8Bytes, "😀c\rü\n"},
		{2, 1, utf16Units, "\n"},
		{2, 2, utf8Bytes, "\n"},
		{3, 0, utf16Units, ""},
		{99, 99, utf16Units, ""},
		{-1, -1, utf16Units, text},
		{1, -5, utf8Bytes, "😀c\rü\n"},
	} {
		if got := text[offset(text, position{test.line, test.character}, test.encoding):]; got != test.rest {
			t.Errorf("%d:%d in %s: before %q, want %q", test.line, test.character, test.encoding, got, test.rest)
		}
	}
}

// Changes never panic, and a position that was counted is found again.
func FuzzOffset(f *testing.F) {
	f.Add("a😀\r\nb", 0, 3, 1, 1, "x")
	f.Add("\r\r\n", -1, 9, 99, -9, "\xff")
	f.Fuzz(func(t *testing.T, text string, line, character, line2, character2 int, put string) {
		for _, encoding := range []string{utf16Units, utf8Bytes} {
			d := document{text: text}
			d.change(change{Range: &span{position{line, character}, position{line2, character2}}, Text: put}, encoding)
			if !strings.Contains(d.text, put) {
				t.Fatalf("%q is not in %q", put, d.text)
			}
			if at := offset(text, position{line, character}, encoding); at < len(text) && utf8.ValidString(text) && !utf8.RuneStart(text[at]) {
				t.Fatalf("%d is inside a character of %q", at, text)
			}
		}
		if first, _, _ := strings.Cut(text, "\n"); utf8.ValidString(first) && !strings.Contains(first, "\r") {
			for i := range first {
				if got := offset(text, position{0, units(first[:i], utf16Units)}, utf16Units); got != i {
					t.Fatalf("%d of %q became %d", i, first, got)
				}
			}
		}
	})
}

// What has a terminal do something is taken out, wherever it is cut; text is not.
func TestCleaner(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 😀\tx\n":                           "plain ü 😀\tx\n",
		"\x1b[1;31mred\x1b[0m":                     "red",
		"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b": "ab",
		"\x1bP+q\x1b\\c\x1b(Bd\x1b7e":              "cde",
		"a\rb\x00\x08\x7fc\u009b31md\u0085":        "abcd",
		"\x1b]never closed\nnext":                  "\nnext",
		"\x1b[31\nnext":                            "\nnext",
	} {
		if got := new(cleaner).text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		var pieces strings.Builder
		c := new(cleaner)
		for _, r := range in {
			pieces.WriteString(c.text(string(r)))
		}
		if pieces.String() != want {
			t.Errorf("%q in pieces: %q", in, pieces.String())
		}
	}
}

// Lines are given once they are whole, and what is kept is bounded.
func TestTranscript(t *testing.T) {
	var x transcript
	for _, step := range []struct{ add, gives string }{{"a", ""}, {"b\nc", "ab"}, {"\n\nd", "c"}, {strings.Repeat("x", longestLine), "d" + strings.Repeat("x", longestLine)}} {
		if got := x.add(step.add); got != step.gives {
			t.Errorf("%.20q gave %.20q, want %.20q", step.add, got, step.gives)
		}
	}
	for range 100 {
		x.add(strings.Repeat("ü", mostPrinted/10))
	}
	whole := x.whole("ID")
	if len(whole) > mostPrinted+100 || !strings.HasSuffix(whole, "bytes more: sidecar output ID\n") || !utf8.ValidString(whole) {
		t.Errorf("%d bytes: %q", len(whole), whole[len(whole)-60:])
	}
}

// The address of a file is read as editors write it, and written so that they read it.
func TestPathsAndURIs(t *testing.T) {
	for text, want := range map[string]string{
		"file:///a%20b/%C3%BC%3F.md": "/a b/ü?.md", "file://localhost/x": "/x", "FILE:///x/../y": "/y", "/plain path": "/plain path",
		"untitled:One": "", "file://elsewhere/x": "", "https://x/y": "", "file:relative": "", "file:///a%00b": "", "%zz": "", "": "",
	} {
		got, err := pathOf(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if back, err := pathOf(uriOf(want)); want != "" && (back != want || err != nil) {
			t.Errorf("%q became %q as a URI", want, back)
		}
	}
}

// A field is put into an object, whatever it has.
func TestWith(t *testing.T) {
	for in, want := range map[string]string{
		"": `{"a":"ü\"b"}`, "null": `{"a":"ü\"b"}`, " { } ": `{"a":"ü\"b"}`, `{"a":"","x":1 }`: `{"a":"","x":1,"a":"ü\"b"}`, `[1]`: `[1]`,
	} {
		if got := string(with([]byte(in), "a", `ü"b`)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
