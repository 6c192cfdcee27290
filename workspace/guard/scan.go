//go:build unix

package guard

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// marks are the entries that make a folder a git directory.
type marks uint8

const (
	hasHEAD marks = 1 << iota
	hasObjects
	hasRefs
	hasCommondir
)

var markOf = map[string]marks{"HEAD": hasHEAD, "objects": hasObjects, "refs": hasRefs, "commondir": hasCommondir}

// isGitDir follows git's own test, which takes objects and refs from where commondir says.
func (m marks) isGitDir() bool {
	return m&hasHEAD != 0 && (m&(hasObjects|hasRefs) == hasObjects|hasRefs || m&hasCommondir != 0)
}

// vendors are folders that hold other people's packages: a tool's settings among them are not obeyed.
var vendors = map[string]bool{"node_modules": true, "bower_components": true, "site-packages": true,
	"dist-packages": true, "vendor": true}

// gitData are a git dir's folders of mere data that may be very many; their names are git's own doing. Not so among submodules: there "lfs"
// and "objects/ab" may be their names, and a run can make "modules" look like a git dir.
var gitData = map[string]bool{"lfs": true}

// isFanOut tells a folder of loose objects, "objects/ab".
func isFanOut(name string) bool {
	return len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}

// sight is what one folder holds that matters.
type sight struct {
	folders []string
	// other are entries that are no folders and matter by their name.
	other   []string
	sockets []string
	// odd are symbolic links, in a git directory only, and named pipes where git reads.
	odd []string
	// refs are a git directory's references.
	refs  []string
	marks marks
	// cut says that there was more than is kept, more that there was more that is odd.
	cut, more bool
}

// look reads a folder. Only names that matter are kept: a folder may have a million entries.
func (t *tree) look(fd int, buf []byte, k kind, in string) (s sight, err error) {
	err = readFolder(fd, buf, func(name []byte, typ uint8) bool {
		s.marks |= markOf[string(name)]
		switch {
		case typ == unix.DT_DIR:
			s.folders = append(s.folders, string(name))
		case typ == unix.DT_SOCK:
			s.sockets = append(s.sockets, string(name))
		case typ == unix.DT_REG && isRef(k, string(name)):
			s.refs = append(s.refs, string(name))
		case isOdd(name, typ, k) && len(s.odd) >= mostOddFound:
			s.more = true
		case isOdd(name, typ, k):
			s.odd = append(s.odd, string(name))
		case string(name) == ".git", typ == unix.DT_LNK && isVCS(string(name)):
			s.other = append(s.other, string(name))
		case k&inherited == 0:
			if _, folder, ok := t.isObeyed(in, string(name)); ok && (!folder || typ == unix.DT_LNK) {
				s.other = append(s.other, string(name))
			} else if typ == unix.DT_LNK && t.leads(string(name)) != "" {
				s.other = append(s.other, string(name))
			}
		}
		s.cut = len(s.folders) >= mostFolders || len(s.other) >= mostKept || len(s.sockets) >= mostKept
		return !s.cut
	})
	return s, err
}

// isOdd tells links in git directories, and named pipes where git reads.
func isOdd(name []byte, typ uint8, k kind) bool {
	inside := k&(gitDir|admin|inGit) != 0
	return typ == unix.DT_LNK && inside || typ == unix.DT_FIFO && (inside || isReadByGit(string(name)))
}

// isReadByGit tells files of a work tree that git opens by their name.
func isReadByGit(name string) bool { return strings.HasPrefix(name, ".git") || name == ".mailmap" }

// isObeyed is of a name in a folder of the name in.
func (t *tree) isObeyed(in, name string) (reason string, folder, ok bool) {
	if t.opts.Obeyed == nil || isAside(name) { // a pattern, as "lefthook.*", would match what was moved aside
		return "", false, false
	}
	if reason, folder, ok = t.opts.Obeyed(name); !ok && t.opts.ObeyedIn != nil {
		return t.opts.ObeyedIn(in, name)
	}
	return reason, folder, ok
}

// leads says why a link of this name would be obeyed.
func (t *tree) leads(name string) string {
	if t.opts.Leads == nil || isAside(name) {
		return ""
	}
	if reason, ok := t.opts.Leads(name); ok {
		return reason
	}
	return ""
}

// scan watches a folder and then reads it, in this order, so that what appears in between is seen twice
// rather than never. It returns the subfolders to scan.
func (t *tree) scan(n *node, how origin, buf []byte) []*node {
	fd, err := n.base.folder(n.rel())
	if err != nil {
		t.cannotOpen(n, err)
		return nil
	}
	defer locked.Close(fd)
	k, known := t.register(fd, n)
	if known && how == byEvent {
		return nil // seen with its parent, after which its own events tell: else a chain of folders is read from each of its links
	}
	for {
		s, err := t.look(fd, buf, k, n.name)
		if err != nil {
			t.cannotOpen(n, err)
		}
		subs := t.note(n, s, how, fd)
		if !s.more || lookAt(fd, s.odd[0]).exists {
			return subs
		}
		_, _ = unix.Seek(fd, 0, unix.SEEK_SET) // what was odd is removed, and there is more of it
	}
}

// cannotOpen keeps what may be readable later; what is gone, or was no folder, has its own event.
func (t *tree) cannotOpen(n *node, err error) {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unreadable) < mostKept {
		t.unreadable = append(t.unreadable, n)
	}
}

// register watches an opened folder as what it is, and tells whether it was watched already under this name.
func (t *tree) register(fd int, n *node) (k kind, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.watchNode(fd, n)
	return n.kind, old != nil && old.stands(n)
}

// stands says that a node serves for another of the same folder.
func (n *node) stands(other *node) bool {
	return n.name == other.name && other.kind&^n.kind == 0 && n.length == other.length && n.base == other.base &&
		(n.parent == other.parent || n.path() == other.path())
}

// watchNode sets or widens a folder's watch. A folder that was known by another path, as it was moved here,
// goes by this one from now on; what it was known as is returned.
func (t *tree) watchNode(fd int, n *node) (old *node) {
	wd := t.watch(fd, n.kind)
	if wd < 0 {
		t.unwatched++
		return nil
	}
	if old = t.byWD[wd]; old == nil || !old.stands(n) {
		t.byWD[wd] = n
	}
	return old
}

// note writes down what a folder held and makes its subfolders' nodes.
func (t *tree) note(n *node, s sight, how origin, fd int) []*node {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.marks.isGitDir() && n.kind&(gitDir|admin) == 0 {
		t.becomesGitDir(n, how, fd)
	}
	t.flooded = t.flooded || s.more && t.rewalking
	if s.cut {
		t.short, t.cut = gaveUp, true
	}
	for _, name := range s.sockets {
		if len(t.sockets) < mostKept {
			t.sockets[join(n.path(), name)] = true
		}
	}
	for _, name := range s.odd {
		t.oddInGit(n, name, how)
	}
	for _, name := range s.refs {
		t.oddRef(n, name, how)
	}
	for _, name := range s.other {
		t.notice(n, name, false, how)
	}
	var subs []*node
	for _, name := range s.folders {
		if sub := t.sub(n, name, how); sub != nil {
			subs = append(subs, sub)
		}
	}
	return subs
}

// becomesGitDir takes a folder for the git directory that it now is, and watches it as one. Anyone can make a
// folder look like one, so that what is obeyed elsewhere is obeyed below it too.
func (t *tree) becomesGitDir(n *node, how origin, fd int) {
	n.kind |= gitDir
	if path := n.path(); t.gitDirs[path] && path != t.root.path {
		n.kind |= inGit
		if t.isRepository(path) {
			n.kind |= sure
		}
	}
	t.watchNode(fd, n)
	t.noteSite(n.path(), folderSite, how)
}

// mostFolders is how many folders one walk reads, watched or not, before it gives up on a hostile tree.
const mostFolders = 2_000_000

const gaveUp = "the workspace has more folders than can be looked at: what a run left in some of them is not known; look for what it made, and remove it"

// sub makes the node of a subfolder and notices what it is; nil when there is nothing to see in it.
func (t *tree) sub(n *node, name string, how origin) *node {
	k, skip := subKind(n, name)
	if skip {
		return nil
	}
	sub := &node{base: n.base, parent: n, name: name, kind: k, depth: n.depth + 1, length: n.length + int32(len(name)) + 1}
	if int(sub.length)+len(n.base.path) >= unix.PathMax {
		return nil // no program can name what lies below: getcwd(3) and open(2) fail there
	}
	t.notice(n, name, true, how)
	if k&(inherited|vcs) == 0 {
		if _, folder, ok := t.isObeyed(n.name, name); ok && folder {
			sub.kind |= obeyed
		}
	}
	if t.queued++; t.queued > t.opts.MaxFolders {
		t.short = "the workspace has more folders than the guard watches, so that its whole tree is read after each run"
	}
	if t.queued > mostFolders {
		t.short, t.cut = gaveUp, true
		return nil
	}
	return sub
}

// subKind tells what a subfolder is by its name and where it lies.
func subKind(n *node, name string) (k kind, skip bool) {
	k = n.kind & (inherited | refs)
	switch {
	case name == ".git":
		if k&inGit == 0 {
			k |= sure
		}
		return k | gitDir | inGit, false
	case n.kind&admins != 0:
		return k | admin, false
	case n.kind&objects != 0:
		return k, isFanOut(name) && n.kind&sure != 0
	case isVCS(name) && k&inGit == 0, n.kind&vcs != 0 && isVCSFolder(name):
		return k | vcs, false
	case n.kind&vcs != 0:
		return k | vendored, false
	case vendors[name]:
		return k | vendored, false
	}
	if n.kind&(gitDir|admin) == 0 {
		return k, false
	}
	switch name {
	case "hooks":
		k |= hooks
	case "worktrees":
		k |= admins
	case "objects":
		k |= objects | n.kind&sure
	case "refs":
		k |= refs
	}
	return k, gitData[name] && n.kind&sure != 0
}

// notice looks at one name in a folder: is it a repository, or obeyed?
func (t *tree) notice(n *node, name string, isFolder bool, how origin) {
	switch {
	case name == ".git" && isFolder:
		t.noteSite(join(n.path(), name), folderSite, how)
	case name == ".git":
		t.watchFile(n, name) // first: it may be empty yet, and what it says may come in between
		t.noteSite(join(n.path(), name), pointerSite, how)
	case isFolder && n.kind&admins != 0:
		t.noteSite(join(n.path(), name), adminSite, how)
	case isFolder && isVCS(name) && n.kind&inGit == 0:
		t.noteSite(join(n.path(), name), vcsSite, how)
	case isVCS(name) && n.kind&inGit == 0:
		t.noteObeyed(&item{path: join(n.path(), name), reason: "a version control program takes the repository from where it leads", folder: true}, how)
	case n.kind&inherited == 0:
		if reason, folder, ok := t.isObeyed(n.name, name); ok {
			t.noteObeyed(&item{path: join(n.path(), name), reason: reason, folder: folder}, how)
		} else if reason := t.leads(name); reason != "" && !isFolder && t.stampAt(join(n.path(), name)).link() {
			t.noteObeyed(&item{path: join(n.path(), name), reason: reason, link: true}, how)
		}
	}
}
