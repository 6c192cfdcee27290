//go:build unix

package guard

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// watchedState is a path that no mount holds, as it was when the run began.
type watchedState struct {
	Watched
	at   stamp
	link string
	text []byte
	// entries are a folder's own, to a bounded depth and number: all of them, or nil.
	entries map[string]*watchedState
}

// mostEntries bounds what is remembered of a watched folder, and mostDepth how deep. What is not remembered is judged by its times.
const (
	mostEntries = 500
	mostDepth   = 3
	mostText    = 64 << 10
)

// remember takes the state of a watched path.
func (t *tree) remember(w Watched) *watchedState {
	ws := &watchedState{Watched: w}
	dir, name, err := t.folderOf(w.Path)
	if err != nil {
		return ws
	}
	defer locked.Close(dir)
	left := mostEntries
	ws.read(dir, name, mostDepth, &left)
	return ws
}

func (ws *watchedState) read(dir int, name string, depth int, left *int) {
	ws.at = lookAt(dir, name)
	switch {
	case ws.at.link():
		ws.link = readLink(dir, name)
	case ws.at.file() && ws.at.size <= mostText:
		ws.text, _, _ = readFile(dir, name)
	case ws.at.folder() && depth > 0:
		ws.readEntries(dir, name, depth, left)
	}
}

func (ws *watchedState) readEntries(dir int, name string, depth int, left *int) {
	names := entriesOf(dir, name, *left+1)
	if len(names) > *left {
		return
	}
	*left -= len(names)
	ws.entries = map[string]*watchedState{}
	for _, n := range names {
		sub := &watchedState{Watched: Watched{Path: join(ws.Path, n), Reason: ws.Reason}}
		fd, err := folderIn(dir, name)
		if err != nil {
			return
		}
		sub.read(fd, n, depth-1, left)
		locked.Close(fd)
		ws.entries[n] = sub
	}
}

func entriesOf(dir int, name string, most int) (names []string) {
	fd, err := folderIn(dir, name)
	if err != nil {
		return nil
	}
	defer locked.Close(fd)
	_ = readFolder(fd, make([]byte, 8192), func(n []byte, _ uint8) bool {
		if len(names) < most {
			names = append(names, string(n))
		}
		return len(names) < most
	})
	return names
}

// watchedAbove says that path is, or lies in, a watched path.
func (r *runState) watchedAbove(path string) bool {
	for path != "/" && path != "" {
		if r.watched[path] != nil {
			return true
		}
		path, _ = split(path)
	}
	return false
}

// checkWatched looks at one watched path now.
func (t *tree) checkWatched(r *runState, path string) {
	if ws := r.watched[path]; ws != nil {
		t.checkState(r, ws)
	}
}

// auditWatched looks at all. Most are names that nothing has, and had.
func (t *tree) auditWatched(r *runState) {
	near := t.openFolders()
	defer near.close()
	for _, path := range r.inOrder {
		ws := r.watched[path]
		if ws.at.exists || near.has(path) {
			t.checkState(r, ws)
			near.close() // it may have moved something
		}
	}
}

// openFolders are folders that are looked into many times in a row, each opened, and read if it is small, once.
type openFolders struct {
	t    *tree
	open map[string]*openFolder
}

// openFolder is one of them.
type openFolder struct {
	fd int
	// missing says that there is none, and so nothing in it.
	missing bool
	// names are what its entries are called, in small letters; nil when they are to be asked for one by one.
	names map[string]bool
}

// mostOpen bounds the descriptors that they take, and mostNames what is read of each.
const (
	mostOpen  = 16
	mostNames = 200
)

func (t *tree) openFolders() *openFolders { return &openFolders{t: t, open: map[string]*openFolder{}} }

func (f *openFolders) close() {
	for _, o := range f.open {
		o.close()
	}
	clear(f.open)
}

func (o *openFolder) close() {
	if !o.missing {
		locked.Close(o.fd)
	}
}

// has says that there is something at path.
func (f *openFolders) has(path string) bool {
	up, name := split(path)
	o := f.open[up]
	if o == nil {
		if len(f.open) >= mostOpen {
			f.close()
		}
		dir, _, err := f.t.folderOf(path)
		switch {
		case errors.Is(err, unix.ENOENT):
			o = &openFolder{missing: true}
		case err != nil:
			return f.t.stampAt(path).exists
		default:
			o = &openFolder{fd: dir, names: namesIn(dir)}
		}
		f.open[up] = o
	}
	return !o.missing && o.mayHave(name) && lookAt(o.fd, name).exists
}

// mayHave is false when the names that were read leave no doubt.
func (o *openFolder) mayHave(name string) bool {
	return o.names == nil || o.names[strings.ToLower(name)]
}

// namesIn are a small folder's names in small letters, since some folders make no difference between them (casefold, ext4(5)).
// Where a name has letters that are not of ASCII, what it would be taken for is not known here, and there are none.
func namesIn(dir int) map[string]bool {
	names, doubt := map[string]bool{}, false
	err := readFolder(dir, make([]byte, 8192), func(name []byte, _ uint8) bool {
		names[strings.ToLower(string(name))] = true
		doubt = len(names) > mostNames || bytes.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
		return !doubt
	})
	if err != nil || doubt {
		return nil
	}
	return names
}

// checkState compares, moves aside what is new or other, and puts back what was there.
func (t *tree) checkState(r *runState, ws *watchedState) {
	st := t.stampAt(ws.Path)
	switch {
	case r.failed[ws.Path] || t.judgedAsSite(ws, st):
	case !st.exists:
		t.restoreLink(ws)
	case st.folder() && ws.at.folder() && st.ino == ws.at.ino && st.dev == ws.at.dev:
		t.checkEntries(r, ws)
	case ws.at.same(st) || ws.at.exists && t.equal(ws, st):
	case !ws.at.exists && ws.Folder && st.file():
	default:
		if t.moveAside(r, ws.Path, ws.Reason) {
			t.restore(ws)
		}
	}
}

// judgedAsSite leaves to the git rules what they know to judge: a benign repository is left whole, and a new
// `.git` where a pointer was is not.
func (t *tree) judgedAsSite(ws *watchedState, st stamp) bool {
	dir, name := split(ws.Path)
	if name == ".git" {
		return !ws.at.exists || ws.at.folder() && st.folder()
	}
	s := t.sites[dir]
	return gitItems[name] && s != nil && s.form != pointerSite
}

// equal says that a file or link was replaced by one that says the same.
func (t *tree) equal(ws *watchedState, st stamp) bool {
	if st.mode != ws.at.mode || st.nlink > max(ws.at.nlink, 1) {
		return false
	}
	dir, name, err := t.folderOf(ws.Path)
	if err != nil {
		return false
	}
	defer locked.Close(dir)
	if st.link() {
		return readLink(dir, name) == ws.link
	}
	text, _, err := readFile(dir, name)
	return err == nil && ws.text != nil && st.file() && string(text) == string(ws.text)
}

func (t *tree) checkEntries(r *runState, ws *watchedState) {
	if ws.entries == nil {
		t.auditEntries(r, ws.Path, &item{path: ws.Path, reason: ws.Reason, folder: true}, deepest)
		return
	}
	dir, name, err := t.folderOf(ws.Path)
	if err != nil {
		return
	}
	defer locked.Close(dir)
	for _, n := range entriesOf(dir, name, mostFolders) {
		sub := ws.entries[n]
		if sub == nil {
			sub = &watchedState{Watched: Watched{Path: join(ws.Path, n), Reason: ws.Reason}}
			if isAside(n) && t.own[sub.Path] == t.stampAt(sub.Path).ino { // anybody can give such a name
				continue
			}
		}
		t.checkState(r, sub)
	}
}

// restore puts back a link or a small file that was moved aside for.
func (t *tree) restore(ws *watchedState) {
	if ws.at.file() && ws.text != nil {
		t.putBack(ws.Path, string(ws.text), ws.at.mode&0o777)
	}
	t.restoreLink(ws)
}

func (t *tree) restoreLink(ws *watchedState) {
	if ws.link == "" {
		return
	}
	dir, name, err := t.folderOf(ws.Path)
	if err != nil {
		return
	}
	defer locked.Close(dir)
	if locked.Change(dir, func() error { return unix.Symlinkat(ws.link, dir, name) }) == nil {
		t.own[ws.Path] = lookAt(dir, name).ino
		t.report(Finding{Path: ws.Path, Reason: ws.Reason + "; the symbolic link that was there is back", Action: Noticed})
	}
}
