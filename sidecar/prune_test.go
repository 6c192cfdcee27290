package sidecar

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"golang.org/x/sys/unix"
)

// little is what may be kept in tests.
var little = keeping{age: 7 * 24 * time.Hour, grace: time.Hour, total: 500}

// put makes an output of 100 bytes that was last written to some time ago.
func put(t *testing.T, path string, age time.Duration) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	setAge(t, path, age)
}

// setAge does not follow links.
func setAge(t *testing.T, path string, age time.Duration) {
	t.Helper()
	tv := unix.NsecToTimeval(time.Now().Add(-age).UnixNano())
	if err := unix.Lutimes(path, []unix.Timeval{tv, tv}); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func pruned(t *testing.T, dir string) {
	t.Helper()
	if err := prune(t.Context(), dir, little, time.Now()); err != nil {
		t.Error(err)
	}
}

func TestPruneKeepsWhatItShould(t *testing.T) {
	hours := func(h ...int) []int { return h }
	for name, c := range map[string]struct {
		ages []int
		want string
	}{
		"few and young":                 {hours(30, 2, 5), "2 30 5"},
		"old":                           {hours(1, 167, 169, 1000), "1 167"},
		"many: the oldest":              {hours(8, 2, 7, 3, 6, 4, 5), "2 3 4 5 6"},
		"many, of which old":            {hours(2, 3, 4, 5, 6, 200), "2 3 4 5 6"},
		"many and just written":         {hours(0, 0, 0, 0, 0, 0, 0, 0, 2), "0 0 0 0 0 0 0 0"},
		"nothing":                       {nil, ""},
		"a clock that was set back":     {hours(-3, -2), "-2 -3"},
		"many and some just written":    {hours(0, 0, 0, 0, 3, 2, 4), "0 0 0 0 2"},
		"exactly as much as is allowed": {hours(2, 3, 4, 5, 6), "2 3 4 5 6"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, age := range c.ages {
				put(t, fmt.Sprintf("%s/%d_%d.%s", dir, age, i, []string{"stdout", "stderr"}[i%2]), time.Duration(age)*time.Hour+time.Minute)
			}
			pruned(t, dir)
			var left []string
			for _, name := range strings.Fields(names(t, dir)) {
				age, _, _ := strings.Cut(name, "_")
				left = append(left, age)
			}
			slices.Sort(left)
			if got := strings.Join(left, " "); got != c.want {
				t.Errorf("left are %q, want %q", got, c.want)
			}
		})
	}
}

// TestPruneLeavesRunsThatGoOn, whoever does them: a lock belongs to the open file, so this one is as good as another process's.
func TestPruneLeavesRunsThatGoOn(t *testing.T) {
	dir := t.TempDir()
	f, err := createOutput(dir + "/run.stdout")
	if err != nil {
		t.Fatal(err)
	}
	setAge(t, f.Name(), 1000*time.Hour)
	put(t, dir+"/ended.stdout", 1000*time.Hour)
	pruned(t, dir)
	if got := names(t, dir); got != "run.stdout" {
		t.Errorf("left are %q while the run goes on", got)
	}
	f.Close()
	pruned(t, dir)
	if got := names(t, dir); got != "" {
		t.Errorf("left are %q after the run", got)
	}
}

// TestARunsOutputIsLockedToItsEnd, also of a run that fails.
func TestARunsOutputIsLockedToItsEnd(t *testing.T) {
	e := New(Options{StateDir: t.TempDir()})
	defer e.Close()
	out := (&prepared{id: "r"}).captures(e, true)
	_, _ = out.stdout.Write(make([]byte, filedOutput+1))
	path := out.live(protocol.Stdout).File
	setAge(t, path, 1000*time.Hour)
	pruned(t, filepath.Dir(path))
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the output of a run that goes on is removed:", err)
	}
	out.close()
	out.close()
	if r := out.stdout.output(); r.File != path || strings.Contains(r.Text, "could not") {
		t.Errorf("after the end: %q, %q", r.File, r.Text)
	}
	pruned(t, filepath.Dir(path))
	if _, err := os.Stat(path); err == nil {
		t.Error("the output of an ended run is kept for ever")
	}
}

// TestPruneTouchesOutputsOnly: no links, no other files, nothing below or outside.
func TestPruneTouchesOutputsOnly(t *testing.T) {
	base := t.TempDir()
	dir, outside := base+"/output", base+"/outside"
	os.MkdirAll(dir+"/folder.stdout", 0o700)
	os.Mkdir(outside, 0o700)
	old := 1000 * time.Hour
	put(t, outside+"/a.stdout", old)
	put(t, dir+"/folder.stdout/b.stdout", old)
	put(t, dir+"/notes.txt", old)
	put(t, dir+"/stdout", old)
	os.Symlink(outside+"/a.stdout", dir+"/link.stdout")
	os.Symlink(outside, dir+"/tree.stdout")
	unix.Mkfifo(dir+"/pipe.stdout", 0o600)
	for _, name := range []string{"folder.stdout", "link.stdout", "tree.stdout", "pipe.stdout"} {
		setAge(t, dir+"/"+name, old)
	}
	put(t, dir+"/gone.stdout", old)
	pruned(t, dir)
	if got, want := names(t, dir), "folder.stdout link.stdout notes.txt pipe.stdout stdout tree.stdout"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
	os.Symlink(outside, base+"/linked")
	if err := prune(t.Context(), base+"/linked", little, time.Now()); err == nil {
		t.Error("the folder was a link, and is followed")
	}
	for _, path := range []string{outside + "/a.stdout", dir + "/folder.stdout/b.stdout"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	pruned(t, base+"/missing")
}

// TestPruneIsLeftToWhoIsAtIt: two at once would remove more than is too much.
func TestPruneIsLeftToWhoIsAtIt(t *testing.T) {
	dir := t.TempDir()
	put(t, dir+"/old.stdout", 1000*time.Hour)
	other, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	unix.Flock(int(other.Fd()), unix.LOCK_EX)
	pruned(t, dir)
	if got := names(t, dir); got != "old.stdout" {
		t.Errorf("left are %q", got)
	}
	other.Close()
	pruned(t, dir)
	if got := names(t, dir); got != "" {
		t.Errorf("left are %q when the other has ended", got)
	}
}

func TestManyPruneAtOnce(t *testing.T) {
	dir := t.TempDir()
	for i := range 200 {
		put(t, fmt.Sprintf("%s/%03d.stdout", dir, i), time.Duration(100+i)*time.Minute)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { pruned(t, dir) })
	}
	wg.Wait()
	if got, want := names(t, dir), "000.stdout 001.stdout 002.stdout 003.stdout 004.stdout"; got != want {
		t.Errorf("left are %q, want %q", got, want)
	}
}

func TestAnEngineTidiesAtFirstAndThenOnceAnHour(t *testing.T) {
	e := New(Options{StateDir: t.TempDir()})
	defer e.Close()
	dir, err := e.outputDir()
	if err != nil {
		t.Fatal(err)
	}
	left := func() string {
		put(t, dir+"/old.stdout", 1000*time.Hour)
		_, err := e.For(e.settings, e.getenv, e.home).Run(t.Context(), dir+"/missing", "", protocol.RunParams{Language: "bash", Code: ":"}, nil)
		if err == nil {
			t.Error("a run in a folder that is missing: the test shows nothing")
		}
		e.background.Wait()
		return names(t, dir)
	}
	if got := left(); got != "" {
		t.Errorf("at first: left are %q", got)
	}
	if got := left(); got != "old.stdout" {
		t.Errorf("at once again: left are %q", got)
	}
	e.tidied = time.Now().Add(-pruneEvery)
	if got := left(); got != "" {
		t.Errorf("an hour later: left are %q", got)
	}
}
