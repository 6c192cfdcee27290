package linked

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/gitconfig"
	"code.sidecar.dev/workspace/plainfile"
)

// Trees are the agents' worktrees of one repository.
type Trees struct {
	// Folder is where they lie: one folder for each repository, told apart by its common git dir.
	Folder string
	// Main is the person's main checkout, or the git dir of a bare repository.
	Main string
	// Common is the git dir that all worktrees share.
	Common string

	ws     *workspace.Workspace
	opts   Options
	bare   bool
	format format
	looks  [][2]string       // settings that decide what a file looks like
	data   map[string][]byte // files of patterns that git reads beside the tree, by their place in a private git dir
	lock   *os.File          // while it is held
}

// format is what the repository's config says about how it is stored (gitrepository-layout(5), "config").
type format struct{ object, refs string }

// Open finds the agents' worktrees of the repository that ws lies in, whichever checkout of it that is. It makes
// nothing.
func Open(ws *workspace.Workspace, opts Options) (*Trees, error) {
	if err := usable(ws); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(opts.Folder) || !filepath.IsAbs(opts.Git) {
		return nil, refuse(ws.Root, fmt.Sprintf("git and the folder of worktrees must have absolute paths, have %q and %q", opts.Git, opts.Folder),
			"install git, and set a folder")
	}
	t := &Trees{Common: ws.Repo.CommonDir, ws: ws, opts: opts}
	if err := t.readFormat(); err != nil {
		return nil, err
	}
	t.Main = t.mainCheckout()
	folder, err := t.place()
	if err != nil {
		return nil, err
	}
	t.Folder = folder
	t.readSettings()
	return t, nil
}

func refuse(root, why, hint string) error {
	return &Error{Kind: ErrRepository, Msg: fmt.Sprintf("worktrees of %q: %s", root, why), Hint: hint}
}

// usable says why no worktree can be made of a workspace's repository.
func usable(ws *workspace.Workspace) error {
	r := ws.Repo
	if r == nil {
		return refuse(ws.Root, "there is no git repository here", `make one with "git init" and a first commit, or go to one`)
	}
	if r.Suspect != "" && (!r.Bare || r.GitDir != ws.Root) {
		return refuse(ws.Root, r.GitDir+": "+r.Suspect, `see what "git worktree list" says there`)
	}
	if uid, other := ws.Stranger(); other && !trusted(ws) {
		return refuse(ws.Root, fmt.Sprintf("%s belongs to another user (uid %d), and git would obey its config in the new worktree", r.CommonDir, uid),
			fmt.Sprintf("if you trust it: git config --global --add safe.directory %s", ShellQuote(ws.Root)))
	}
	for _, name := range []string{"refs", "refs/heads", "worktrees"} {
		if err := isRealFolder(filepath.Join(r.CommonDir, name)); err != nil && (name != "worktrees" || !os.IsNotExist(err)) {
			return refuse(ws.Root, err.Error(), "worktrees are made only of repositories that hold what is theirs")
		}
	}
	return nil
}

// isRealFolder refuses links: what is written below must not land elsewhere.
func isRealFolder(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder of its own", path)
	}
	return err
}

// trusted tells whether the person's own config says so (safe.directory in git-config(1)).
func trusted(ws *workspace.Workspace) bool {
	ok := false
	for _, e := range ws.HostSettings().Entries {
		if e.Key != "safe.directory" {
			continue
		}
		switch value := strings.TrimSuffix(e.Value, "/"); {
		case e.Value == "":
			ok = false // an empty value forgets the ones before
		case value == "*" || value == ws.Root || value == ws.Repo.GitDir:
			ok = true
		case strings.HasSuffix(value, "/*") && strings.HasPrefix(ws.Root, value[:len(value)-1]):
			ok = true
		}
	}
	return ok
}

// readFormat reads what git reads before anything else, of the config file alone, without what it includes
// (read_repository_format in git's setup.c).
func (t *Trees) readFormat() error {
	path := filepath.Join(t.Common, "config")
	data, err := plainfile.ReadThrough(path)
	if err != nil && !os.IsNotExist(err) {
		return refuse(t.ws.Root, err.Error(), "git would not read it either")
	}
	entries, err := gitconfig.Parse(path, data)
	if err != nil {
		return refuse(t.ws.Root, err.Error(), "mend that line")
	}
	c := &gitconfig.Config{Entries: entries}
	t.bare = c.Bool("core.bare")
	t.format.object, _ = c.Last("extensions.objectformat")
	t.format.refs, _ = c.Last("extensions.refstorage")
	if t.format.refs != "" && t.format.refs != "files" {
		return refuse(t.ws.Root, fmt.Sprintf("its refs are stored as %q", t.format.refs),
			`make the worktree with "git worktree add" and start sidecar there`)
	}
	if t.format.object != "" && t.format.object != "sha1" && t.format.object != "sha256" {
		return refuse(t.ws.Root, fmt.Sprintf("its objects are stored as %q", t.format.object), "update sidecar")
	}
	return nil
}

// mainCheckout is where the person takes an agent's commits.
func (t *Trees) mainCheckout() string {
	if !t.ws.Repo.Linked && t.ws.Repo.WorkTree != "" {
		return t.ws.Repo.WorkTree
	}
	if !t.bare && filepath.Base(t.Common) == ".git" {
		return filepath.Dir(t.Common)
	}
	return t.Common
}

// place is the folder of this repository's worktrees; it must lie where no checkout of the repository reaches.
func (t *Trees) place() (string, error) {
	base := realAsFar(filepath.Clean(t.opts.Folder))
	for _, dir := range append(t.checkouts(), t.Common) {
		if within(base, dir) || within(dir, base) && dir == base {
			return "", refuse(t.ws.Root, fmt.Sprintf("the folder for worktrees, %s, lies in %s", base, dir),
				"choose one outside of the repository: editors and git would take its files for the checkout's, and runs could write there")
		}
	}
	name := strings.TrimSuffix(filepath.Base(t.Common), ".git")
	if name == "" {
		name = filepath.Base(filepath.Dir(t.Common))
	}
	sum := sha256.Sum256([]byte(t.Common))
	return filepath.Join(base, strings.TrimLeft(name, ".-")+"-"+hex.EncodeToString(sum[:6])), nil
}

// checkouts are the folders of the main checkout and of linked worktrees that are not ours.
func (t *Trees) checkouts() []string {
	out := []string{t.Main}
	for _, w := range t.ws.Repo.Worktrees {
		if w.Path != "" && !within(w.Path, realAsFar(t.opts.Folder)) {
			out = append(out, w.Path)
		}
	}
	return out
}

// realAsFar resolves the links of the part of path that exists.
func realAsFar(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realAsFar(dir), filepath.Base(path))
	}
	return path
}

// within tells whether path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
