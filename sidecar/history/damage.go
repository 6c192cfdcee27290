package history

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// damaged is in the name of what was set aside, before the time of that.
const damaged = ".damaged-"

// isDamage says that a database is none, or is broken.
func isDamage(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the primary of extended codes
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}

// found sees to what lies in the database's place: what is no file is set aside, and one that its owner, who we are, cannot
// write is made writable again. Where neither can be, opening it will say why.
func (s *Store) found() error {
	info, err := os.Lstat(s.path())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("the history: %w", err)
	case !info.Mode().IsRegular():
		return s.moveAside(fmt.Errorf("%s is no file (%s)", s.path(), info.Mode().Type()))
	case info.Mode().Perm() != 0o600:
		_ = os.Chmod(s.path(), 0o600)
	}
	return nil
}

// setAside moves a damaged database away, unless another process did so meanwhile. The caller holds use.
func (s *Store) setAside(why error) error {
	was := s.is
	s.shut()
	return s.locked(func() error {
		if is, err := os.Lstat(s.path()); err != nil || was != nil && !os.SameFile(is, was) {
			return nil
		}
		return s.moveAside(why)
	})
}

// moveAside renames the database and what belongs to it. The caller has the lock.
func (s *Store) moveAside(why error) error {
	to := s.path() + damaged + time.Now().UTC().Format("20060102-150405.000000")
	for _, part := range []string{"-wal", "-shm", ""} { // what is left of a new database with an old log, SQLite would read
		if err := os.Rename(s.path()+part, to+part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the history is damaged (%w), and cannot be set aside: %w", why, err)
		}
	}
	s.log.Warn("the history was damaged and is set aside; a new one is begun", "aside", to, "err", why)
	return nil
}

// Damaged are the files that were set aside since they were damaged, the oldest first.
func (s *Store) Damaged() []string {
	all, _ := filepath.Glob(s.path() + damaged + "*")
	all = slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains([]string{"-wal", "-shm"}, name[max(0, len(name)-4):])
	})
	slices.SortFunc(all, cmp.Compare)
	return all
}
