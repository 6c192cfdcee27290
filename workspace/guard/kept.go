//go:build unix

package guard

import (
	"path"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
	"code.sidecar.dev/workspace/looks"
)

// With hundreds of repositories, reading each at the beginning and the end of every run is most of what a run
// costs. What has the very stamps that it had is not read again. A folder's stamp moves with each of its entries,
// and no change time can be set by who owns a file: see package looks for where that does not hold. There, as at
// every sign of a change, a site is read as if nothing were known.

// glance is the stamp of what lies at a path below a base. In place of an opened folder it takes one system call: a
// link that was put on the way shows another file, but cannot show it with the stamp of one that is known.
func (b *base) glance(rel string) stamp {
	if rel == "." {
		var st unix.Stat_t
		if unix.Fstat(b.fd, &st) != nil {
			return stamp{}
		}
		return stampOf(&st) // what it lies in is none of ours
	}
	var st unix.Stat_t
	err := unix.Fstatat(b.fd, rel, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == nil:
		return stampOf(&st)
	case locked.Refused(err):
		return b.lookLocked(rel)
	}
	return stamp{}
}

// lookLocked is glance for what lies in a folder that cannot be entered.
func (b *base) lookLocked(rel string) stamp {
	up, name := path.Split(rel)
	dir, err := b.folder(path.Clean(up))
	if err != nil {
		return stamp{}
	}
	defer locked.Close(dir)
	return lookAt(dir, name)
}

// isSound says that stamps tell all changes below the base, on its own file system.
func (b *base) isSound(st stamp) bool { return b.sound && st.dev == b.dev }

// judgeSoundness looks at the base's file system once.
func (b *base) judgeSoundness() {
	b.sound, b.dev = looks.IsSound(b.fd), b.glance(".").dev
	if !b.sound {
		unsound.Store(b.dev, nil)
	}
}

// isSettled says that a file had been left alone for long enough when it was looked at: a change within the same
// tick of the clock would not show.
func (s stamp) isSettled(looked int64) bool {
	margin := 2 * clockTick
	if s.ctime%int64(time.Second) == 0 {
		margin = 3 * time.Second // times without fractions
	}
	return s.ctime < looked-int64(margin)
}

// isUnchanged says beyond doubt that a git directory is as it was when the snapshot was made.
func (s *snapshot) isUnchanged(b *base, rel string) bool {
	if !b.isSound(s.dir) || !s.isNow(s.dir, b, rel) {
		return false
	}
	for name, st := range s.items {
		if st.exists && !s.isNow(st, b, rel+"/"+name) {
			return false
		}
	}
	for name, st := range s.folders {
		if !s.isNow(st, b, rel+"/"+name) {
			return false
		}
	}
	for name, st := range s.hooks {
		if !s.isNow(st, b, rel+"/hooks/"+name) {
			return false
		}
	}
	return true
}

func (s *snapshot) isNow(st stamp, b *base, rel string) bool {
	return st.isSettled(s.taken) && b.glance(rel).same(st)
}

// canSkip says that the audit need not read a site: nothing of it has changed since the run began, so that the run
// is to blame for nothing in it. What the run made is never skipped.
func (r *runState) canSkip(path string) bool {
	_, came := r.sites[path]
	return !came && !r.touched[path] && r.clean[path]
}

// findClean looks which of the sites that were there are as they were, on two processors where there are.
func (r *runState) findClean() {
	var list []*site
	for path := range r.snaps {
		if s := r.t.sites[path]; s != nil && !r.clean[path] && !r.touched[path] {
			list = append(list, s)
		}
	}
	clean := make([]bool, len(list))
	workers := min(2, runtime.GOMAXPROCS(0), len(list)/16+1)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(list); i += workers {
				clean[i] = r.isClean(list[i])
			}
		})
	}
	wait.Wait()
	for i, s := range list {
		r.clean[s.path] = clean[i]
	}
}

func (r *runState) isClean(s *site) bool {
	b, rel, ok := r.t.locate(s.path)
	switch snap := r.snaps[s.path]; {
	case !ok || s.form == vcsSite:
		return false
	case s.form == pointerSite:
		return b.glance(rel).same(snap.items[".git"]) // which blames no run either
	default:
		return snap.isUnchanged(b, rel)
	}
}

// touch takes note that something happened to a site while runs are active.
func (t *tree) touch(path string) {
	for r := range t.runs {
		r.touched[path] = true
	}
}
