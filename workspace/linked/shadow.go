package linked

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"code.sidecar.dev/workspace/plainfile"
)

// shadow is a private git dir in which git sees the repository's objects and refs, one checkout's HEAD and index,
// and a config of ours.
//
// Git takes config, hooks and attributes from the common dir it is given, and nowhere else does the repository name
// a program: a promisor remote (which a missing object would be fetched from, through a program), a filter, a
// textconv, a monitor, an include are all config. So there is nothing to override, and no key that a newer git
// learns to obey needs to be known here. Refs are reached through a link to the repository's folder, so that git's
// own locks keep the person's git and this one apart; the log of refs is not, since git follows a link that stands
// in the place of a log.
type shadow struct {
	trees *Trees
	dir   string
	// index and tree are the checkout's index file and folder. Before at names them they are absent and empty: a session
	// can make a FIFO of its index or of a .gitattributes, and git reads both where it has no need to.
	index, tree string
}

// prefix of private git dirs in the folder of worktrees; no worktree's folder begins with a dot.
const prefix = ".git-"

// shadow makes a private git dir that has the HEAD of gitDir.
func (t *Trees) shadow(gitDir string) (*shadow, error) {
	if err := t.makeFolder(); err != nil {
		return nil, err
	}
	t.sweep()
	dir, err := os.MkdirTemp(t.Folder, prefix)
	if err != nil {
		return nil, err
	}
	s := &shadow{trees: t, dir: dir, index: filepath.Join(dir, "index"), tree: dir}
	if err := errors.Join(s.fill(gitDir), s.links(gitDir)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// at says of which folder and index git is to speak.
func (s *shadow) at(tree, gitDir string) {
	s.tree, s.index = tree, filepath.Join(gitDir, "index")
}

func (s *shadow) close() { _ = os.RemoveAll(s.dir) }

// fill writes the files that the private git dir has of its own.
func (s *shadow) fill(gitDir string) error {
	head, err := readHead(gitDir)
	if err != nil {
		return err
	}
	files := map[string][]byte{"config": []byte(s.trees.config(s.dir)), "HEAD": []byte(head + "\n")}
	for _, name := range []string{"FETCH_HEAD", "ORIG_HEAD"} { // what a base may be named by
		if data, err := plainfile.Read(filepath.Join(gitDir, name)); err == nil {
			files[name] = data
		}
	}
	for name, data := range s.trees.data {
		files[name] = data
	}
	for name, data := range files {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// links makes the repository's refs, and the shared part of a split index, appear in the private git dir.
func (s *shadow) links(gitDir string) error {
	packed := filepath.Join(s.trees.Common, "packed-refs")
	if info, err := os.Lstat(packed); err == nil && !info.Mode().IsRegular() {
		return refuse(s.trees.ws.Root, packed+" is no plain file", "git would write where it leads")
	}
	if err := os.Symlink(packed, filepath.Join(s.dir, "packed-refs")); err != nil {
		return err
	}
	shared, _ := filepath.Glob(filepath.Join(globQuote(gitDir), "sharedindex.*"))
	for _, path := range shared[:min(len(shared), 16)] {
		_ = os.Symlink(path, filepath.Join(s.dir, filepath.Base(path)))
	}
	return os.Symlink(filepath.Join(s.trees.Common, "refs"), filepath.Join(s.dir, "refs"))
}

func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

var objectID = regexp.MustCompile(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

// readHead is what a checkout's HEAD says: "ref: refs/heads/NAME", or a commit. It may be a link, as git made them
// once.
func readHead(gitDir string) (string, error) {
	path := filepath.Join(gitDir, "HEAD")
	target, err := os.Readlink(path)
	if err == nil {
		target = "ref: " + target
	} else {
		data, err := plainfile.Read(path)
		if err != nil {
			return "", err
		}
		target = strings.TrimSpace(string(data))
	}
	if rest, ok := strings.CutPrefix(target, "ref:"); ok {
		if ref := strings.TrimLeft(rest, " \t"); strings.HasPrefix(ref, "refs/") && !strings.ContainsAny(ref, "\n\x00") {
			return "ref: " + ref, nil
		}
	} else if objectID.MatchString(target) {
		return target, nil
	}
	return "", fmt.Errorf("%s is no HEAD of git's: it says %.60q", path, target)
}

// makeFolder makes the folder of the repository's worktrees, for this user only.
func (t *Trees) makeFolder() error {
	if err := os.MkdirAll(t.Folder, 0o700); err != nil {
		return fmt.Errorf("the folder for worktrees: %w", err)
	}
	info, err := os.Lstat(t.Folder)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("the folder for worktrees, %s, is not a folder of yours", t.Folder)
	}
	return nil
}

// sweep clears away what a killed process left; git has no business of a day.
func (t *Trees) sweep() {
	old, _ := filepath.Glob(filepath.Join(globQuote(t.Folder), prefix+"*"))
	for _, dir := range old {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}
