//go:build unix

package guard

import (
	"errors"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// base is a folder below which the guard opens things. It is opened once: what its path leads to later does
// not matter.
type base struct {
	path string
	fd   int
	// sound says that the file system, dev, is one whose stamps tell every change.
	sound bool
	dev   uint64
}

const (
	// folderFlags open a folder for reading, or to act in it.
	folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	// fileFlags open what may be anything: a FIFO must not block, a terminal must not become ours.
	fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	// longPath is below PATH_MAX: longer ones are opened in steps.
	longPath = 4000
)

func openBase(path string) (*base, error) {
	fd, err := unix.Open(path, stepFlags, 0)
	if err != nil {
		return nil, err
	}
	b := &base{path: path, fd: fd}
	b.judgeSoundness()
	return b, nil
}

// folder opens the folder at rel ("." is the base itself), for locked.Close; no link on the way is followed, and nothing that
// others swap meanwhile leads outside.
func (b *base) folder(rel string) (int, error) {
	fd, err := b.unlocked(rel)
	if locked.Refused(err) {
		return locked.Folder(b.fd, rel)
	}
	locked.Join(fd)
	return fd, err
}

// entered ends a path to a folder that is to be entered, which reading alone does not need.
const entered = "/."

// folderIn is folder for one in an opened folder.
func folderIn(dir int, name string) (int, error) {
	fd, err := openBeneath(dir, name+entered, folderFlags)
	if locked.Refused(err) {
		return locked.Folder(dir, name)
	}
	locked.Join(fd)
	return fd, err
}

// unlocked is folder for who has all rights.
func (b *base) unlocked(rel string) (int, error) {
	fd, owned := b.fd, false
	for len(rel) > longPath {
		cut := strings.LastIndexByte(rel[:longPath], '/')
		if cut <= 0 {
			return -1, unix.ENAMETOOLONG
		}
		next, err := openBeneath(fd, rel[:cut], stepFlags)
		if owned {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd, owned, rel = next, true, rel[cut+1:]
	}
	out, err := openBeneath(fd, rel+entered, folderFlags)
	if owned {
		unix.Close(fd)
	}
	return out, err
}

// stepwise opens rel one component at a time, where the kernel has no way of its own to refuse links.
func stepwise(fd int, rel string, flags int) (int, error) {
	owned := false
	names := strings.Split(rel, "/")
	for i, name := range names {
		if name == ".." || name == "" {
			return -1, unix.EXDEV
		}
		how := stepFlags
		if i == len(names)-1 {
			how = flags
		}
		next, err := unix.Openat(fd, name, how|unix.O_NOFOLLOW, 0)
		if owned {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd, owned = next, true
	}
	return fd, nil
}

// within gives the path of an absolute path below the base, "." for the base itself.
func (b *base) within(path string) (rel string, ok bool) {
	if path == b.path {
		return ".", true
	}
	if b.path == "/" {
		return strings.TrimPrefix(path, "/"), true
	}
	return strings.CutPrefix(path, b.path+"/")
}

// stamp is what tells one state of a file from another. ctime cannot be set by who owns the file.
type stamp struct {
	exists   bool
	dev, ino uint64
	ctime    int64
	size     int64
	mode     uint32
	nlink    uint64
}

// lookAt reads the stamp of name in the folder, a link's own.
func lookAt(dir int, name string) stamp {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stamp{}
	}
	return stampOf(&st)
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{exists: true, dev: uint64(st.Dev), ino: st.Ino, ctime: ctimeOf(st), size: st.Size,
		mode: uint32(st.Mode), nlink: uint64(st.Nlink)}
}

func (s stamp) folder() bool { return s.mode&unix.S_IFMT == unix.S_IFDIR }
func (s stamp) file() bool   { return s.mode&unix.S_IFMT == unix.S_IFREG }
func (s stamp) link() bool   { return s.mode&unix.S_IFMT == unix.S_IFLNK }
func (s stamp) fifo() bool   { return s.mode&unix.S_IFMT == unix.S_IFIFO }

// same says that nothing shows a change. A folder's own stamp changes with its entries. A file's tells nothing where the file
// system is not known to move it with each change.
func (s stamp) same(o stamp) bool {
	if s != o || !s.file() {
		return s == o
	}
	_, isUnsound := unsound.Load(s.dev)
	return !isUnsound
}

// unsound are the devices whose stamps do not tell all changes.
var unsound sync.Map

// largestRead bounds what is read of a file that a run may have written.
const largestRead = 256 << 10

var errNotPlain = errors.New("not a plain file")

// readFile reads a small regular file; anything else is an error.
func readFile(dir int, name string) ([]byte, stamp, error) {
	fd, err := locked.File(dir, name, fileFlags)
	if err != nil {
		if locked.Refused(err) {
			return nil, lookAt(dir, name), err // there is something
		}
		return nil, stamp{}, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, stamp{}, err
	}
	s := stampOf(&st)
	if !s.file() || s.size > largestRead {
		return nil, s, errNotPlain
	}
	text, err := readAll(fd, int(s.size))
	return text, s, err
}

func readAll(fd, size int) ([]byte, error) {
	buf := make([]byte, 0, size+1)
	for len(buf) <= largestRead {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return buf, err
		}
		buf = buf[:len(buf)+n]
	}
	return nil, errNotPlain
}

// readLink reads a link's target, "" when it is none.
func readLink(dir int, name string) string {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}
