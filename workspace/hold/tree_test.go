//go:build unix

package hold

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// moves are what becomes of a tree while a run lasts, as seen from its old path.
var moves = map[string]func(repo, aside string) error{
	"renamed":            os.Rename,
	"replaced by a link": func(repo, aside string) error { return errors.Join(os.Rename(repo, aside), os.Symlink(aside, repo)) },
	"replaced by a tree": func(repo, aside string) error {
		return errors.Join(os.Rename(repo, aside), os.Mkdir(repo, 0o755), os.WriteFile(repo+"/commondir", []byte(".\n"), 0o644))
	},
}

// TestReleaseFindsATreeThatMoved: what was made is taken away where it is now, and what is in its old place stays.
func TestReleaseFindsATreeThatMoved(t *testing.T) {
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			l, repo := ledgerAndRepo(t)
			lease, err := l.Acquire("r1", repo, ofEveryKind(repo))
			if err == nil {
				err = move(repo, repo+".aside")
			}
			if err != nil {
				t.Fatal(err)
			}
			release(t, lease)
			wantListing(t, repo+".aside", "")
			wantListing(t, l.dir, "lock\n")
			if _, err := os.Stat(repo + "/commondir"); name == "replaced by a tree" && err != nil {
				t.Error("what is in its old place:", err)
			}
		})
	}
}

// TestSweepWaitsForATreeThatIsAway: a dead run's placeholders are taken away when their tree is back in its place; nobody
// waits for it longer than a month.
func TestSweepWaitsForATreeThatIsAway(t *testing.T) {
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			l, repo := ledgerAndRepo(t)
			lease, err := l.Acquire("dead", repo, ofEveryKind(repo))
			if err != nil {
				t.Fatal(err)
			}
			lease.record.file.Close() // its process dies
			if err := move(repo, repo+".aside"); err != nil {
				t.Fatal(err)
			}
			sweep(t, l)
			wantListing(t, l.dir, "dead.run\nlock\n")
			old := time.Now().Add(-2 * longestAway)
			if err := errors.Join(os.RemoveAll(repo), os.Rename(repo+".aside", repo)); err != nil {
				t.Fatal(err)
			}
			sweep(t, l)
			wantListing(t, repo, "")
			wantListing(t, l.dir, "lock\n")
			dead(t, l, held{Path: repo + "/x"})
			if err := errors.Join(os.WriteFile(l.dir+"/dead.run", []byte(`{"root":"/nowhere","inode":1}`), 0o600), os.Chtimes(l.dir+"/dead.run", old, old)); err != nil {
				t.Fatal(err)
			}
			sweep(t, l)
			wantListing(t, l.dir, "lock\n")
		})
	}
}

// TestALockThatIsNotGivenBack: a process that was stopped with the lock is named, and keeps nobody for ever.
func TestALockThatIsNotGivenBack(t *testing.T) {
	defer func(was time.Duration) { patience = was }(patience)
	patience = 50 * time.Millisecond
	l, repo := ledgerAndRepo(t)
	release(t, acquire(t, l, "first", commondirs(repo+"/commondir")...))
	lock, err := os.Open(l.dir + "/lock")
	if err == nil {
		err = flock(lock, unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Acquire("r1", repo, commondirs(repo+"/commondir"))
	var at *LedgerError
	if !errors.As(err, &at) || !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("got %v", err)
	}
	lock.Close()
	release(t, acquire(t, l, "r2", commondirs(repo+"/commondir")...))
}
