package history

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"code.sidecar.dev/sidecar/protocol"
)

var began = time.Date(2026, 11, 29, 20, 15, 1, 0, time.UTC)

// beginning is the record of a run that is about to start, n seconds after began.
func beginning(id string, n int) protocol.RunRecord {
	return protocol.RunRecord{
		Run:     protocol.Run{ID: id, Workspace: "/home/me/project", Client: "claude-code 2.1", Language: "python", Code: "print(1)", CodeBytes: 8, Started: began.Add(time.Duration(n) * time.Second)},
		Request: protocol.RunParams{Language: "python", Code: "print(1)", Args: []string{"argument"}, Stdin: "input", Env: map[string]string{"TOKEN": "hunter2-of-env"}},
		Keep:    Full, Environment: protocol.RecordedEnvironment{ID: "host", Provider: "host"}, Interpreter: "/usr/bin/python3.11", Policy: "ro /usr\nnetwork none\n",
	}
}

// ended is the record of the same run after it.
func ended(r protocol.RunRecord, exit int) protocol.RunRecord {
	r.Run.End = &protocol.RunEnd{Time: r.Run.Started.Add(time.Second), ExitCode: exit, Duration: protocol.Duration(time.Second), MaxRSS: 9 << 20, CPU: protocol.Duration(18 * time.Millisecond), Stdout: 2}
	r.Stdout = protocol.RecordedOutput{Bytes: 2, Text: "1\n"}
	return r
}

// opened is a Store in a folder, which is closed after the test.
func opened(t testing.TB, dir string) *Store {
	t.Helper()
	s := Open(Options{Dir: dir})
	t.Cleanup(s.Close)
	return s
}

// write writes records and waits for that.
func write(t testing.TB, s *Store, all ...protocol.RunRecord) {
	t.Helper()
	for _, r := range all {
		tried(t, s.Write(r))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said != "" {
		t.Fatal(s.said)
	}
}

func tried(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a record waits for a minute")
	}
}

// listed are the ids of a list.
func listed(t testing.TB, s *Store, workspace string, p protocol.RunsParams) string {
	t.Helper()
	runs, err := s.List(context.Background(), workspace, p)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// A run that has ended before its beginning was written is written once, as it ended; who waits for either is told.
func TestOnlyTheLastRecordOfARunIsWritten(t *testing.T) {
	s := opened(t, t.TempDir())
	s.use.Lock() // the database is busy
	first := s.Write(beginning("busy", 0))
	for taken := false; !taken; time.Sleep(time.Millisecond) { // by the goroutine
		s.mu.Lock()
		taken = len(s.waiting) == 0
		s.mu.Unlock()
	}
	a, other := s.Write(beginning("a", 1)), s.Write(beginning("b", 2))
	end := s.Write(ended(beginning("a", 1), 3))
	tried(t, a)
	if len(s.waiting) != 2 {
		t.Errorf("%d records wait, want 2", len(s.waiting))
	}
	s.use.Unlock()
	tried(t, first)
	tried(t, other)
	tried(t, end)
	r, ok, err := s.Get(t.Context(), "a")
	if err != nil || !ok || r.Run.End == nil || r.Run.End.ExitCode != 3 || r.Request.Code != "print(1)" || r.Policy == "" {
		t.Errorf("%+v %v", r, err)
	}
	if got := listed(t, s, "/home/me/project", protocol.RunsParams{}); got != "b a busy" {
		t.Errorf("the history has %q", got)
	}
}

func TestARecordComesBack(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	r := beginning("a", 0)
	write(t, s, r)
	for _, step := range []struct {
		record protocol.RunRecord
		write  bool
	}{{r, false}, {ended(r, 3), true}} {
		if step.write {
			write(t, s, step.record)
		}
		want := step.record
		want.Request.Env, want.EnvNames = nil, []string{"TOKEN"}
		for _, from := range []*Store{s, opened(t, dir)} {
			got, ok, err := from.Get(t.Context(), "a")
			if diff := cmp.Diff(want, got); err != nil || !ok || diff != "" {
				t.Fatalf("%v, %v: -want +got\n%s", ok, err, diff)
			}
		}
	}
	if _, ok, err := s.Get(t.Context(), "b"); ok || err != nil {
		t.Errorf("an unknown run: %v, %v", ok, err)
	}
}

// TestNoHistoryIsBegunByReading: who only looks leaves nothing.
func TestNoHistoryIsBegunByReading(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	if got := listed(t, s, "", protocol.RunsParams{}); got != "" {
		t.Error(got)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Error(left)
	}
}

func TestFilters(t *testing.T) {
	s := opened(t, t.TempDir())
	a, b, c, d := beginning("a", 1), beginning("b", 2), beginning("c", 3), beginning("d", 4)
	b.Run.Workspace, b.Run.Client, b.Run.Language = "/elsewhere", "terminal", "bash"
	c = ended(c, 1)
	d = ended(d, 0)
	d.Run.End.Findings = []protocol.Finding{{Path: "/home/me/project/.envrc", Action: protocol.Disarmed}}
	write(t, s, a, ended(a, 0), b, c, d)
	for _, test := range []struct {
		workspace string
		p         protocol.RunsParams
		want      string
	}{
		{"", protocol.RunsParams{}, "d c b a"},
		{"/home/me/project", protocol.RunsParams{}, "d c a"},
		{"", protocol.RunsParams{Limit: 2}, "d c"},
		{"", protocol.RunsParams{Live: true}, "b"},
		{"", protocol.RunsParams{Failed: true}, "c"},
		{"", protocol.RunsParams{Findings: true}, "d"},
		{"", protocol.RunsParams{Client: "Claude"}, "d c a"},
		{"", protocol.RunsParams{Language: "BASH"}, "b"},
		{"", protocol.RunsParams{Since: began.Add(3 * time.Second)}, "d c"},
		{"", protocol.RunsParams{Before: began.Add(3 * time.Second)}, "b a"},
	} {
		if got := listed(t, s, test.workspace, test.p); got != test.want {
			t.Errorf("%q %+v: %s, want %s", test.workspace, test.p, got, test.want)
		}
	}
}

func TestEachGivesAllTheOldestFirst(t *testing.T) {
	s := opened(t, t.TempDir())
	var want, got []string
	for i := range 2*page + 7 {
		r := ended(beginning("r"+string(rune('a'+i%26))+strings.Repeat("x", i/26), i/3), 0) // three at a time
		want = append(want, r.Run.ID)
		s.Write(r)
	}
	write(t, s, ended(beginning("zz", 1000), 0))
	want = append(want, "zz")
	err := s.Each(t.Context(), "", protocol.RunsParams{}, func(r protocol.RunRecord) error {
		if r.Request.Code != "print(1)" || r.Policy == "" {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Run.ID)
		return nil
	})
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); err != nil || diff != "" || got[0][0] != 'r' || got[len(got)-1] != "zz" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// raw is every byte of the history's folder.
func raw(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestWhatIsNotKept looks at the bytes of the database and its log.
func TestWhatIsNotKept(t *testing.T) {
	packs = false
	t.Cleanup(func() { packs = true })
	for keep, left := range map[string]string{Full: "print(1) argument input 1\\n second-word", Metadata: ""} {
		dir := t.TempDir()
		s := opened(t, dir)
		r := ended(beginning("a", 0), 0)
		r.Keep = keep
		r.Allow = &protocol.Allowance{Profile: "agent", Policy: &protocol.Policy{File: "/policy.yaml", Text: "env: {A: hunter2-of-policy}"}}
		command := beginning("b", 1)
		command.Keep, command.Request.Command, command.Run.Command = keep, []string{"first-word", "second-word"}, []string{"first-word", "second-word"}
		write(t, s, beginning("a", 0), r, command)
		if keep == Metadata { // the beginning of a, too
			dir = t.TempDir()
			s = opened(t, dir)
			write(t, s, r, command)
		}
		text := raw(t, filepath.Join(dir, folder))
		for _, want := range append(strings.Fields(left), "claude-code", "TOKEN", "first-word", "/policy.yaml") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not there", keep, want)
			}
		}
		secret := []string{"hunter2"}
		if keep == Metadata {
			secret = append(secret, "print(1)", "argument", "input\"", "second-word", "1\\n")
		}
		for _, no := range secret {
			if strings.Contains(text, no) {
				t.Errorf("%s: %q is there", keep, no)
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	s := opened(b, b.TempDir())
	policy := strings.Repeat("frozen /home/me/project/.git/hooks\n", 60)
	n := 0
	for b.Loop() {
		n++
		r := beginning("", n)
		r.Run.ID, r.Policy = time.Now().Format(time.RFC3339Nano), policy
		tried(b, s.Write(r))
	}
}

func BenchmarkHandOver(b *testing.B) {
	s := opened(b, b.TempDir())
	write(b, s, beginning("first", 0))
	n := 0
	for b.Loop() {
		n++
		r := beginning("x", n)
		s.Write(r)
		if n%100 == 0 {
			b.StopTimer()
			write(b, s, r)
			b.StartTimer()
		}
	}
}

// TestWhatWaitsIsBounded: a database that cannot be written does not fill the memory.
func TestWhatWaitsIsBounded(t *testing.T) {
	large := strings.Repeat("x", maxBytes/4)
	for name, test := range map[string]struct {
		code string
		all  int
		want int
	}{"few": {"", 10, 10}, "many": {"", maxWaiting + 5, maxWaiting}, "large": {large, 10, 4}, "one": {large + large + large + large + large, 1, 1}} {
		s := Open(Options{Dir: t.TempDir()})
		s.working = make(chan struct{}) // as if one were at it
		done := make([]<-chan struct{}, test.all)
		for i := range done {
			r := beginning(strconv.Itoa(i), i)
			r.Request.Code, r.Request.Stdin, r.Policy = test.code, "", ""
			done[i] = s.Write(r)
		}
		if len(s.waiting) != test.want || s.lost != test.all-test.want || s.waiting[len(s.waiting)-1].record.Run.ID != strconv.Itoa(test.all-1) {
			t.Errorf("%s: %d wait, %d were given up", name, len(s.waiting), s.lost)
		}
		for i, d := range done {
			select {
			case <-d:
			default:
				if i < s.lost {
					t.Errorf("%s: the run %d waits for a record that was given up", name, i)
				}
			}
		}
	}
}
