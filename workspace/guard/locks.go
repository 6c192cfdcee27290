//go:build unix

package guard

import (
	"time"
)

// gitLocks are the lock files that keep a person's git from working when a killed run leaves them.
var gitLocks = []string{"config.lock", "config.worktree.lock", "index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock"}

// lockRest is how long a lock must lie unchanged to count as left behind.
const lockRest = 30 * time.Millisecond

func (r *runState) addLock(path string) {
	if len(r.locks) < mostFindings {
		r.locks[path] = true
	}
}

// leftLocks are the locks that appeared during the run and are still there.
func (t *tree) leftLocks(r *runState) map[string]stamp {
	if t.degradedBy() != "" || !t.isWalked {
		for path := range r.before {
			for _, name := range gitLocks {
				r.addLock(join(path, name))
			}
		}
	}
	left := map[string]stamp{}
	for path := range r.locks {
		if st := t.stampAt(path); st.file() && st.ctime >= r.start && !r.holds(path) {
			left[path] = st
		}
	}
	return left
}

// clearLocks moves the locks aside that nobody has touched since and that no living git can have made.
func (t *tree) clearLocks(r *runState, left map[string]stamp) {
	const reason = "a lock that a git of the run left behind; it would keep git from working"
	for path, st := range left {
		if !t.stampAt(path).same(st) {
			continue
		}
		if gitLives(t.root.path) {
			t.reportTo(r, Finding{Path: path, Reason: reason + ". Left, since a git is running here now", Action: Noticed})
			continue
		}
		t.moveAside(r, path, reason)
	}
}
