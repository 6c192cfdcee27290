// Package hold keeps placeholders: stand-ins that are made in a user's repository for as long as runs last,
// at paths that do not exist and that host programs would obey if they appeared.
//
//	ledger := hold.Open(filepath.Join(stateHome, "sidecar", "holds"))
//	lease, err := ledger.Acquire(runID, "/p", []hold.Placeholder{{Path: "/p/.git/commondir", Content: ".\n"}})
//	…
//	err = lease.Release()
//
// Several runs of several processes may need one placeholder at once: it goes with the last. Each run's
// record is a file in the ledger's folder, written before anything is made, on which its process holds a lock
// as long as it lives; so a record whose lock can be taken belongs to a dead run, and the next Acquire or
// Sweep of any process clears up after it.
//
// It does not protect the placeholders: whoever may write to their folder can replace them. What is no longer
// ours (other content, another kind) is left alone. Of a dead run's placeholder the beginning of its content is ours
// too, down to an empty file: so far its process may have come.
package hold

import (
	"sync"
)

// Placeholder is one stand-in.
type Placeholder struct {
	// Path is absolute; no symbolic link may lead to it.
	Path string
	// Folder makes an empty folder, else a file that holds Content.
	Folder  bool
	Content string
	// Parents allows making the folders above Path that are missing; they are recorded and go too.
	Parents bool
}

// Ledger is the folder of records that all sidecar processes of a user share.
type Ledger struct {
	dir string
}

// Lease is what one run holds.
type Lease struct {
	// Existing are those of the placeholders whose path held something else already, so that nothing was
	// made: the caller protects them as existing paths.
	Existing []Placeholder

	ledger *Ledger
	once   sync.Once
	err    error
	record *record
}

// LedgerError says that the folder of records is at fault (full, read-only, another's), not a placeholder's.
type LedgerError struct {
	Dir string
	Err error
}

func (e *LedgerError) Error() string { return e.Err.Error() }
func (e *LedgerError) Unwrap() error { return e.Err }

// Open names the ledger's folder. Acquire makes it, with mode 0700, when it is missing.
func Open(dir string) *Ledger { return &Ledger{dir: dir} }

// Acquire makes the placeholders that are missing and shares those that other runs made. When one cannot be
// made, none stays. The run's id names its record; a process may use one id only once at a time. root is the tree in which
// they mostly are: Release finds them in it also when it was renamed, replaced or unmounted meanwhile, and a Sweep goes on
// looking for it. "" is none.
func (l *Ledger) Acquire(runID, root string, ps []Placeholder) (*Lease, error) {
	return l.acquire(runID, root, ps)
}

// Release takes the placeholders away that no other living run needs. It may be called more than once.
func (le *Lease) Release() error {
	le.once.Do(func() { le.err = le.ledger.release(le.record) })
	return le.err
}

// Sweep clears up after runs whose process died without a Release.
func (l *Ledger) Sweep() error { return l.sweepAll() }
