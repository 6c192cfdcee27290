//go:build unix

package guard

import (
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// kind says what a folder is to the guard.
type kind uint16

const (
	// gitDir holds HEAD, config, hooks …: a `.git` folder, a bare repository, a submodule's git dir.
	gitDir kind = 1 << iota
	// admin is a linked worktree's folder in the common dir's "worktrees".
	admin
	// admins is that "worktrees".
	admins
	hooks
	objects
	// obeyed is in or below a folder that host programs obey.
	obeyed
	// vendored is below node_modules and the like, where nothing is obeyed except repositories.
	vendored
	// inGit is anywhere below a git dir: no work tree, so nothing is obeyed there either.
	inGit
	// vcs is the folder of another version control system.
	vcs
	// refs is a git dir's folder of references, and what is below it.
	refs
	// single is no folder but a file with a watch of its own.
	single
	// sure is a git dir that a run has not made of another folder, so that what has the name of git's data is that.
	sure
)

// inherited is what a folder's subfolders have of it.
const inherited = obeyed | vendored | inGit

// node is one watched folder. There are many, so a node has its parent and its name, not its path.
type node struct {
	base   *base
	parent *node
	name   string
	kind   kind
	depth  int32
	// length is that of the path below the base.
	length int32
}

// rel is the path below the base.
func (n *node) rel() string {
	if n.parent == nil {
		return "."
	}
	var names []string
	for ; n.parent != nil; n = n.parent {
		names = append(names, n.name)
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, "/")
}

// path is absolute.
func (n *node) path() string {
	if n.parent == nil {
		return n.base.path
	}
	return join(n.base.path, n.rel())
}

func join(dir, name string) string {
	if name == "." {
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 1)], path[i+1:]
}

// origin tells how something was found: it decides what a run is held responsible for.
type origin bool

const (
	// byWalk: it was there when a walk came by; a run made it if its ctime says so.
	byWalk origin = false
	// byEvent: it appeared while events were being read.
	byEvent origin = true
)

// mostKept bounds each kind of thing that the tree remembers; a hostile tree has any number of them.
const mostKept = 20_000

// tree is what the guard knows of the folders it watches.
type tree struct {
	opts  Options
	root  *base
	bases []*base
	tops  []*node
	// gitDirs are the known git directories; given are those of them that the guard was opened with.
	gitDirs, given map[string]bool

	// mu guards everything below, and is held while something is judged or disarmed, so that two hands never
	// work on one thing. The walkers hold it only to write down what one folder held.
	// drainMu lets one at a time handle events; it is taken before mu.
	drainMu sync.Mutex
	mu      sync.Mutex
	notify  *notifier
	byWD    map[int32]*node
	sites   map[string]*site
	obeyed  map[string]*item
	sockets map[string]bool
	// unreadable are folders that could not be opened; a run may have made them so for the while.
	unreadable []*node
	// happened counts events.
	happened int
	// queued counts the folders met by the walk at hand; events add theirs.
	queued, unwatched int
	walked            chan struct{}
	isWalked          bool
	// walking is held by who may walk the whole tree anew, and rewalking says that one does.
	walking   chan struct{}
	rewalking bool
	// flooded says that the walk at hand removes the links of git directories that it comes by, as they are too many to remember.
	flooded bool
	// walkedAt is when the last walk began that read all there was; cut says that more was there than could be kept since then;
	// retried is when watches were last asked for again.
	walkedAt int64
	cut      bool
	retried  time.Time
	// adopting are git directories outside the root that are being read for the first time.
	adopting map[string]bool
	// noted counts what became known.
	noted int
	// unkept is what there was no room for, since the walk at hand or the last began; wereUnkept is what the walk at hand finds again.
	unkept, wereUnkept map[unkept]int
	// lost says that events were lost since the last whole walk; short is why events cannot be relied upon.
	lost, short string
	// runs are the active ones.
	runs map[*runState]bool
	// dirty are the sites to judge after the events at hand.
	dirty map[*site]bool
	// own are the inodes of what the guard itself put back.
	own    map[string]uint64
	closed bool
	// busy counts the goroutines that read the tree.
	busy sync.WaitGroup
}

// item is something obeyed.
type item struct {
	path, reason string
	folder       bool
	// link says that it counts as a link only.
	link  bool
	known known
}

func newTree(root string, o Options) (*tree, error) {
	b, err := openBase(root)
	if err != nil {
		return nil, err
	}
	if o.MaxFolders == 0 {
		o.MaxFolders = DefaultMaxFolders
	}
	t := &tree{opts: o, root: b, bases: []*base{b}, byWD: map[int32]*node{}, sites: map[string]*site{},
		obeyed: map[string]*item{}, sockets: map[string]bool{}, walked: make(chan struct{}),
		walking: make(chan struct{}, 1), adopting: map[string]bool{}, unkept: map[unkept]int{}, runs: map[*runState]bool{}, dirty: map[*site]bool{}, gitDirs: map[string]bool{}, given: map[string]bool{}, own: map[string]uint64{}}
	t.tops = []*node{{base: b}}
	for _, dir := range o.GitDirs {
		t.addGitDir(dir)
		t.given[dir] = true
	}
	return t, nil
}

// addGitDir adds a known git directory, and when it lies outside the root a place to watch.
func (t *tree) addGitDir(dir string) *node {
	if t.gitDirs[dir] {
		return nil
	}
	t.gitDirs[dir] = true
	for _, b := range t.bases {
		if _, ok := b.within(dir); ok {
			return nil
		}
	}
	b, err := openBase(dir)
	if err != nil {
		return nil
	}
	n := &node{base: b, kind: gitDir | inGit | sure}
	t.bases = append(t.bases, b)
	t.tops = append(t.tops, n)
	return n
}

// locate finds the base that an absolute path lies below.
func (t *tree) locate(path string) (b *base, rel string, ok bool) {
	for _, b := range t.bases {
		if rel, ok := b.within(path); ok {
			return b, rel, true
		}
	}
	return nil, "", false
}

// folderOf opens the folder that path lies in.
func (t *tree) folderOf(path string) (dir int, name string, err error) {
	parent, name := split(path)
	b, rel, ok := t.locate(parent)
	if !ok {
		return -1, name, unix.EXDEV
	}
	dir, err = b.folder(rel)
	return dir, name, err
}

// isGiven says that path lies in, or is, a git directory that the guard was opened with. One that it found itself and told of
// comes back with the next run, and is to be told of again.
func (t *tree) isGiven(path string) bool {
	for path != "/" {
		if t.given[path] {
			return true
		}
		path, _ = split(path)
	}
	return false
}

// degradedBy says why events do not suffice, "" when they do.
func (t *tree) degradedBy() string {
	if t.short != "" {
		return t.short
	}
	return t.lost
}

// known prunes what is gone and lists the rest.
func (t *tree) known() Known {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := Known{Complete: t.isWalked}
	for path, s := range t.sites {
		switch {
		case s.form == vcsSite && t.isThere(path):
			k.Others = append(k.Others, path)
		case s.form == vcsSite, s.form == adminSite, s.base != t.root, path == join(t.root.path, ".git"), t.isGiven(path):
			// not told; begin looks whether it is there
		case t.isThere(path):
			k.Repositories = append(k.Repositories, path)
		default:
			delete(t.sites, path)
		}
	}
	for path := range t.obeyed {
		if t.isThere(path) {
			k.Obeyed = append(k.Obeyed, path)
		} else {
			delete(t.obeyed, path)
		}
	}
	for path := range t.sockets {
		if t.isThere(path) {
			k.Sockets = append(k.Sockets, path)
		} else {
			delete(t.sockets, path)
		}
	}
	sort.Strings(k.Repositories)
	sort.Strings(k.Others)
	sort.Strings(k.Obeyed)
	sort.Strings(k.Sockets)
	return k
}

func (t *tree) isThere(path string) bool {
	b, rel, ok := t.locate(path)
	return ok && b.glance(rel).exists
}

// stampAt reads the stamp of an absolute path.
func (t *tree) stampAt(path string) stamp {
	for _, b := range t.bases {
		var st unix.Stat_t
		if b.path == path && unix.Fstat(b.fd, &st) == nil {
			return stampOf(&st) // what it lies in is none of ours
		}
	}
	dir, name, err := t.folderOf(path)
	if err != nil {
		return stamp{}
	}
	defer locked.Close(dir)
	return lookAt(dir, name)
}
