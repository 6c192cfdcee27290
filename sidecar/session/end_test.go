//go:build unix

package session

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever learns that an interpreter has ended must still get what it answered before: one that exits in a call does both at
// once.
func TestAnInterpretersLastAnswerIsHeard(t *testing.T) {
	none := Answer{}
	for _, c := range []struct {
		name, answers string
		want          Answer
	}{
		{"it said that it ends", "\nWORD begun\n\nWORD exit 3\n", Answer{Status: 3, Ends: true}},
		{"it said that it was done, and was killed then", "\nWORD begun\n\nWORD done 0\n", none},
		{"it ended in the call", "\nWORD begun\n", none},
		{"it ended before the call", "", none},
		{"its last words are cut", "\nWORD begun\n\nWORD ex", none},
		{"the pipe of answers was full", strings.Repeat("x", 64<<10), none},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Make(filepath.Join(t.TempDir(), "session"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			python, _ := For("python")
			var printed strings.Builder
			call, err := f.Call(python, Request{Code: "pass"}, Outputs{Stdout: &printed, Stderr: &printed, Late: &printed})
			if err != nil {
				t.Fatal(err)
			}
			defer call.Abandon()
			if _, err := f.answers.WriteString(strings.ReplaceAll(c.answers, "WORD", call.word)); err != nil {
				t.Fatal(err)
			}
			f.End()
			got, err := call.Wait(t.Context())
			if got != c.want || (err != nil) != (c.want == none && !strings.Contains(c.answers, "done")) || err != nil && !errors.Is(err, ErrClosed) {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

// A call that the interpreter's end meets half handed over is told so, and does not hang.
func TestACallThatIsHandedOverAtTheEnd(t *testing.T) {
	f, err := Make(filepath.Join(t.TempDir(), "session"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	python, _ := For("python")
	f.End()
	_, err = f.Call(python, Request{Args: []string{strings.Repeat("x", 1<<20)}}, Outputs{})
	if !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}
