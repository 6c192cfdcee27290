// Package history keeps what ran in a database, so that it outlives the sidecar that did it.
//
//	h := history.Open(history.Options{Dir: state})
//	written := h.Write(record) // before the run starts; record.Run.End is nil
//	…
//	h.Write(record)            // after it has ended
//	runs, err := h.List(ctx, root, protocol.RunsParams{Failed: true})
//
// One SQLite database serves all sidecars of a user. Write never waits and never fails: a goroutine writes what is
// handed over, in short transactions, and tries again what could not be written. The database is opened when it is first
// needed and closed when it has not been needed for a while, so that a sidecar without runs pays nothing for it.
//
// What it does not do: a machine that loses its power may forget the last moments (synchronous=NORMAL), and a process
// that is killed between Write and the goroutine, a few hundred microseconds, leaves no trace of that record (nor, of a
// session's call that had not ended, in its first ten milliseconds: the engine hands those over late). Values of
// environment variables are never kept, but what a program printed, its code and its arguments are, secret or not,
// unless they are left out (Options of the caller: history.keep).
package history

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// Options are what a Store is made of.
type Options struct {
	// Dir is the state folder; the database is in its folder "history".
	Dir string
	Log *slog.Logger
}

const (
	// folder is the database's in the state folder, file its name.
	folder = "history"
	file   = "runs.db"
	// idle is how long an unused database stays open.
	idle = time.Minute
	// retry is when what could not be written is tried again, if no other run comes before.
	retry = 30 * time.Second
	// maxWaiting is how many records wait for a database that cannot be written, maxBytes how large they are, about; the
	// oldest are given up.
	maxWaiting = 1000
	maxBytes   = 16 << 20
	// patience is how long Close waits for what is still to be written, and any process for the lock of another.
	patience = 3 * time.Second
)

// Store is the history of one user. It is safe for many callers and many processes at once.
type Store struct {
	dir string
	log *slog.Logger

	mu      sync.Mutex
	waiting []item
	working chan struct{} // closed when the goroutine that writes has nothing left; nil is none
	again   *time.Timer
	closed  bool
	said    string // the trouble that was last told of
	lost    int    // how many records were given up

	use    sync.Mutex // held while the database is used
	db     *sql.DB
	is     os.FileInfo // the file that db has open
	write  statements
	policy lastPacked
	close  *time.Timer
	living *os.File
	owner  string
}

// item is a record that waits to be written; done is closed when that was tried.
type item struct {
	record protocol.RunRecord
	done   chan struct{}
}

// Open makes a Store. It touches nothing yet.
func Open(o Options) *Store {
	s := &Store{dir: filepath.Join(o.Dir, folder), log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Write hands a record over: of a run that is about to start (its End is nil), or one that has ended, which takes the place
// of the former. It returns at once; the channel is closed when the record is written, or could not be.
func (s *Store) Write(r protocol.RunRecord) (tried <-chan struct{}) {
	it := item{record: r, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(it.done)
		return it.done
	}
	s.add(it)
	s.bound()
	s.begin()
	return it.done
}

// add puts a record behind those that wait, or in the place of one of the same run. The caller holds mu.
func (s *Store) add(it item) {
	for i := range s.waiting {
		old := &s.waiting[i]
		if old.record.Run.ID != it.record.Run.ID {
			continue
		}
		if old.done != nil {
			close(old.done)
		}
		*old = it
		return
	}
	s.waiting = append(s.waiting, it)
}

// begin sees to it that somebody writes. The caller holds mu.
func (s *Store) begin() {
	if s.working == nil && len(s.waiting) > 0 {
		s.working = make(chan struct{})
		go s.work()
	}
}

// work writes until nothing waits, or the database is in the way.
func (s *Store) work() {
	for batch := s.next(nil, nil); batch != nil; {
		batch = s.next(batch, s.writeAll(batch))
	}
}

// next settles a batch that was tried, and gives the next one; nil ends the goroutine's work.
func (s *Store) next(batch []item, err error) []item {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(err, len(batch))
	for i, it := range batch {
		if it.done != nil {
			close(it.done)
			batch[i].done = nil
		}
	}
	if err != nil {
		s.keep(batch)
	}
	if err != nil || len(s.waiting) == 0 {
		close(s.working)
		s.working = nil
		return nil
	}
	batch, s.waiting = s.waiting, nil
	return batch
}

// keep puts back what could not be written, to be tried again with the next record or after a while. The caller holds mu.
func (s *Store) keep(batch []item) {
	s.waiting = append(batch, s.waiting...)
	s.bound()
	if s.closed {
		return
	}
	if s.again == nil {
		s.again = time.AfterFunc(retry, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.begin()
		})
	}
	s.again.Reset(retry)
}

// bound gives up the oldest of what waits, if that is too much. The caller holds mu.
func (s *Store) bound() {
	first, bytes := len(s.waiting), 0
	for first > 0 && len(s.waiting)-first < maxWaiting {
		r := s.waiting[first-1].record
		bytes += len(r.Request.Code) + len(r.Request.Stdin) + len(r.Policy) + len(r.Stdout.Text) + len(r.Stderr.Text)
		if bytes > maxBytes && first < len(s.waiting) {
			break
		}
		first--
	}
	if first == 0 {
		return
	}
	for _, it := range s.waiting[:first] {
		if it.done != nil {
			close(it.done)
		}
	}
	s.lost += first
	s.waiting = slices.Clone(s.waiting[first:])
}

// tell says once what is in the way, and when it is over. The caller holds mu.
func (s *Store) tell(err error, n int) {
	switch {
	case err != nil && err.Error() != s.said:
		s.said = err.Error()
		s.log.Warn("the history cannot be written; runs go on without it, and it is tried again", "dir", s.dir, "err", err)
	case err == nil && n > 0 && s.said != "":
		s.said = ""
		s.log.Info("the history can be written again", "caught up", n, "lost", s.lost)
		s.lost = 0
	}
}

// Close writes what waits, as far as that can be done in a moment, and lets go of the database.
func (s *Store) Close() {
	s.mu.Lock()
	s.begin()
	s.closed = true
	working := s.working
	if s.again != nil {
		s.again.Stop()
	}
	s.mu.Unlock()
	if working != nil {
		select {
		case <-working:
		case <-time.After(patience):
		}
	}
	s.use.Lock()
	defer s.use.Unlock()
	s.shut()
	s.leave()
}

// with has f use the database. After an error it is opened anew the next time; one that turns out to be damaged is set
// aside, and f is asked once more, with a new one.
func (s *Store) with(ctx context.Context, f func(context.Context, *sql.DB) error) error {
	s.use.Lock()
	defer s.use.Unlock()
	err := s.attempt(ctx, f)
	if isDamage(err) {
		if err = s.setAside(err); err == nil {
			err = s.attempt(ctx, f)
		}
	}
	return err
}

func (s *Store) attempt(ctx context.Context, f func(context.Context, *sql.DB) error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	err := f(ctx, s.db)
	if err != nil {
		s.shut()
	}
	return err
}

// ready opens the database unless it is, and is still that of its name: another process may have set it aside.
func (s *Store) ready(ctx context.Context) error {
	if s.db != nil {
		if is, err := os.Lstat(s.path()); err == nil && os.SameFile(is, s.is) {
			s.close.Reset(idle)
			return nil
		}
		s.shut()
	}
	if err := s.connect(ctx); err != nil {
		s.shut()
		return err
	}
	s.close = time.AfterFunc(idle, func() {
		s.use.Lock()
		defer s.use.Unlock()
		s.shut()
	})
	return nil
}

// shut closes the database. The caller holds use.
func (s *Store) shut() {
	if s.close != nil {
		s.close.Stop()
		s.close = nil
	}
	if s.db != nil {
		_ = s.db.Close()
		s.db, s.write = nil, statements{}
	}
}

func (s *Store) path() string { return filepath.Join(s.dir, file) }
