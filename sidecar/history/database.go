package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// version is that of the schema (PRAGMA user_version). A database of a newer one is left alone.
const version = 1

// schema: what lists need is in columns and in run, everything else in record, which a list never reads. Policies and
// code repeat from run to run, so each text is there once, by its hash.
const schema = `
CREATE TABLE runs (
  id TEXT PRIMARY KEY NOT NULL,
  workspace TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER,
  owner TEXT NOT NULL,
  language TEXT NOT NULL,
  failed INTEGER NOT NULL,
  findings INTEGER NOT NULL,
  run TEXT NOT NULL,
  code BLOB,
  policy BLOB,
  record TEXT NOT NULL
);
CREATE INDEX runs_started ON runs (started);
CREATE INDEX runs_workspace ON runs (workspace, started);
CREATE INDEX runs_live ON runs (owner) WHERE ended IS NULL;
CREATE TABLE texts (hash BLOB PRIMARY KEY NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
`

// connect opens the database, made anew where there is none. The caller holds use.
func (s *Store) connect(ctx context.Context) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("the history's folder: %w", err)
	}
	return s.locked(func() error {
		if err := s.found(); err != nil {
			return err
		}
		err := s.establish(ctx)
		if isDamage(err) {
			s.shut()
			if err = s.moveAside(err); err == nil {
				err = s.establish(ctx)
			}
		}
		return err
	})
}

// establish opens what is there, and gives an empty one its tables. Nobody else does so at the same time.
func (s *Store) establish(ctx context.Context) error {
	if err := create(s.path()); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(s.path()))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	s.db = db
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return fmt.Errorf("opening the history %s: %w", s.path(), err)
	}
	switch {
	case have > version:
		return fmt.Errorf("the history %s is that of a newer sidecar (its version is %d, this one knows %d)", s.path(), have, version)
	case have < version:
		if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; %s PRAGMA user_version = %d; COMMIT", schema, version)); err != nil {
			return fmt.Errorf("making the history %s: %w", s.path(), err)
		}
	}
	if err := s.live(); err != nil {
		return err
	}
	s.is, err = os.Lstat(s.path())
	return err
}

// create makes the file before SQLite does, which would let others read it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil // not opened here: closing it would drop the locks that SQLite has on it in this process (fcntl(2))
	}
	if err != nil {
		return fmt.Errorf("making the history: %w", err)
	}
	return f.Close()
}

// dsn names the database and what holds for each connection. A reader never waits for a writer (WAL), a writer for another
// one at most the busy_timeout. A little cache is enough for single rows.
func dsn(path string) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(2000)", "synchronous(NORMAL)", "cache_size(-256)", "journal_size_limit(1048576)"}}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// locked runs f while no other process opens, replaces or tidies. A process that was stopped in there is not waited for.
func (s *Store) locked(f func() error) error {
	lock, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("the history's lock: %w", err)
	}
	defer lock.Close()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f()
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			return fmt.Errorf("locking %s, which another process holds: %w", lock.Name(), err)
		}
	}
}
