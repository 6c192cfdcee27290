package history

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sidecar/protocol"
)

// A process that writes runs holds a lock on a file of its own as long as it lives: the kernel lets go of it however the
// process ends, no number of a process can be mistaken for another's, and it holds across containers that share the folder.

func (s *Store) livingDir() string { return filepath.Join(s.dir, "living") }

// live makes this process's file. The caller has the lock, or another process might take the file for a dead one's before
// it is locked.
func (s *Store) live() error {
	if s.living != nil {
		return nil
	}
	if err := os.MkdirAll(s.livingDir(), 0o700); err != nil {
		return fmt.Errorf("the history's folder: %w", err)
	}
	owner := fmt.Sprintf("%d-%s", os.Getpid(), rand.Text())
	f, err := os.OpenFile(filepath.Join(s.livingDir(), owner), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return fmt.Errorf("saying that this process lives: %w", err)
	}
	s.living, s.owner = f, owner
	return nil
}

// leave says that this process writes no more.
func (s *Store) leave() {
	if s.living != nil {
		_ = os.Remove(s.living.Name())
		_ = s.living.Close()
		s.living = nil
	}
}

// isDead says whether the process of a file is gone; the file is then removed.
func (s *Store) isDead(owner string) bool {
	name := filepath.Join(s.livingDir(), filepath.Base(owner))
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	_ = os.Remove(name)
	return true
}

// mark gives the runs of dead processes an end.
func (s *Store) mark(ctx context.Context, db *sql.DB) error {
	owners, err := column[string](db.QueryContext(ctx, "SELECT DISTINCT owner FROM runs WHERE ended IS NULL"))
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner == s.owner || !s.isDead(owner) {
			continue
		}
		if err := markOf(ctx, db, owner, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// markOf marks the runs of one of them.
func markOf(ctx context.Context, db *sql.DB, owner string, now time.Time) error {
	runs, err := column[packed](db.QueryContext(ctx, "SELECT run FROM runs WHERE ended IS NULL AND owner = ?", owner))
	if err != nil {
		return err
	}
	for _, text := range runs {
		var r protocol.Run
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return fmt.Errorf("the history has a run that cannot be read: %w", err)
		}
		r.End = &protocol.RunEnd{Time: now, ExitCode: -1, Lost: true, Error: &protocol.Error{Kind: protocol.Gone, Message: "its sidecar died while it went on", Hint: "the sandbox ended with it; how far the run came is not known"}}
		if _, err := db.ExecContext(ctx, "UPDATE runs SET run = ?, ended = ?, failed = 1 WHERE id = ? AND ended IS NULL", encode(r), now.UnixMicro(), r.ID); err != nil {
			return err
		}
	}
	return nil
}

// column are the values of a query of one column.
func column[T any](rows *sql.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}
