package sidecar

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
)

// TestPolicyText: neither the program's arguments nor any variable is part of it.
func TestPolicyText(t *testing.T) {
	got := PolicyText(sandbox.Policy{
		Mounts: []sandbox.Mount{{Source: "/usr", Target: "/usr"}, {Source: "/home/me/p", Target: "/home/me/p", Access: sandbox.ReadWrite}},
		Pins:   []sandbox.Pin{{Path: "/home/me/p/.git/hooks", Kind: sandbox.Frozen}, {Path: "/home/me/p/.git/commondir", Kind: sandbox.Frozen}},
		Argv:   []string{"/usr/bin/tool", "--token\nrun ", "hunter2"}, Env: []string{"TOKEN=hunter2"}, Dir: "/home/me/p",
		Limits: sandbox.Limits{Time: time.Minute, Memory: 1 << 30, Processes: 7},
	}, []workspace.Protected{{Path: "/home/me/p/.git/commondir", Hold: workspace.Placeholder}, {Path: "/home/me/p/.git/hooks", Hold: workspace.ReadOnly}})
	const want = "ro /usr\nrw /home/me/p\nfrozen /home/me/p/.git/hooks\nplaceholder /home/me/p/.git/commondir\nnetwork none\n" +
		"limits time 1m0s, memory 1073741824, file size 0, output 0, processes 7, open files 0\nin /home/me/p\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestShownLanguage(t *testing.T) {
	for said, want := range map[string]string{"py": "python", "Python": "python", "sh": "bash", "": "", "cobol": "cobol"} {
		req := protocol.RunRequest{RunParams: protocol.RunParams{Language: said}}
		if got := Shown("1", req, time.Now()).Language; got != want {
			t.Errorf("%q is shown as %q, want %q", said, got, want)
		}
	}
}

func TestConcealed(t *testing.T) {
	values := map[string]string{"TOKEN": "hunter2", "LONGER": "hunter2-and-more", "FLAG": "1", "EMPTY": ""}
	for text, want := range map[string]string{
		"":                              "",
		"a hunter2 and 1":               "a [the value of TOKEN] and 1",
		"hunter2-and-more, hunter2-and": "[the value of LONGER], [the value of TOKEN]-and",
	} {
		if got := concealed(text, values); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := concealed("hunter2", nil); got != "hunter2" {
		t.Error(got)
	}
}

// BenchmarkConcealed: what a long value costs grows as it does, whether the text has it or not.
func BenchmarkConcealed(b *testing.B) {
	long := strings.Repeat("x", 1<<20)
	for b.Loop() {
		if concealed("", map[string]string{"A": long}) != "" || concealed(long+"y", map[string]string{"A": long}) != "[the value of A]y" {
			b.Fatal("it is not concealed")
		}
	}
}

// TestRecording: a run is written down before it starts and after it, unless that is off.
func TestRecording(t *testing.T) {
	written := make(chan struct{})
	close(written)
	for keep, want := range map[string]int{"full": 2, "metadata": 2, "off": 0} {
		var got []protocol.RunRecord
		settings := config.Defaults()
		settings.History.Keep = keep
		e := New(Options{Settings: &settings, History: History{Write: func(r protocol.RunRecord) <-chan struct{} {
			got = append(got, r)
			return written
		}}})
		n := e.recording(Request{ID: "a", Dir: "/home/me/p", Params: protocol.RunParams{Command: []string{"true"}, Client: "terminal"}}, time.Now())
		in := n.reads(strings.NewReader("input"))
		_, _ = in.Read(make([]byte, 9))
		if n != nil {
			n.beginning(&prepared{program: "/usr/bin/true"})
		}
		n.ended(protocol.RunResult{ExitCode: 3, Stdout: protocol.Output{Text: "out", Bytes: 3}, Stderr: protocol.Output{Text: "head…tail", Bytes: 9000, File: "/state/a.stderr"}}, nil)
		e.Close()
		if len(got) != want {
			t.Errorf("%s: %+v", keep, got)
			continue
		}
		if want == 0 {
			continue
		}
		last := got[1]
		if got[0].Run.End != nil || got[0].Interpreter != "/usr/bin/true" || last.Run.End.ExitCode != 3 || last.Keep != keep || !last.StreamedStdin ||
			last.Stdout != (protocol.RecordedOutput{Bytes: 3, Text: "out"}) || last.Stderr != (protocol.RecordedOutput{Bytes: 9000, File: "/state/a.stderr"}) {
			t.Errorf("%s: %+v", keep, got)
		}
	}
}

// TestARecordIsNotBegunAfterItsEnd: a run may be over before its beginning was handed over.
func TestARecordIsNotBegunAfterItsEnd(t *testing.T) {
	n := 0
	e := New(Options{History: History{Write: func(protocol.RunRecord) <-chan struct{} {
		n++
		return nil
	}}})
	defer e.Close()
	r := e.recording(Request{Params: protocol.RunParams{Command: []string{"true"}}}, time.Now())
	r.ended(protocol.RunResult{}, nil)
	if tried := r.beginning(&prepared{}); tried != nil || n != 1 {
		t.Errorf("written %d times", n)
	}
}

// TestRecordOfASlowDisk: a program does not wait for long.
func TestRecordOfASlowDisk(t *testing.T) {
	e := New(Options{History: History{Write: func(protocol.RunRecord) <-chan struct{} { return make(chan struct{}) }}})
	defer e.Close()
	e.recording(Request{Params: protocol.RunParams{Command: []string{"true"}}}, time.Now()).begins(&prepared{})() // returns, or the test's time is over
}
