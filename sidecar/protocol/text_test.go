package protocol

import (
	"encoding/json"
	"testing"
)

// A cut never goes through a character: what of one is there at the end is held back.
func TestUnfinished(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 0, "aé": 0, "a\xc3": 1, "a\xe8\xaa": 2, "\xf0\x9f\x98": 3, "a\xff": 0, "\x80\x80\x80\x80": 0} {
		if got := Unfinished([]byte(in)); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

// What is wrong with a value is said without Go's names.
func TestWithoutGo(t *testing.T) {
	for in, want := range map[string]string{
		`{"language":["x"]}`:        "language is an array, and has to be a string",
		`{"env":"x"}`:               "env is a string, and has to be an object",
		`{"env":{"A":1}}`:           "env is a number, and has to be a string",
		`{"args":"x"}`:              "args is a string, and has to be an array",
		`{"timeoutMs":"x"}`:         `"x" is no number of milliseconds up to 31536000000`,
		`{"terminal":{"rows":"x"}}`: "terminal.rows is a string, and has to be a whole number",
		`{"terminal":{"rows":1.5}}`: "terminal.rows is a number, and has to be a whole number",
		`{"trace":1}`:               "trace is a number, and has to be true or false",
		`[]`:                        "it is an array, and has to be an object",
		`"x"`:                       "it is a string, and has to be an object",
		`{`:                         "unexpected end of JSON input",
	} {
		err := json.Unmarshal([]byte(in), new(RunRequest))
		if err == nil {
			t.Errorf("%s is taken", in)
			continue
		}
		if got := WithoutGo(err.Error()); got != want {
			t.Errorf("%s: %s, want %s (%v)", in, got, want, err)
		}
	}
}
