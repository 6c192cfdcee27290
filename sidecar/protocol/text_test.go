package protocol

import "testing"

// A cut never goes through a character: what of one is there at the end is held back.
func TestUnfinished(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 0, "aé": 0, "a\xc3": 1, "a\xe8\xaa": 2, "\xf0\x9f\x98": 3, "a\xff": 0, "\x80\x80\x80\x80": 0} {
		if got := Unfinished([]byte(in)); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}
