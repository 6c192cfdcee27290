package guard

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const stepFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// noOpenat2 remembers that the kernel (before 5.6) or a container's filter has no openat2.
var noOpenat2 atomic.Bool

func openBeneath(fd int, rel string, flags int) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for tries := 0; !noOpenat2.Load() && tries < 100; tries++ {
		out, err := unix.Openat2(fd, rel, &how)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
			noOpenat2.Store(true)
			break
		}
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return out, err
		}
	}
	return stepwise(fd, rel, flags)
}

func ctimeOf(st *unix.Stat_t) int64 { return st.Ctim.Nano() }

// now reads the clock that the kernel stamps files with, which lags behind the fine one by up to a tick: a
// file changed after now returned has a ctime no earlier.
func now() time.Time {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &ts) != nil {
		return time.Now().Add(-20 * time.Millisecond)
	}
	return time.Unix(ts.Unix())
}

// bornAt is when a folder was made, 0 when the file system does not tell.
func bornAt(dir int, name string) int64 {
	var st unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// readFolder calls visit for each entry with its d_type; no entry costs a stat, and none is kept. It stops
// when visit returns false.
func readFolder(fd int, buf []byte, visit func(name []byte, typ uint8) bool) error {
	for {
		n, err := unix.Getdents(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for b := buf[:n]; len(b) > 19; {
			size := int(binary.NativeEndian.Uint16(b[16:]))
			if size < 20 || size > len(b) {
				return unix.EIO
			}
			if !visitEntry(fd, b[:size], visit) {
				return nil
			}
			b = b[size:]
		}
	}
}

func visitEntry(fd int, entry []byte, visit func([]byte, uint8) bool) bool {
	typ, name := entry[18], entry[19:]
	end := 0
	for end < len(name) && name[end] != 0 {
		end++
	}
	name = name[:end]
	if string(name) == "." || string(name) == ".." {
		return true
	}
	if typ == unix.DT_UNKNOWN {
		typ = uint8(lookAt(fd, string(name)).mode >> 12 & 15)
	}
	return visit(name, typ)
}

// renameNoReplace renames within one folder, and fails with EEXIST rather than replace anything.
func renameNoReplace(dir int, from, to string) error {
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return renameIfFree(dir, from, to)
	}
	return err
}
