//go:build unix

package hold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// suffix ends the name of a run's record in the ledger's folder.
const suffix = ".run"

// record is what one run holds: a file, and the lock on it that says its process lives.
type record struct {
	file  *os.File
	name  string
	tree  tree
	Holds []held `json:"holds"`
	// Root is the tree that they are in, Inode its number.
	Root  string `json:"root,omitempty"`
	Inode uint64 `json:"inode,omitempty"`
}

// held is one placeholder of a record, and the folders made for it, outermost first.
type held struct {
	Path    string   `json:"path"`
	Folder  bool     `json:"folder,omitempty"`
	Content string   `json:"content,omitempty"`
	Parents []string `json:"parents,omitempty"`
}

// locked runs f while this process alone may change the ledger.
func (l *Ledger) locked(f func() error) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return &LedgerError{l.dir, fmt.Errorf("the folder of placeholder records: %w", err)}
	}
	lock, err := os.OpenFile(filepath.Join(l.dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return &LedgerError{l.dir, fmt.Errorf("the lock of the placeholder records: %w", err)}
	}
	defer lock.Close()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond / 2) {
		err := flock(lock, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f()
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(end) {
			return &LedgerError{l.dir, fmt.Errorf("locking %q, which another sidecar holds (is one stopped?): %w", lock.Name(), err)}
		}
	}
}

// patience is how long the lock of another process is waited for, which has it for milliseconds: one that was stopped with it
// must not keep all others waiting.
var patience = 5 * time.Second

// flock retries when a signal interrupts it, as Go's runtime sends many.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (l *Ledger) acquire(runID, root string, ps []Placeholder) (le *Lease, err error) {
	if runID == "" || runID[0] == '.' || strings.ContainsAny(runID, "/\x00") {
		return nil, fmt.Errorf("run id %q cannot name a record", runID)
	}
	err = l.locked(func() error {
		le, err = l.acquireLocked(runID, root, ps)
		return err
	})
	return le, err
}

func (l *Ledger) acquireLocked(runID, root string, ps []Placeholder) (*Lease, error) {
	living, err := l.living()
	if err != nil {
		return nil, err
	}
	le := &Lease{ledger: l, record: &record{name: filepath.Join(l.dir, runID+suffix)}}
	if err := le.plan(ps, living); err != nil {
		return nil, err
	}
	if len(le.record.Holds) == 0 {
		return le, nil
	}
	if err := le.record.plant(root); err != nil {
		return nil, err
	}
	if err := le.record.write(); err != nil {
		le.record.tree.close()
		return nil, &LedgerError{l.dir, fmt.Errorf("recording placeholders: %w", err)}
	}
	if err := le.make(); err != nil {
		return nil, errors.Join(err, le.record.undo(living))
	}
	return le, nil
}

// plan decides for each placeholder whether it is made, shared, or found to exist as something else.
func (le *Lease) plan(ps []Placeholder, living needs) error {
	done := map[string]bool{}
	for _, p := range ps {
		p.Path = filepath.Clean(p.Path)
		if done[p.Path] {
			continue
		}
		done[p.Path] = true
		h, exists, err := look(p, living)
		if err != nil {
			return fmt.Errorf("placeholder %q: %w", p.Path, err)
		}
		if exists {
			le.Existing = append(le.Existing, p)
			continue
		}
		le.record.Holds = append(le.record.Holds, h)
	}
	return nil
}

// look finds out what lies at a placeholder's path now.
func look(p Placeholder, living needs) (h held, exists bool, err error) {
	if !filepath.IsAbs(p.Path) || p.Path == "/" {
		return h, false, errors.New("the path is not absolute")
	}
	h = held{Path: p.Path, Folder: p.Folder, Content: p.Content, Parents: living.inherited(p.Path)}
	dir, missing, err := openParents(p.Path)
	if err != nil {
		return h, false, err
	}
	defer locked.Close(dir)
	if len(missing) > 0 {
		if !p.Parents {
			return h, false, &os.PathError{Op: "open", Path: missing[0], Err: unix.ENOENT}
		}
		h.Parents = append(h.Parents, missing...)
		return h, false, nil
	}
	var st unix.Stat_t
	err = unix.Fstatat(dir, filepath.Base(p.Path), &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT):
		return h, false, nil
	case err != nil:
		return h, false, err
	}
	return h, !living.shares(h) || !ours(dir, h), nil
}

// make makes what is not there yet. What appeared since plan looked is found by EEXIST and is the host's.
func (le *Lease) make() error {
	for _, h := range le.record.Holds {
		err := h.make()
		if errors.Is(err, errTaken) {
			le.Existing = append(le.Existing, Placeholder{Path: h.Path, Folder: h.Folder, Content: h.Content})
			continue
		}
		if err != nil {
			return fmt.Errorf("placeholder %q: %w", h.Path, err)
		}
	}
	return nil
}

// write makes the record's file, takes the lock that shows this process alive, and only then fills it: a
// record that is empty or torn is that of a process that died before it made anything.
func (r *record) write() error {
	f, err := os.OpenFile(r.name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	r.file = f
	text, err := json.Marshal(r)
	if err == nil {
		err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	if err != nil {
		_ = r.drop()
	}
	return err
}

// drop takes the record away and gives up its lock, in this order, so that nobody finds a dead record.
func (r *record) drop() error {
	err := os.Remove(r.name)
	r.file.Close()
	r.tree.close()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// undo takes away what the record lists and no other living run needs, then the record.
func (r *record) undo(living needs) error {
	var errs []error
	for _, h := range r.Holds {
		if err := h.remove(r.tree, living, ours); err != nil {
			errs = append(errs, fmt.Errorf("placeholder %q stays: %w", h.Path, err))
		}
	}
	return errors.Join(append(errs, r.drop())...)
}

func (l *Ledger) release(r *record) error {
	if r.file == nil {
		return nil
	}
	return l.locked(func() error {
		living, err := l.living(r.name)
		return errors.Join(err, r.undo(living))
	})
}

func (l *Ledger) sweepAll() error {
	if _, err := os.Stat(l.dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return l.locked(func() error {
		_, err := l.living()
		return err
	})
}

// living reads the records of living runs, except the named ones, and clears up after dead ones.
func (l *Ledger) living(except ...string) (needs, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, &LedgerError{l.dir, fmt.Errorf("the placeholder records: %w", err)}
	}
	var alive needs
	var dead []*record
	for _, e := range entries {
		name := filepath.Join(l.dir, e.Name())
		if !strings.HasSuffix(name, suffix) || !e.Type().IsRegular() || contains(except, name) {
			continue
		}
		r, lives := readRecord(name)
		if r != nil && lives {
			alive = append(alive, r.Holds...)
			r.file.Close()
		} else if r != nil {
			dead = append(dead, r)
		}
	}
	for _, r := range dead {
		// What cannot be swept now (a read-only disk) must not stop today's run; its record stays for later.
		_ = r.sweep(alive)
	}
	return alive, nil
}

// sweep undoes a dead run's record, with what its process had only begun to write; a record whose placeholders
// resist is kept, and one whose tree is away.
func (r *record) sweep(living needs) error {
	defer r.file.Close()
	var errs []error
	for _, h := range r.Holds {
		if err := h.remove(tree{}, living, begun); err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if r.isAway() {
		return nil
	}
	return r.drop()
}

// readRecord opens a record; lives says that its process holds the lock.
func readRecord(name string) (r *record, lives bool) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(f); err != nil {
		f.Close()
		return nil, false
	}
	r = &record{file: f, name: name}
	_ = json.Unmarshal(text.Bytes(), r)
	return r, flock(f, unix.LOCK_EX|unix.LOCK_NB) != nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
