//go:build unix

package looks

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// entry is a look that Same repeats.
type entry struct {
	path string
	look
}

// Same says that every look would show today what it showed, beyond doubt, and so would the environment given. It
// costs one lstat(2) a look.
func (l *Looks) Same(getenv func(string) string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubt {
		return false
	}
	for name, value := range l.env {
		if getenv(name) != value {
			return false
		}
	}
	if l.sweep == nil {
		l.doubt = !l.prepare()
		return !l.doubt
	}
	return allSame(l.sweep)
}

// prepare repeats all looks and lists those to repeat from now on. It says whether all was the same and can be
// relied upon.
func (l *Looks) prepare() bool {
	devices := map[uint64]bool{}
	all := make([]entry, 0, len(l.seen))
	l.sweep = make([]entry, 0, len(l.seen))
	for path, k := range l.seen {
		if k.depth == content && !k.at.isSettled(l.began) {
			return false
		}
		if k.depth == content && !devices[k.at.device()] {
			if devices[k.at.device()] = true; !isSound(path) {
				return false
			}
		}
		all = append(all, entry{path, k})
		if !l.isListed(path, k) {
			l.sweep = append(l.sweep, entry{path, k})
		}
	}
	slices.SortFunc(l.sweep, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return allSame(all)
}

// isListed says that a look at what something is need not be repeated, since a whole look at its folder tells: an
// entry does not change its type but by being replaced.
func (l *Looks) isListed(path string, k look) bool {
	dir, ok := l.seen[filepath.Dir(path)]
	return ok && k.depth == kindOnly && dir.depth >= listed && dir.at.isFolder() && path != "/"
}

// allSame repeats looks, on two processors where there are.
func allSame(list []entry) bool {
	workers := min(2, runtime.GOMAXPROCS(0))
	var differs atomic.Bool
	var wait sync.WaitGroup
	for w := range workers {
		part := list[len(list)*w/workers : len(list)*(w+1)/workers]
		wait.Go(func() {
			for i := range part {
				if differs.Load() || !part[i].isSame() {
					differs.Store(true)
					return
				}
			}
		})
	}
	wait.Wait()
	return !differs.Load()
}

func (e *entry) isSame() bool {
	var st syscall.Stat_t
	err := ignoringEINTR(func() error { return syscall.Lstat(e.path, &st) })
	now, ok := stampOf(&st, err)
	return ok && e.at.same(now, e.depth) && (e.depth != listed || e.again(e.but))
}
