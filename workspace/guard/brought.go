//go:build unix

package guard

import (
	"hash/maphash"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// A walk that comes by something while a run lasts cannot tell by its content whether the run made it: what an earlier run left,
// or the project has, keeps its times when it is moved in whole, by itself or with a folder above it. rename(2) sets the change
// time of what it moves and of the folders that it is taken from and put into, and of nothing below. So what was not known when
// the run began counts as its doing where the guard knew all that there was. Where it did not (the first walk went on, events
// had been lost, a folder was locked), the times of the folders above decide.

// knowledge is what a guard knew as a run began.
type knowledge struct {
	// all says that nothing was there that it did not know, but below dark: folders that could not be opened (true) and git
	// directories that are read for the first time.
	all  bool
	dark map[string]bool
	// count is how much had been noted by then.
	count int
	// walked is when the last walk that read the whole tree before it began, 0 when there was none.
	walked int64
	// inodes are those of the sites, with their paths.
	inodes map[inode]string
	// ways remembers cameWith, for one audit.
	ways map[string]way
}

type inode struct{ dev, ino uint64 }

// known is since when something has been known, and as what.
type known struct {
	ino   uint64
	since int
}

// knows takes note of what lies at a path: as known since now if it was not known, or was another file.
func (t *tree) knows(was known, st stamp) known {
	if was.since != 0 && was.ino == st.ino {
		return was
	}
	t.noted++
	return known{st.ino, t.noted}
}

// unkept is something that was found and not kept, as there was too much, or as only what is new counts: its path's hash, and its
// inode.
type unkept struct{ path, ino uint64 }

// mostUnkept bounds what is remembered of those.
const mostUnkept = 500_000

var seed = maphash.MakeSeed()

// knowsUnkept is knows for what is not kept.
func (t *tree) knowsUnkept(path string, st stamp) known {
	id := unkept{maphash.String(seed, path), st.ino}
	since, had := t.unkept[id]
	if !had {
		since, had = t.wereUnkept[id]
	}
	if !had {
		t.noted++
		since = t.noted
	}
	if len(t.unkept) < mostUnkept {
		t.unkept[id] = since
	} else {
		t.cut = true
	}
	return known{st.ino, since}
}

// had says that something was known before the run.
func (k *knowledge) had(is known, ino uint64) bool {
	return is.since != 0 && is.since <= k.count && is.ino == ino
}

// takeKnowledge is called as a run begins.
func (t *tree) takeKnowledge() knowledge {
	k := knowledge{count: t.noted, walked: t.walkedAt, dark: map[string]bool{}, inodes: map[inode]string{}, ways: map[string]way{}}
	k.all = t.isWalked && t.degradedBy() == "" && !t.rewalking
	for _, n := range t.unreadable {
		k.dark[n.path()] = true
	}
	for dir := range t.adopting {
		k.dark[dir] = false
	}
	return k
}

// brought says that the run brought about what a walk came by at path, and the guard did not know before; content is the change
// time of what it holds.
func (r *runState) brought(path string, content int64) bool {
	b, rel, ok := r.t.locate(path)
	if !ok || rel == "." {
		return false
	}
	dark, isLocked := r.knew.darkAbove(path)
	if st := b.glance(rel); r.knew.all && dark == "" && b.isSound(st) {
		return true
	}
	if isLocked { // what is a person's own there has hardly changed since
		return r.cameWith(dark, path) != stayed
	}
	came := r.cameWith(b.path, path)
	return came == moved || came == changed && dark == "" && content < r.knew.walked
}

// darkAbove is the nearest folder that had not been read of those that path is or lies in, and whether it could not be.
func (k *knowledge) darkAbove(path string) (nearest string, isLocked bool) {
	for dir, locked := range k.dark {
		if len(dir) > len(nearest) && (path == dir || strings.HasPrefix(path, join(dir, ""))) {
			nearest, isLocked = dir, locked
		}
	}
	return nearest, isLocked
}

// way is how something may have come to where it is.
type way uint8

const (
	// stayed: neither it nor a folder above it has been moved since.
	stayed way = iota
	// changed: one of them may have been moved, or something in it and beside it was changed.
	changed
	// moved: one of them has been moved.
	moved
)

// mostWays bounds what is remembered of cameWith.
const mostWays = 100_000

// cameWith looks at path and at the folders above it, up to top, each opened from the one below: they may be very many.
func (r *runState) cameWith(top, path string) way {
	dir, name, err := r.t.folderOf(path)
	if err != nil {
		return stayed
	}
	above := timesAt(dir, ".")
	is, beyond := r.wayOf(timesAt(dir, name), above), stayed
	var passed []string
	var ways []way
	for path, _ = split(path); len(path) > len(top); path, _ = split(path) {
		was, known := r.knew.ways[path]
		if known {
			beyond = was
			break
		}
		up, err := unix.Openat(dir, "..", stepFlags, 0)
		if err != nil {
			break
		}
		locked.Close(dir)
		dir = up
		here := above
		above = timesAt(dir, ".")
		passed, ways = append(passed, path), append(ways, r.wayOf(here, above))
	}
	locked.Close(dir)
	for i := len(passed) - 1; i >= 0; i-- {
		beyond = max(beyond, ways[i])
		if len(r.knew.ways) < mostWays {
			r.knew.ways[passed[i]] = beyond
		}
	}
	return max(is, beyond)
}

func (r *runState) wayOf(here, above times) way {
	since := r.since()
	switch {
	case here.changed < since || above.changed < since:
		return stayed
	case here.written < since:
		return moved
	}
	return changed
}

// times are a file's: any change of it, and one of its content or entries, which its owner can set.
type times struct{ changed, written int64 }

func timesAt(dir int, name string) times {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return times{}
	}
	return times{ctimeOf(&st), st.Mtim.Nano()}
}
