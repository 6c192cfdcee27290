//go:build unix

package session

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// made is a folder whose driver is the test.
func made(t *testing.T) *Folder {
	t.Helper()
	f, err := Make(filepath.Join(t.TempDir(), "session"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

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
	} {
		t.Run(c.name, func(t *testing.T) {
			f := made(t)
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
			got, err := call.Wait()
			if got != c.want || (err != nil) != (c.want == none && !strings.Contains(c.answers, "done")) || err != nil && !errors.Is(err, ErrClosed) {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

// A call that the interpreter's end meets half handed over is told so, and does not hang.
func TestACallThatIsHandedOverAtTheEnd(t *testing.T) {
	f := made(t)
	python, _ := For("python")
	f.End()
	_, err := f.Call(python, Request{Args: []string{strings.Repeat("x", 1<<20)}}, Outputs{})
	if !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// Answers that nobody hears are no reason to wait.
func TestTheEndWhenThePipeOfAnswersIsFull(t *testing.T) {
	f := made(t)
	python, _ := For("python")
	call, err := f.Call(python, Request{Code: "pass"}, Outputs{Stdout: io.Discard, Stderr: io.Discard, Late: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	_ = f.answers.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := f.answers.WriteString(strings.Repeat("x", 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes, %v: it is not full", n, err)
	}
	f.End()
	defer call.Abandon()
	if _, err := call.Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// Two calls print into the same pipes, if the first has left nothing that still has them.
func TestPipesAreUsedAgain(t *testing.T) {
	f := made(t)
	python, _ := For("python")
	var names []string
	for i, left := range []bool{false, false, true, false, false} {
		var printed strings.Builder
		call, err := f.Call(python, Request{Code: "pass"}, Outputs{Stdout: &printed, Stderr: &printed, Late: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, call.pipes)
		var ends []*os.File
		for _, suffix := range suffixes {
			end, err := os.OpenFile(filepath.Join(f.Dir(), call.pipes+suffix), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		say := func(what string) {
			if _, err := f.answers.WriteString("\n" + call.word + " " + what + "\n"); err != nil {
				t.Fatal(err)
			}
		}
		say("begun")
		if _, err := ends[0].WriteString("own"); err != nil {
			t.Fatal(err)
		}
		if !left {
			_ = ends[0].Close()
		} else {
			defer ends[0].Close()
		}
		_ = ends[1].Close()
		say("done 0")
		if a, err := call.Wait(); err != nil || a != (Answer{}) {
			t.Fatalf("%+v %v", a, err)
		}
		if call.Finish(); printed.String() != "own" || call.Lingers() != left {
			t.Errorf("call %d: %q, lingers: %v", i, printed.String(), call.Lingers())
		}
	}
	if d := cmp.Diff([]string{"pipes1", "pipes1", "pipes1", "pipes2", "pipes2"}, names); d != "" {
		t.Error(d)
	}
}

// The code of the last calls is in files, of which old ones are used again.
func TestCodeIsKept(t *testing.T) {
	f := made(t)
	for n := 1; n <= 2*keptCode+1; n++ {
		if err := f.keepCode(n, ".py", strings.Repeat("x", 2*keptCode+1-n)); err != nil {
			t.Fatal(err)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(f.Dir(), "*.py"))
	if len(kept) != keptCode {
		t.Errorf("%d files", len(kept))
	}
	for n := keptCode + 2; n <= 2*keptCode+1; n++ {
		if text, err := os.ReadFile(f.path(n, ".py")); err != nil || len(text) != 2*keptCode+1-n {
			t.Errorf("call %d: %d bytes, %v", n, len(text), err)
		}
	}
}
