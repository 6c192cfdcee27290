//go:build unix && !linux

package looks

import (
	"syscall"
	"time"
)

// stamp: results are not used again on systems where there are no runs.
type stamp struct{ mode uint32 }

func stampOf(st *syscall.Stat_t, err error) (stamp, bool) {
	if err != nil {
		return stamp{}, false
	}
	return stamp{uint32(st.Mode)}, false
}

func (s stamp) kind() (uint32, error) {
	if s.mode == 0 {
		return 0, syscall.ENOENT
	}
	return s.mode & syscall.S_IFMT, nil
}

func (s stamp) same(stamp, depth) bool   { return false }
func (s stamp) isSettled(time.Time) bool { return false }
func (s stamp) isFolder() bool           { return false }
func (s stamp) device() uint64           { return 0 }
func isSound(string) bool                { return false }

// IsSound says that a file system keeps change times well enough to tell by them that nothing has changed.
func IsSound(int) bool { return false }
