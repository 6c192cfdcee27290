package history

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"time"
)

// Keeping bounds what is kept.
type Keeping struct {
	// Age is how long a run is remembered after it started, Size how large the database may be, in bytes.
	Age  time.Duration
	Size int64
}

// step is how many runs are forgotten in one transaction: others want to write, too.
const step = 200

// few is how many are forgotten before the size is looked at again: each may be large.
const few = 20

// Tidy forgets runs that are too old, and then the oldest while the database is too large. Runs that go on stay.
func (s *Store) Tidy(ctx context.Context, k Keeping, now time.Time) error {
	if !s.exists() {
		return nil
	}
	s.clear(k, now)
	for {
		gone, err := s.forget(ctx, step, "started < ?", now.Add(-k.Age).UnixMicro())
		if err != nil {
			return err
		}
		if gone < step {
			break
		}
	}
	for {
		size, err := s.size(ctx)
		if err != nil || size <= k.Size {
			return err
		}
		if gone, err := s.forget(ctx, few, "1"); err != nil || gone == 0 {
			return err
		}
	}
}

func (s *Store) exists() bool {
	_, err := os.Lstat(s.path())
	return err == nil
}

// forget removes the oldest runs that meet a condition, and the texts that only they had.
func (s *Store) forget(ctx context.Context, most int, condition string, args ...any) (gone int64, err error) {
	err = s.with(ctx, func(ctx context.Context, db *sql.DB) error {
		if err := s.mark(ctx, db); err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		done, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE rowid IN (SELECT rowid FROM runs WHERE ended IS NOT NULL AND "+condition+" ORDER BY started LIMIT ?)", append(args, most)...)
		if err != nil {
			return err
		}
		if gone, err = done.RowsAffected(); err != nil || gone == 0 {
			return err
		}
		if _, err = tx.ExecContext(ctx, "DELETE FROM texts WHERE hash NOT IN (SELECT code FROM runs WHERE code IS NOT NULL UNION ALL SELECT policy FROM runs WHERE policy IS NOT NULL)"); err != nil {
			return err
		}
		return tx.Commit()
	})
	return gone, err
}

// size is that of the database after what was freed in it is given back.
func (s *Store) size(ctx context.Context) (bytes int64, err error) {
	err = s.with(ctx, func(ctx context.Context, db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "PRAGMA incremental_vacuum"); err != nil {
			return err
		}
		var pages, each int64
		if err := db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
			return err
		}
		err = db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&each)
		bytes = pages * each
		return err
	})
	return bytes, err
}

// clear removes what was set aside long ago, and the files of processes that are gone.
func (s *Store) clear(k Keeping, now time.Time) {
	old, _ := filepath.Glob(s.path() + damaged + "*")
	for _, name := range old {
		if info, err := os.Lstat(name); err == nil && now.Sub(info.ModTime()) > k.Age {
			_ = os.RemoveAll(name)
		}
	}
	s.use.Lock()
	defer s.use.Unlock()
	_ = s.locked(func() error {
		entries, err := os.ReadDir(s.livingDir())
		for _, e := range entries {
			if e.Name() != s.owner {
				s.isDead(e.Name())
			}
		}
		return err
	})
}
