//go:build unix

// Package looks remembers every look at files that led to some result, so that the result can be used again as long
// as each of them would show the same.
//
//	l := looks.New(os.Getenv)
//	… what reads files by l's methods …
//	if l.Same(os.Getenv) { … the result is still true … }
//
// What a look showed is compared by the files' stamps: inode, size, both times, links. A change time cannot be set
// by who owns a file, and every change moves it, with three exceptions, for which Same says no rather than guess: a
// change within the same tick of the clock as the look, a file system that is not known to keep change times well,
// and what could not be looked at. Not noticed is a write through a mapping that was made, and written to,
// before the look (the kernel moves the time at the first write alone): so what another run can map for writing
// must not be trusted further than that run is.
//
// All methods can be called on nil: they look, and remember nothing. They may be called from many goroutines.
package looks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/workspace/locked"
	"code.sidecar.dev/workspace/plainfile"
)

// depth is how much of a file a look took notice of.
type depth uint8

const (
	kindOnly depth = iota // whether it is there, and what it is
	owner                 // its mode, owner and device too
	listed                // of a folder: which one it is, and its entries but some
	content               // all of it
)

// look is one look at a path itself, never at what a link there leads to.
type look struct {
	depth depth
	at    stamp
	// again lists a folder anew and says whether its entries, but for those, are what they were; nil cannot.
	again func(but []string) bool
	but   []string
}

// Looks are the looks that led to a result.
type Looks struct {
	getenv func(string) string
	began  time.Time

	mu    sync.Mutex
	seen  map[string]look
	env   map[string]string
	doubt bool
	sweep []entry // of seen, what Same repeats
	// unlocked are folders below which a lack of rights keeps from nothing.
	unlocked []string
	// denied are the first paths that this user has no right to look at.
	denied []string
}

// New begins to remember. getenv is the environment that the result depends on.
func New(getenv func(string) string) *Looks {
	return &Looks{getenv: getenv, began: time.Now(), seen: map[string]look{}, env: map[string]string{}}
}

// Getenv is the environment's variable.
func (l *Looks) Getenv(name string) string {
	value := l.getenv(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.env[name] = value
	return value
}

// Kind is the type of what is at a path itself, as in a mode; 0 and the error when it cannot be looked at.
func (l *Looks) Kind(path string) (uint32, error) {
	if l != nil {
		l.mu.Lock()
		old, ok := l.seen[path]
		l.mu.Unlock()
		if ok { // one look per path keeps a result consistent
			return old.at.kind()
		}
	}
	st, err := l.lstat(path, kindOnly)
	return uint32(st.Mode) & syscall.S_IFMT, err
}

// Lstat is lstat(2), of which only the mode, the owner and the device count.
func (l *Looks) Lstat(path string) (syscall.Stat_t, error) { return l.lstat(path, owner) }

// LstatAll is lstat(2), of which everything counts.
func (l *Looks) LstatAll(path string) (syscall.Stat_t, error) { return l.lstat(path, content) }

// Stat is Lstat of what the links at a path lead to.
func (l *Looks) Stat(path string) (st syscall.Stat_t, err error) {
	if l == nil {
		err = ignoringEINTR(func() error { return syscall.Stat(path, &st) })
		return st, err
	}
	real, err := l.Real(path)
	if err != nil {
		return st, err
	}
	return l.Lstat(real)
}

func (l *Looks) lstat(path string, d depth) (st syscall.Stat_t, err error) {
	look := func() error { return syscall.Lstat(path, &st) }
	if err = ignoringEINTR(look); l.unlocks(path, err) {
		back := locked.Way(filepath.Dir(path))
		err = ignoringEINTR(look)
		back()
	}
	l.deny(path, err)
	l.note(path, d, &st, err)
	return st, err
}

// Readlink is the text of a link.
func (l *Looks) Readlink(path string) (string, error) {
	if l != nil {
		// Before it is read: a link that is another by then has another stamp.
		if _, err := l.lstat(path, content); err != nil {
			return "", err
		}
	}
	target, err := os.Readlink(path)
	if l.unlocks(path, err) {
		defer locked.Way(filepath.Dir(path))()
		return os.Readlink(path)
	}
	return target, err
}

// Opened takes note of a file or folder that was opened without following a link at the end, before it is read. It
// is the very file whose content counts, whatever others do to the path meanwhile.
func (l *Looks) Opened(path string, fd int) {
	if l == nil {
		return
	}
	var st syscall.Stat_t
	err := ignoringEINTR(func() error { return syscall.Fstat(fd, &st) })
	l.note(path, content, &st, err)
}

// Listed takes note of a folder that was Opened, when it has been read: again says whether its entries are the same, but for
// some, when it is listed anew. Nothing is taken note of when again is nil.
func (l *Looks) Listed(path string, again func(but []string) bool) {
	if l == nil || again == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.seen[path]; ok && k.depth == content && k.at.isFolder() {
		k.again = again
		l.seen[path] = k
	}
}

// NotOpened takes note that a path could not be opened.
func (l *Looks) NotOpened(path string, err error) {
	if l == nil {
		return
	}
	if isAbsent(err) {
		l.note(path, kindOnly, nil, err)
		return
	}
	l.deny(path, err)
	_, _ = l.lstat(path, content)
	if !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.ENOTDIR) {
		l.mu.Lock()
		l.doubt = true // permissions, memory …: why it failed is not in the stamp
		l.mu.Unlock()
	}
}

// mostDenied bounds what Denied tells.
const mostDenied = 1000

func (l *Looks) deny(path string, err error) {
	if l == nil || !errors.Is(err, syscall.EACCES) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.denied) < mostDenied {
		l.denied = append(l.denied, path)
	}
}

// Denied are paths that this user had no right to look at.
func (l *Looks) Denied() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.denied)
}

// Read is plainfile.Read.
func (l *Looks) Read(path string) ([]byte, error) {
	return l.reading(path, func(failed func(string, error)) ([]byte, error) { return plainfile.ReadNoting(path, l.Opened, failed) })
}

// ReadThrough is plainfile.ReadThrough.
func (l *Looks) ReadThrough(path string) ([]byte, error) {
	if l == nil {
		return plainfile.ReadThrough(path)
	}
	data, err := l.Read(path)
	if !errors.Is(err, syscall.ELOOP) {
		return data, err
	}
	real, err := l.Real(path)
	if err != nil {
		return nil, err
	}
	return l.Read(real)
}

// ReadHead is plainfile.ReadHead.
func (l *Looks) ReadHead(path string, max int64) ([]byte, error) {
	return l.reading(path, func(failed func(string, error)) ([]byte, error) {
		return plainfile.ReadHeadNoting(path, max, l.Opened, failed)
	})
}

// note keeps the deepest look at a path. Two that show different things are a doubt.
func (l *Looks) note(path string, d depth, st *syscall.Stat_t, err error) {
	if l == nil {
		return
	}
	at, ok := stampOf(st, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ok {
		l.doubt = true
	}
	if at == (stamp{}) {
		d = kindOnly // there is nothing more to see
	}
	old, had := l.seen[path]
	if had && !old.at.same(at, min(old.depth, d)) {
		l.doubt = true
	}
	if !had || d > old.depth {
		l.seen[path] = look{depth: d, at: at}
	}
	l.sweep = nil
}

// Leave leaves out the looks at paths that the caller changes before it asks Same, and whose state it finds out by
// itself. A folder of theirs that was listed is then listed again each time, since its times tell nothing any more. It says no,
// and leaves none out, if a change would show in a folder that cannot be.
func (l *Looks) Leave(paths []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	but, can := map[string][]string{}, true
	for _, path := range paths {
		dir, name := filepath.Dir(path), filepath.Base(path)
		if k, ok := l.seen[dir]; ok && k.depth == content {
			can = can && k.again != nil
			but[dir] = append(but[dir], name)
		}
	}
	for path, k := range l.seen {
		if names, ok := but[path]; ok && can {
			k.depth, k.but = listed, names
		} else {
			k.again = nil // what it holds is not needed
		}
		l.seen[path] = k
	}
	if !can {
		return false
	}
	for _, path := range paths {
		delete(l.seen, path)
	}
	l.sweep = nil
	return true
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist)
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}
