//go:build unix

// Package locked opens folders and files that their owner, who is this user, has no right to read, enter or change.
//
//	fd, err := locked.Folder(root, "a/b")
//	defer locked.Close(fd)
//
// A run has its user's id: it can lock a folder behind what it left in it, and the next run, or the person, can open it
// again. So whoever looks for what runs leave must not take what is locked for empty. But a person locks folders,
// too, and nothing tells afterwards who did. So what is locked is opened for as long as it is looked into, or changed, and then
// has the mode again that it had: nobody's mode is ever another afterwards, whoever it was that locked.
//
// Nothing is done by a path: what gets another mode is what was opened, with no link followed, and it is this user's own.
package locked

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// all is what is needed to look into a folder and to change it.
	all = 0o700
	// folderFlags open a folder for reading.
	folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	modeBits    = 0o7777
)

type inode struct{ dev, ino uint64 }

// loan is a folder that has another mode for the while.
type loan struct {
	inode inode
	// was is its mode before, is the one it was given.
	was, is uint32
	// users share it: the first to end must not lock it for the others.
	users int
}

var (
	mu    sync.Mutex
	loans = map[inode]*loan{}
	// byFD are the loans that Close ends.
	byFD = map[int]*loan{}
	// open says how many loans there are, ever that there was one: where there are none nothing is asked.
	open atomic.Int32
	ever atomic.Bool
)

// Refused says that an error may be for lack of a right of the owner's.
func Refused(err error) bool { return errors.Is(err, unix.EACCES) }

// Folder opens the folder at rel below at, "." for at itself. No link is followed. What is locked on the way is opened for one
// step, the folder itself until Close.
func Folder(at int, rel string) (int, error) {
	fd, owned := at, false
	for name := range strings.SplitSeq(rel, "/") {
		if name == "." {
			continue
		}
		next, err := step(fd, name)
		if owned {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd, owned = next, true
	}
	out, err := read(fd)
	if owned {
		unix.Close(fd)
	}
	return out, err
}

// At is Folder for an absolute path.
func At(path string) (int, error) {
	top, err := unix.Open("/", stepFlags, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(top)
	return Folder(top, strings.Trim("./"+strings.Trim(path, "/"), "/"))
}

func step(dir int, name string) (int, error) {
	if name == ".." || name == "" {
		return -1, unix.EXDEV
	}
	fd, err := unix.Openat(dir, name, stepFlags, 0)
	if !Refused(err) {
		return fd, err
	}
	defer Lend(dir)()
	return stepInto(dir, name)
}

// read opens a folder that may be open as a mere path for reading.
func read(dir int) (int, error) {
	mu.Lock()
	defer mu.Unlock()
	l, err := take(dir, all)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Openat(dir, ".", folderFlags, 0)
	if l == nil {
		return fd, err
	}
	if err != nil {
		l.end(dir)
		return -1, err
	}
	byFD[fd] = l
	return fd, nil
}

// Join is for who opened a folder without needing this package: should that have gone well only because somebody else had it opened, it
// is open until Close.
func Join(fd int) {
	if fd >= 0 && ever.Load() {
		lend(fd, 0o500)
	}
}

// Close closes what Folder and At opened, and what was given to Join. It may be any folder.
func Close(fd int) {
	if open.Load() > 0 {
		mu.Lock()
		defer mu.Unlock()
		if l := byFD[fd]; l != nil {
			delete(byFD, fd)
			l.end(fd)
		}
	}
	unix.Close(fd)
}

// List is At for who only lists the folder: it has its mode again when List returns.
func List(path string) (int, error) {
	fd, err := At(path)
	if err == nil {
		mu.Lock()
		defer mu.Unlock()
		if l := byFD[fd]; l != nil {
			delete(byFD, fd)
			l.end(fd)
		}
	}
	return fd, err
}

// Way opens all that is locked on the way to an absolute path, and what is there, until back is called: for who has to look by the path
// itself. Where a link or nothing is on the way it ends.
func Way(path string) (back func()) {
	var way []int
	fd, err := unix.Open("/", stepFlags, 0)
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if err != nil {
			break
		}
		way = append(way, fd)
		lend(fd, 0o100)
		if fd, err = stepInto(fd, name); errors.Is(err, unix.ENOTDIR) {
			fd, err = openFile(way[len(way)-1], name)
		}
	}
	if err == nil {
		way = append(way, fd)
		lend(fd, 0o500)
	}
	return func() {
		for _, fd := range slices.Backward(way) {
			Close(fd)
		}
	}
}

// Act is for who opened a folder, maybe as a mere path, and wants to change what is in it until Close.
func Act(fd int) { lend(fd, all) }

// lend has a loan end with Close.
func lend(fd int, need uint32) {
	mu.Lock()
	defer mu.Unlock()
	if l, err := take(fd, need); l != nil && err == nil {
		byFD[fd] = l
	}
}

// Lend lets an opened folder be entered and changed until back is called. It may be open as a mere path.
func Lend(dir int) (back func()) {
	mu.Lock()
	defer mu.Unlock()
	l, err := take(dir, all)
	if l == nil || err != nil {
		return func() {}
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		l.end(dir)
	}
}

// Change does something in an opened folder, and does it again with the folder lent if that was refused.
func Change(dir int, do func() error) error {
	err := do()
	if Refused(err) {
		back := Lend(dir)
		err = do()
		back()
	}
	return err
}

// take gives the owner what he needs of a folder, or of a file for reading; nil when he has it, or it is not this user's.
func take(dir int, need uint32) (*loan, error) {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return nil, err
	}
	id, mode := inodeOf(&st), uint32(st.Mode)&modeBits
	l := loans[id]
	if isLockedFile(&st) {
		need = 0o400
	}
	if mode&need != need && (isOwn(&st, unix.S_IFDIR) || isLockedFile(&st)) {
		if l == nil {
			l = &loan{inode: id}
		}
		if err := chmod(dir, mode|need); err != nil {
			return nil, err
		}
		_ = unix.Fstat(dir, &st)                     // the kernel may have left out a bit
		l.was, l.is = mode, uint32(st.Mode)&modeBits // also if it was locked once more while it was lent
	}
	if l == nil {
		return nil, nil
	}
	if l.users == 0 {
		loans[id] = l
		open.Add(1)
		ever.Store(true)
	}
	l.users++
	return l, nil
}

// end gives a folder its mode back with its last user, unless somebody has changed it meanwhile.
func (l *loan) end(dir int) {
	if l.users--; l.users > 0 {
		return
	}
	delete(loans, l.inode)
	open.Add(-1)
	var st unix.Stat_t
	if unix.Fstat(dir, &st) == nil && inodeOf(&st) == l.inode && uint32(st.Mode)&modeBits == l.is {
		_ = chmod(dir, l.was)
	}
}

// File opens a file of the folder for reading, and one that its owner may not read for the moment that this takes. It must have no
// other name then, which may lie elsewhere.
func File(dir int, name string, flags int) (int, error) {
	fd, err := unix.Openat(dir, name, flags, 0)
	if !Refused(err) {
		return fd, err
	}
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || !isLockedFile(&st) {
		return -1, err
	}
	return lockedFile(dir, name, flags)
}

func isLockedFile(st *unix.Stat_t) bool {
	return isOwn(st, unix.S_IFREG) && st.Nlink == 1 && st.Mode&0o400 == 0
}

func isOwn(st *unix.Stat_t, kind uint32) bool {
	return int(st.Uid) == unix.Geteuid() && uint32(st.Mode)&unix.S_IFMT == kind
}

func inodeOf(st *unix.Stat_t) inode { return inode{uint64(st.Dev), st.Ino} }
