package workspace

import (
	"fmt"
	"os"
	"syscall"
)

// lockedOut is the error for a repository of which something cannot be looked at since this user's rights to it were taken. Git
// does not see it either, but a run could give itself the rights, and what it holds would not be protected: so runs wait until
// it is open. Of the workspace itself that is only what could not be unlocked: see Looks.Unlock. Of what lies outside nobody's mode is
// changed.
func (ws *Workspace) lockedOut(dir string) error {
	for _, path := range ws.looks.Denied() {
		if !ws.isOfRepository(path) {
			continue
		}
		if at, mode := ws.lockOn(path); at != "" {
			return &FolderError{Path: dir, Kind: ErrNotReadable, Err: fmt.Errorf("%s is locked (its mode is %04o)", at, mode),
				Hint: "a run may have done that; open it again, and look what is in it: chmod u+rwX " + at}
		}
	}
	return nil
}

// isOfRepository says that a path lies in the workspace or in its git directories. Nothing else there is looked at so early.
func (ws *Workspace) isOfRepository(path string) bool {
	if inside(path, ws.Root) {
		return true
	}
	return ws.Repo != nil && (inside(path, ws.Repo.GitDir) || inside(path, ws.Repo.CommonDir))
}

// lockOn finds what keeps this user, who owns it, from a path: a folder above it or the path itself.
func (ws *Workspace) lockOn(path string) (at string, mode os.FileMode) {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		st, err := ws.looks.Lstat(path[:i])
		if err != nil || int(st.Uid) != os.Geteuid() {
			continue
		}
		mode, isFolder := os.FileMode(st.Mode)&os.ModePerm, st.Mode&syscall.S_IFMT == syscall.S_IFDIR
		if isFolder && mode&0o100 == 0 || !isFolder && mode&0o400 == 0 {
			return path[:i], mode
		}
	}
	return "", 0
}

// noteLocked tells of a nested repository that could not be unlocked: the guard alone, which looks into it with its owner's rights, knows what
// happened to it.
func (ws *Workspace) noteLocked(path string) {
	if at, mode := ws.lockOn(path + "/HEAD"); at != "" && inside(at, ws.Root) {
		ws.note("%s is locked (its mode is %04o), so that the repository %s is not held, and is looked at after each run only", at, mode, path)
	}
}
