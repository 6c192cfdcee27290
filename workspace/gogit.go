package workspace

import (
	"os"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"code.sidecar.dev/workspace/looks"
	"code.sidecar.dev/workspace/plainfile"
)

// readBranch is the checked-out branch. go-git reads it where it opens the repository. Where it does not, HEAD
// is read here: go-git refuses extensions.worktreeConfig (which "git sparse-checkout set" sets), SHA-256,
// reftable and relativeWorktrees, and its error therefore never means that there is no repository.
func readBranch(l *looks.Looks, r *Repository) string {
	repo, err := openGoGit(l, r)
	if err != nil {
		return headBranch(l, r.GitDir)
	}
	head, err := repo.Reference(plumbing.HEAD, false)
	if err != nil || !head.Target().IsBranch() {
		return headBranch(l, r.GitDir)
	}
	return head.Target().Short()
}

// openGoGit opens a repository with go-git. It does what PlainOpenWithOptions does with
// EnableDotGitCommonDir, over file systems that refuse what is no plain file: a FIFO in place of HEAD would
// otherwise hang the open, and a check beforehand would leave a moment to exchange it.
func openGoGit(l *looks.Looks, r *Repository) (*git.Repository, error) {
	common := billy.Filesystem(nil)
	if r.CommonDir != r.GitDir {
		common = plainFS{osfs.New(r.CommonDir, osfs.WithBoundOS()), l}
	}
	dot := dotgit.NewRepositoryFilesystem(plainFS{osfs.New(r.GitDir, osfs.WithBoundOS()), l}, common)
	return git.Open(filesystem.NewStorage(dot, cache.NewObjectLRU(0)), nil)
}

// plainFS is a file system that only reads, and only plain files of bounded size.
type plainFS struct {
	billy.Filesystem
	looks *looks.Looks
}

func (p plainFS) Open(name string) (billy.File, error) {
	path := p.Join(p.Root(), name)
	f, err := plainfile.Open(path)
	if back := p.looks.Past(path, err); back != nil {
		f, err = plainfile.Open(path)
		back()
	}
	if err != nil {
		p.looks.NotOpened(path, err)
		return nil, err
	}
	p.looks.Opened(path, int(f.Fd()))
	return plainFile{f}, nil
}

func (p plainFS) OpenFile(name string, flag int, _ os.FileMode) (billy.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0 {
		return nil, billy.ErrReadOnly
	}
	return p.Open(name)
}

// Stat and Lstat take note; go-git opens whatever it makes use of.
func (p plainFS) Stat(name string) (os.FileInfo, error) {
	_, _ = p.looks.Stat(p.Join(p.Root(), name))
	return p.Filesystem.Stat(name)
}

func (p plainFS) Lstat(name string) (os.FileInfo, error) {
	_, _ = p.looks.Lstat(p.Join(p.Root(), name))
	return p.Filesystem.Lstat(name)
}

func (plainFS) Create(string) (billy.File, error)           { return nil, billy.ErrReadOnly }
func (plainFS) TempFile(string, string) (billy.File, error) { return nil, billy.ErrReadOnly }
func (plainFS) Rename(string, string) error                 { return billy.ErrReadOnly }
func (plainFS) Remove(string) error                         { return billy.ErrReadOnly }
func (plainFS) MkdirAll(string, os.FileMode) error          { return billy.ErrReadOnly }
func (plainFS) Symlink(string, string) error                { return billy.ErrReadOnly }

// plainFile is an open file of plainFS; nobody else's lock matters to a reader.
type plainFile struct{ *os.File }

func (plainFile) Lock() error   { return nil }
func (plainFile) Unlock() error { return nil }
