package history

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// aged makes a history of a few pages in a folder, and gives its database's path.
func aged(t *testing.T, dir string) string {
	t.Helper()
	s := Open(Options{Dir: dir})
	for i := range 30 {
		r := beginning(fmt.Sprintf("old%d", i), i)
		r.Request.Code = strings.Repeat(fmt.Sprint(i), 2000)
		write(t, s, ended(r, 0))
	}
	s.Close()
	return s.path()
}

// log is a log that a test reads.
type log struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// TestDamage: whatever lies in the database's place, runs are written down, and what was there is set aside and said, unless
// it can be used.
func TestDamage(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(path string) error
		aside  int
		want   string
	}{
		"random bytes":       {func(p string) error { return os.WriteFile(p, random(50_000), 0o600) }, 1, "new"},
		"random from page 2": {func(p string) error { return overwrite(p, 4096, 200_000) }, 1, "new"},
		"a text":             {func(p string) error { return os.WriteFile(p, []byte("no database"), 0o600) }, 1, "new"},
		"cut in half":        {halve, 1, "new"},
		"cut to nothing":     {func(p string) error { return os.Truncate(p, 0) }, 0, "new"},
		"gone":               {os.Remove, 0, "new"},
		"a folder": {func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.MkdirAll(p+"/sub", 0o700)
		}, 1, "new"},
		"a link": {func(p string) error {
			if err := os.Rename(p, p+".elsewhere"); err != nil {
				return err
			}
			return os.Symlink(p+".elsewhere", p)
		}, 1, "new"},
		"read-only": {func(p string) error { return os.Chmod(p, 0o400) }, 0, "new old29"},
		"sound":     {func(string) error { return nil }, 0, "new old29"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := test.damage(aged(t, dir)); err != nil {
				t.Fatal(err)
			}
			said := new(log)
			s := Open(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(said, nil))})
			defer s.Close()
			_, _ = s.List(t.Context(), "", protocol.RunsParams{}) // that of a damaged page is an error, or sets it aside
			write(t, s, beginning("new", 1000))
			if got := listed(t, s, "", protocol.RunsParams{Limit: 2}); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if n := len(s.Damaged()); n != test.aside || strings.Contains(said.String(), "is set aside") != (n > 0) {
				t.Errorf("set aside: %v, said: %s", s.Damaged(), said)
			}
			sound(t, s)
		})
	}
}

// overwrite writes random bytes into a file.
func overwrite(path string, from int64, n int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(random(n), from)
	return err
}

func halve(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}

// TestDamageWhileItIsOpen: a process that had the database open when another one set it aside writes to the new one.
func TestDamageWhileItIsOpen(t *testing.T) {
	dir := t.TempDir()
	path := aged(t, dir)
	first, second := opened(t, dir), opened(t, dir)
	write(t, first, beginning("a", 100))
	if err := second.setAside(fmt.Errorf("for a test")); err != nil {
		t.Fatal(err)
	}
	write(t, second, beginning("b", 101))
	write(t, first, beginning("c", 102))
	if got := listed(t, second, "", protocol.RunsParams{}); got != "c b" {
		t.Error(got)
	}
	if _, err := os.Lstat(path); err != nil || len(first.Damaged()) != 1 {
		t.Errorf("%v, set aside %v", err, first.Damaged())
	}
}

// TestOneSetsAside: of many that find it damaged at once, one sets it aside, and all write to the new one.
func TestOneSetsAside(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(aged(t, dir), random(50_000), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 6 {
		s := opened(t, dir)
		all.Go(func() { write(t, s, beginning(fmt.Sprint(i), i)) })
	}
	all.Wait()
	s := opened(t, dir)
	if got := listed(t, s, "", protocol.RunsParams{}); len(s.Damaged()) != 1 || got != "5 4 3 2 1 0" {
		t.Errorf("%s, set aside %v", got, s.Damaged())
	}
}

// TestNewerVersion: a database of a newer sidecar is not touched.
func TestNewerVersion(t *testing.T) {
	dir := t.TempDir()
	aged(t, dir)
	s := opened(t, dir)
	if err := s.with(t.Context(), func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = opened(t, dir)
	tried(t, s.Write(beginning("new", 1000)))
	if _, err := s.List(t.Context(), "", protocol.RunsParams{}); err == nil || !strings.Contains(err.Error(), "newer sidecar") || len(s.Damaged()) > 0 {
		t.Errorf("%v, set aside %v", err, s.Damaged())
	}
}
