package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"code.sidecar.dev/workspace/looks"
)

// Options say how Discover looks.
type Options struct {
	// Env gives the asker's environment variables (GIT_DIR, GIT_WORK_TREE, GIT_CEILING_DIRECTORIES, HOME, …); nil
	// is os.Getenv.
	Env func(string) string
	// Looks, when set, takes note of all that Discover and the workspace's methods look at.
	Looks *looks.Looks
}

// Errors that say why a folder is no workspace; the error of Discover wraps one of them and says what to do.
var (
	ErrNotExist    = errors.New("does not exist")
	ErrNotFolder   = errors.New("is not a folder")
	ErrNotReadable = errors.New("cannot be read")
)

// FolderError says that a folder cannot be a workspace.
type FolderError struct {
	// Path is the folder as it was asked for.
	Path string
	// Kind is ErrNotExist, ErrNotFolder or ErrNotReadable.
	Kind error
	// Hint says what to do.
	Hint string
	// Err is the system's own error, or nil.
	Err error
}

// Error says what is wrong with the folder and, on a line of its own, what to do.
func (e *FolderError) Error() string {
	msg := fmt.Sprintf("workspace %q %v", e.Path, e.Kind)
	if e.Kind == ErrNotReadable && e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg + "\n" + e.Hint
}

// Unwrap gives the kind and the system's error.
func (e *FolderError) Unwrap() []error { return []error{e.Kind, e.Err} }

// Discover finds the workspace that dir lies in: the top of the git work tree around it, else the nearest
// folder above it with a project's marker, else dir itself. It fails only when dir is no readable folder;
// whatever is wrong with a repository is a note.
func Discover(dir string, opts Options) (*Workspace, error) {
	ws, found, err := locate(dir, opts)
	if err != nil {
		return nil, err
	}
	ws.host = ws.loadHost()
	switch {
	case found == nil:
	case found.gitDir == "":
		ws.broken = found // a pointer that leads nowhere: git goes no further up, and neither do we
	default:
		ws.Repo = ws.open(found)
		ws.listWorktrees(ws.Repo)
		ws.listSubmodules(ws.Repo)
	}
	if err := ws.lockedOut(dir); err != nil {
		return nil, err
	}
	return ws, nil
}

// Settled ends the taking note of looks: what is asked of the workspace from here on is not part of a result.
func (ws *Workspace) Settled() { ws.looks = nil }

// Copy is a workspace of its own, to add notes and nested repositories to.
func (ws *Workspace) Copy() *Workspace {
	c := *ws
	c.Notes, c.Nested = slices.Clone(ws.Notes), slices.Clone(ws.Nested)
	return &c
}

// Root is Discover's Root alone, which costs next to nothing: no repository is read.
func Root(dir string, opts Options) (string, error) {
	ws, _, err := locate(dir, opts)
	if err != nil {
		return "", err
	}
	return ws.Root, nil
}

// locate finds the root, and what is to be read of the repository there, if it is one.
func locate(dir string, opts Options) (*Workspace, *found, error) {
	start, err := resolveFolder(opts.Looks, dir)
	if err != nil {
		return nil, nil, err
	}
	ws := &Workspace{Root: start, Dir: start, env: opts.Env, looks: opts.Looks}
	if ws.looks != nil {
		ws.env = ws.looks.Getenv
	}
	ws.looks.Unlock(start)
	if ws.env == nil {
		ws.env = os.Getenv
	}
	if home := ws.env("HOME"); filepath.IsAbs(home) {
		ws.home = realPath(ws.looks, home)
	}
	found := ws.fromEnv(start)
	if found == nil {
		found = ws.walkUp(start)
	}
	if found == nil || !ws.accept(found) {
		ws.Root, ws.Marker = markedRoot(ws.looks, start, ws.home)
		return ws, nil, nil
	}
	ws.Root, ws.Marker = found.top, ".git"
	ws.looks.Unlock(ws.Root)
	return ws, found, nil
}

// accept says whether what was found may make its folder the root. Git's own rule against strangers'
// repositories (safe.directory) and the rule that nobody's whole home is a workspace unless named keep a
// repository above dir from widening what a run can write.
func (ws *Workspace) accept(f *found) bool {
	if f.top == ws.Dir || f.fromEnv {
		ws.noteOwner(f)
		return true
	}
	if f.top == "/" || inside(ws.home, f.top) {
		ws.note("the repository at %s is not used: it covers your whole home; name a folder below it, or it itself, as the workspace", f.top)
		return false
	}
	if owner, other := otherOwner(ws.looks, f.entry()); other {
		ws.note("the repository at %s is not used: it belongs to another user (uid %d); name that folder as the workspace to use it", f.top, owner)
		return false
	}
	return true
}

func (ws *Workspace) noteOwner(f *found) {
	for _, path := range []string{f.top, f.entry()} {
		if owner, other := otherOwner(ws.looks, path); other {
			ws.note("%s belongs to another user (uid %d): git refuses it unless safe.directory names it", path, owner)
			return
		}
	}
}

func (ws *Workspace) note(format string, args ...any) {
	ws.Notes = append(ws.Notes, fmt.Sprintf(format, args...))
}

// otherOwner tells whether path is owned by someone else than this user; for root, whoever called sudo
// counts as this user too, as in git's ensure_valid_ownership.
func otherOwner(l *looks.Looks, path string) (uint32, bool) {
	st, err := l.Lstat(path)
	if err != nil || int(st.Uid) == os.Geteuid() {
		return 0, false
	}
	if os.Geteuid() == 0 && os.Getenv("SUDO_UID") == fmt.Sprint(st.Uid) {
		return 0, false
	}
	return st.Uid, true
}

func resolveFolder(l *looks.Looks, dir string) (string, error) {
	if dir == "" || strings.ContainsRune(dir, 0) {
		return "", &FolderError{Path: dir, Kind: ErrNotExist, Hint: "name a folder"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", folderError(dir, err)
	}
	real, err := l.Real(abs)
	if err != nil {
		return "", folderError(dir, err)
	}
	st, err := l.Lstat(real) // its mode says whether it can be opened
	if err != nil {
		return "", folderError(dir, err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return "", &FolderError{Path: dir, Kind: ErrNotFolder, Hint: fmt.Sprintf("name the folder that holds it: %s", filepath.Dir(abs))}
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", folderError(dir, err)
	}
	return real, f.Close()
}

func folderError(dir string, err error) error {
	e := &FolderError{Path: dir, Kind: ErrNotReadable, Err: err, Hint: "make it readable for this user, or name another folder"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Hint = ErrNotExist, "make it, or name one that exists"
	case errors.Is(err, syscall.ENOTDIR):
		e.Kind, e.Hint = ErrNotFolder, "a part of the path is a file; name a folder"
	}
	return e
}

// realPath resolves links as far as path exists.
func realPath(l *looks.Looks, path string) string {
	if real, err := l.Real(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// inside tells whether path is root or lies below it.
func inside(path, root string) bool {
	return path == root || root == "/" || strings.HasPrefix(path, root) && path[len(root)] == '/'
}
