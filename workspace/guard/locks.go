//go:build unix

package guard

import (
	"maps"
	"time"
)

// gitLocks are the lock files that keep a person's git from working when a killed run leaves them.
var gitLocks = []string{"config.lock", "config.worktree.lock", "index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock"}

// A lock counts as left behind when it lies unchanged through so many rests in which no git lived. After as many more
// it is only reported.
const (
	lockRest  = 30 * time.Millisecond
	lockRests = 5
)

// addLock remembers what may be a lock. Where there are too many, those that keep git from all work are looked for by name.
func (r *runState) addLock(path string) {
	if r.manyLocks {
		return
	}
	if len(r.locks) >= mostOdd {
		maps.DeleteFunc(r.locks, func(p string, _ bool) bool { return !r.t.stampAt(p).file() })
	}
	if len(r.locks) >= mostOdd {
		r.manyLocks = true
		return
	}
	r.locks[path] = true
}

// leftLocks are the locks that appeared during the run and are still there.
func (t *tree) leftLocks(r *runState) map[string]stamp {
	if t.degradedBy() != "" || !t.isWalked || r.manyLocks {
		for path := range r.before {
			for _, name := range gitLocks {
				r.locks[join(path, name)] = true
			}
		}
	}
	left := map[string]stamp{}
	for path := range r.locks {
		if st := t.stampAt(path); st.file() && st.ctime >= r.since() && !r.holds(path) {
			left[path] = st
		}
	}
	return left
}

// rest waits until the locks were left behind, as it seems, or have gone: a person's git makes locks too.
func (t *tree) rest(left map[string]stamp) (isLeft bool) {
	quiet := 0
	for range 2 * lockRests {
		if quiet == lockRests {
			return true
		}
		time.Sleep(lockRest)
		if quiet++; gitLives(t.root.path, left) {
			quiet = 0
		}
		if t.forgetChanged(left); len(left) == 0 {
			return true
		}
	}
	return quiet == lockRests
}

func (t *tree) forgetChanged(left map[string]stamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(left, func(path string, st stamp) bool { return t.stampAt(path) != st })
}

// clearLocks moves the locks aside that nobody has touched since. Those that a living git may have made stay.
func (t *tree) clearLocks(r *runState, left map[string]stamp, isLeft bool) {
	const reason = "a lock that a git of the run left behind; it would keep git from working"
	for path, st := range left {
		switch {
		case t.stampAt(path) != st:
		case isLeft:
			t.moveAside(r, path, reason)
		default:
			t.reportTo(r, Finding{Path: path, Reason: reason + ". Left, since a git is running here now", Action: Noticed})
		}
	}
}
