package looks

import (
	"syscall"
	"time"
)

// stamp is what tells one state of a file from another; the zero value is an absent one.
type stamp struct {
	mode, uid   uint32
	dev, ino    uint64
	size, links int64
	ctime       syscall.Timespec
	mtime       syscall.Timespec
}

// stampOf is the stamp that a look gave; not ok when it could not look.
func stampOf(st *syscall.Stat_t, err error) (stamp, bool) {
	switch {
	case isAbsent(err), err == syscall.ENOTDIR: // a part of the way is no folder
		return stamp{}, true
	case err != nil:
		return stamp{}, false
	}
	return stamp{uint32(st.Mode), st.Uid, uint64(st.Dev), st.Ino, st.Size, int64(st.Nlink), st.Ctim, st.Mtim}, true //nolint:unconvert // types differ between processors
}

// kind is the type, as of an lstat.
func (s stamp) kind() (uint32, error) {
	if s == (stamp{}) {
		return 0, syscall.ENOENT
	}
	return s.mode & syscall.S_IFMT, nil
}

func (s stamp) isFolder() bool { return s.mode&syscall.S_IFMT == syscall.S_IFDIR }
func (s stamp) device() uint64 { return s.dev }

// same says that a look of this depth would show the same.
func (s stamp) same(o stamp, d depth) bool {
	switch d {
	case kindOnly:
		return s.mode&syscall.S_IFMT == o.mode&syscall.S_IFMT
	case owner:
		return s.mode == o.mode && s.uid == o.uid && s.dev == o.dev
	case listed:
		return s.mode == o.mode && s.uid == o.uid && s.dev == o.dev && s.ino == o.ino
	}
	return s == o
}

// How near to a look a change may be for another one to have the same time: the longest tick of the kernel's
// coarse clock, twice; and where times have no fractions, as much as any file system rounds.
const (
	tick   = 20 * time.Millisecond
	coarse = 3 * time.Second
)

// isSettled says that a file that was looked at after a time had been left alone for long enough.
func (s stamp) isSettled(looked time.Time) bool {
	margin := tick
	if s.ctime.Nsec == 0 {
		margin = coarse
	}
	return time.Unix(s.ctime.Unix()).Before(looked.Add(-margin))
}

// sound are the file systems that are known to move a file's change time with each change and a folder's with
// each of its entries (linux/magic.h): ext4, xfs, btrfs, overlayfs, f2fs, zfs, bcachefs. Not those of
// other machines and of programs: what they show may be old; nor tmpfs, which does not notice the write of who has mapped a page
// and read it before.
var sound = map[int64]bool{0xef53: true, 0x58465342: true, 0x9123683e: true, 0x794c7630: true,
	0xf2f52010: true, 0x2fc12fc1: true, 0xca451a4e: true}

// isSound says that the file system at a path is one of them.
func isSound(path string) bool {
	var st syscall.Statfs_t
	return ignoringEINTR(func() error { return syscall.Statfs(path, &st) }) == nil && sound[int64(st.Type)&0xffffffff]
}

// IsSound says that a file system keeps change times well enough to tell by them that nothing has changed.
func IsSound(fd int) bool {
	var st syscall.Statfs_t
	return ignoringEINTR(func() error { return syscall.Fstatfs(fd, &st) }) == nil && sound[int64(st.Type)&0xffffffff]
}
