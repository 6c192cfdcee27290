package nix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockEvery is how often a lock that another process holds is tried again.
const lockEvery = 50 * time.Millisecond

// errLocked says that another process holds a lock.
var errLocked = errors.New("locked by another process")

// lock takes the lock of a key among processes, for as long as it takes; waiting is called once if another
// process has it. unlock removes the file while it is held, so that none are left over.
func (s *Store) lock(ctx context.Context, key string, waiting func()) (unlock func(), err error) {
	for {
		unlock, err := s.tryLock(key)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock takes the lock if it is free.
func (s *Store) tryLock(key string) (unlock func(), err error) {
	name := filepath.Join(s.options.Dir, "locks", key)
	for {
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, fmt.Errorf("locking an environment: %w", err)
		}
		if err := flock(file); err != nil {
			_ = file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, errLocked
			}
			return nil, fmt.Errorf("locking %q: %w", name, err)
		}
		// Who held it last may have removed the file between our open and our lock.
		if held, err := file.Stat(); err == nil {
			if now, err := os.Lstat(name); err == nil && os.SameFile(held, now) {
				return func() { _ = os.Remove(name); _ = file.Close() }, nil
			}
		}
		_ = file.Close()
	}
}

// flock retries when a signal interrupts it, as Go's runtime sends many.
func flock(file *os.File) error {
	for {
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
