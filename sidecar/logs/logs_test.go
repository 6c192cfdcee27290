package logs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar/logs"
)

const small = 2 << 10

func open(t *testing.T, o logs.Options) *logs.Log {
	t.Helper()
	if o.Path == "" {
		o.Path = logs.Path(t.TempDir(), "one")
	}
	if o.Size == 0 {
		o.Size = small
	}
	o.About = []any{"workspace", "/home/me/project"}
	l, err := logs.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// read is all that is in a log.
func read(t *testing.T, path string, q logs.Query) (all []logs.Entry) {
	t.Helper()
	if err := logs.Print(t.Context(), func() []string { return []string{path} }, q, func(e logs.Entry) error {
		all = append(all, e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// numbers are the values of n, in order.
func numbers(all []logs.Entry) (out []string) {
	for _, e := range all {
		if n := e.Get("n"); n != "" {
			out = append(out, n)
		}
	}
	return out
}

func counted(from, to int) (out []string) {
	for n := from; n < to; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

// Whatever a record holds, it is one line without control characters, and is read back as it was.
func TestALineIsALine(t *testing.T) {
	evil := "a\nlevel=ERROR msg=forged\r\x1b[2J\x00\x7f\u0085\u009b31m\u2028\u202e\ufeff\"= \\é"
	for _, asJSON := range []bool{false, true} {
		path := logs.Path(t.TempDir(), "one")
		l := open(t, logs.Options{Path: path, JSON: asJSON, Size: 64 << 10, Files: 2})
		l.Logger(slog.LevelInfo).Info("run ended", "plain", "x", evil, evil, "err", errors.New(evil), "n", 7, "took", time.Second, "none", "")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n != 2 || bytes.ContainsAny(text, "\r\x1b\x00\x7f\u0085\u009b\u2028\u202e\ufeff") {
			t.Errorf("json %v: %d lines: %q", asJSON, n, text)
		}
		all := read(t, path, logs.Query{})
		want := []logs.Value{{"plain", "x"}, {evil, evil}, {"err", evil}, {"n", "7"}, {"took", "1s"}, {"none", ""}}
		if asJSON {
			want[4].Value = "1000000000"
		}
		got := all[len(all)-1]
		if diff := cmp.Diff(want, got.Values); diff != "" || got.Message != "run ended" || got.Level != slog.LevelInfo || got.Workspace != "/home/me/project" {
			t.Errorf("json %v: %+v %s", asJSON, got, diff)
		}
		for _, line := range []string{got.Text(true, time.Now()), mustJSON(t, got)} {
			if strings.ContainsAny(line, "\n\r\x1b\x00\x7f\u0085\u009b\u2028\u202e\ufeff") {
				t.Errorf("shown as %q", line)
			}
		}
	}
}

func mustJSON(t *testing.T, e logs.Entry) string {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(b, &back); err != nil || back["msg"] != e.Message {
		t.Errorf("%v: %s", err, b)
	}
	return string(b)
}

// A log is bounded in size and number, and what is there is in order, whoever of several processes wrote it.
func TestRotation(t *testing.T) {
	for _, files := range []int{1, 2, 4} {
		path := logs.Path(t.TempDir(), "one")
		a, b := open(t, logs.Options{Path: path, Files: files}), open(t, logs.Options{Path: path, Files: files})
		for n := range 200 {
			[]*logs.Log{a, b}[n%2].Logger(slog.LevelInfo).Info("a line of some length", "n", n)
		}
		there := logs.Files(path)
		if len(there) != files {
			t.Errorf("%d files: %v", files, there)
		}
		for _, name := range there {
			info, err := os.Stat(name)
			if err != nil || info.Size() > small || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, info, err)
			}
		}
		have := numbers(read(t, path, logs.Query{}))
		if want := counted(200-len(have), 200); !slices.Equal(have, want) || len(have) < 10*files {
			t.Errorf("%d files: got %v", files, have)
		}
		for _, e := range read(t, path, logs.Query{}) {
			if e.Workspace != "/home/me/project" {
				t.Errorf("%d files: whose is %+v?", files, e)
			}
		}
	}
}

// With fewer files allowed than there are, those that are too many go.
func TestFewerFilesThanBefore(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	write := func(files int) {
		l := open(t, logs.Options{Path: path, Files: files})
		for n := range 200 {
			l.Logger(slog.LevelInfo).Info("a line of some length", "n", n)
		}
	}
	write(6)
	write(2)
	if there := logs.Files(path); len(there) != 2 {
		t.Errorf("there are %v", there)
	}
}

// A log that somebody removed is begun anew; one that cannot be written loses lines, and says so when it can again.
func TestAFolderThatGoes(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	l := open(t, logs.Options{Path: path, Files: 2})
	log := l.Logger(slog.LevelInfo)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	log.Info("x", "n", 1)
	if got := numbers(read(t, path, logs.Query{})); !slices.Equal(got, []string{"1"}) {
		t.Errorf("got %v", got)
	}
	if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	log.Info("x", "n", 2)
	log.Info("x", "n", 3)
	if err := os.Remove(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	log.Info("x", "n", 4)
	all := read(t, path, logs.Query{})
	if got := numbers(all); !slices.Equal(got, []string{"4"}) || !slices.ContainsFunc(all, func(e logs.Entry) bool { return e.Get("lost") == "2" }) {
		t.Errorf("got %+v", all)
	}
}

// Who is not ours is not written to: a link, or something else in the file's place.
func TestALinkInItsPlace(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	target := filepath.Join(t.TempDir(), "target")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	l, err := logs.Open(logs.Options{Path: path, Size: small})
	if err == nil {
		t.Error("it was opened")
	}
	l.Logger(slog.LevelInfo).Info("x")
	if _, err := os.Stat(target); err == nil {
		t.Error("it was written through")
	}
}

// Logs that nobody has written to for long go, and nothing else.
func TestTidy(t *testing.T) {
	state := t.TempDir()
	old, young, other := logs.Path(state, "old"), logs.Path(state, "young"), filepath.Join(logs.Dir(state), "other")
	for _, path := range []string{old, old + ".1", young, other} {
		if err := errors.Join(os.MkdirAll(logs.Dir(state), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if path != young {
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	logs.Tidy(state, time.Now().Add(-time.Minute))
	left, _ := filepath.Glob(filepath.Join(logs.Dir(state), "*"))
	if diff := cmp.Diff([]string{other, young}, left); diff != "" {
		t.Error(diff)
	}
}

// Each logger has its level, and listeners theirs, whatever is written.
func TestLevels(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	l := open(t, logs.Options{Path: path, Size: 64 << 10, Files: 1})
	var heard []string
	stop := l.Listen(slog.LevelDebug, func(got logs.Told) { heard = append(heard, got.Level.String()+" "+got.Text) })
	info, debug, off := l.Logger(slog.LevelInfo).With("by", "info"), l.Logger(slog.LevelDebug).With("by", "debug"), l.Logger(logs.Off)
	info.Debug("a")
	debug.Debug("b", "x", "1 2")
	off.Error("c")
	l.Silent(slog.LevelInfo).Warn("d")
	stop()
	info.Info("e")
	if info.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("nobody wants it")
	}
	var written []string
	for _, e := range read(t, path, logs.Query{Level: slog.LevelDebug})[1:] {
		written = append(written, e.Message)
	}
	if diff := cmp.Diff([]string{"b", "d", "e"}, written); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"DEBUG a by=info", `DEBUG b by=debug x="1 2"`, "ERROR c"}, heard); diff != "" {
		t.Error(diff)
	}
}

// What is wanted of a log: from a level on, since a time. What the runtime printed at a crash is as late as the line before it,
// and an error.
func TestQueries(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `time=2026-11-30T07:00:00.000Z level=INFO msg=one
time=2026-11-30T08:00:00.000Z level=DEBUG msg=two
{"time":"2026-11-30T09:00:00Z","level":"WARN","msg":"three","n":1}
panic: what
	goroutine 1 [running]:
time=2026-11-30T10:00:00.000Z level=INFO msg=four`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(hour int) time.Time { return time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		q    logs.Query
		want string
	}{
		{logs.Query{Level: slog.LevelDebug}, "one|two|three|panic: what|	goroutine 1 [running]:|four"},
		{logs.Query{Level: slog.LevelInfo}, "one|three|panic: what|	goroutine 1 [running]:|four"},
		{logs.Query{Level: slog.LevelError}, "panic: what|	goroutine 1 [running]:"},
		{logs.Query{Since: at(9), Level: slog.LevelDebug}, "three|panic: what|	goroutine 1 [running]:|four"},
		{logs.Query{Since: at(10), Level: slog.LevelDebug}, "four"},
	} {
		var got []string
		for _, e := range read(t, path, c.q) {
			got = append(got, e.Message)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%+v: got %q", c.q, got)
		}
	}
}

// Following misses nothing and repeats nothing while the log is rotated under it, and ends when it is told to.
func TestFollowing(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	var mu sync.Mutex
	var got []logs.Entry
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- logs.Print(ctx, func() []string { return logs.There(path) }, logs.Query{Follow: true, Level: slog.LevelDebug}, func(e logs.Entry) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, e)
			return nil
		})
	}()
	seen := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return numbers(got)
	}
	l := open(t, logs.Options{Path: path, Files: 50})
	for n := range 300 { // rotated a dozen times; the reader is let come along now and then
		if l.Logger(slog.LevelInfo).Info("a line of some length", "n", n); n%100 == 0 {
			await(t, func() bool { return len(seen()) == n+1 })
		}
	}
	await(t, func() bool { return len(seen()) >= 300 })
	stop()
	if err := <-ended; err != nil || !slices.Equal(seen(), counted(0, 300)) {
		t.Errorf("%v: got %v", err, seen())
	}
}

// One that comes late misses what is gone, and nothing else: it reads what it had open to its end, and then what there is.
func TestFollowingTooLate(t *testing.T) {
	path := logs.Path(t.TempDir(), "one")
	l := open(t, logs.Options{Path: path, Files: 3})
	var got []logs.Entry
	paths := func() []string { return []string{path} }
	stopped := errors.New("enough")
	err := logs.Print(t.Context(), paths, logs.Query{Follow: true}, func(e logs.Entry) error {
		if got = append(got, e); len(got) == 1 { // while it waits here all that it has open is rotated away
			for n := range 300 {
				l.Logger(slog.LevelInfo).Info("a line of some length", "n", n)
			}
		}
		if e.Get("n") == "299" {
			return stopped
		}
		return nil
	})
	have := numbers(got)
	gaps := 0
	for i := range have[1:] {
		before, _ := strconv.Atoi(have[i])
		next, _ := strconv.Atoi(have[i+1])
		if next != before+1 {
			gaps++
		}
		if next <= before {
			t.Errorf("%d after %d", next, before)
		}
	}
	if err != stopped || gaps != 1 || have[0] != "0" {
		t.Errorf("%v: %d gaps in %v", err, gaps, have)
	}
}

func await(t *testing.T, what func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !what(); {
		if time.Now().After(until) {
			t.Fatal("it never came")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
