//go:build unix

package guard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/locked"
)

// disarm moves what a charge is about aside, and puts in its place what is harmless of it, or what was there
// before. The folder is opened anew from the base, and both names lie in it: whatever others swap meanwhile,
// nothing outside is touched.
func (t *tree) disarm(r *runState, c *charge) bool {
	if snap := r.snaps[c.site.path]; snap != nil && c.name == "hooks" && c.st.folder() && snap.items["hooks"].folder() {
		return t.disarmHooks(r, c, snap)
	}
	for r := range t.runs {
		r.armed[c.site.path] = true
	}
	moved := t.moveAside(r, c.path(), c.reason)
	if !moved || c.site.form == pointerSite {
		return moved
	}
	text, restore := c.replacement(r)
	if restore {
		t.putBack(c.path(), text, 0o644)
	}
	return true
}

// replacement is what a disarmed config's place takes.
func (c *charge) replacement(r *runState) (text string, restore bool) {
	if c.name == packedRefs {
		return c.text, c.text != ""
	}
	if snap := r.snaps[c.site.path]; snap != nil && snap.items[c.key()].file() {
		if c.text == "" {
			return snap.texts[c.key()], true
		}
		text, _ = withoutHarm(snap.texts[c.key()], c.text)
		return text, true
	}
	if !c.parsed {
		return "", false
	}
	var good []setting
	bad := map[setting]bool{}
	for _, s := range c.bad {
		bad[s] = true
	}
	for _, s := range c.settings {
		if !bad[s] {
			good = append(good, s)
		}
	}
	return formatConfig(good), true
}

// disarmHooks moves single hooks aside where the host had hooks of its own.
func (t *tree) disarmHooks(r *runState, c *charge, snap *snapshot) bool {
	any := false
	for _, name := range snap.newHooks(t, c) {
		any = t.moveAside(r, join(c.path(), name), "git executes it as a hook") || any
	}
	return any
}

// mostDisarms bounds what is moved aside while a run lasts, far beyond where its caller has killed it. Its end
// has no bound but what is there.
const mostDisarms = 20 * StormLimit

// moveAside renames path within its folder and reports it.
func (t *tree) moveAside(r *runState, path, reason string) bool {
	if r.disarms > mostDisarms && !r.ending {
		return false
	}
	f, gone := t.aside(r, path, reason)
	if gone {
		return false
	}
	t.report(f)
	return f.Action == Disarmed
}

// remove takes away what holds nothing of its own: where git lists names or walks, it would be followed under any. It is renamed
// first, so that nothing else is removed that has come there meanwhile.
func (t *tree) remove(r *runState, path string, is func(stamp) bool, reason string) {
	f, gone := t.aside(r, path, reason)
	if gone {
		return
	}
	if f.Action == Disarmed {
		if dir, name, err := t.folderOf(f.MovedTo); err == nil {
			if is(lookAt(dir, name)) && unlink(dir, name) == nil {
				delete(t.own, f.MovedTo)
				f.MovedTo = ""
			}
			locked.Close(dir)
		}
	}
	t.report(f)
}

// retryFailed has the audit try again what could not be moved while the run could lock its folder in the same moment.
func (r *runState) retryFailed() {
	for path := range r.failed {
		r.failed[path] = false
	}
}

// aside renames path within its folder, and gives what is to be told of it; gone says that it is not there any more, or what leads
// there is not.
func (t *tree) aside(r *runState, path, reason string) (f Finding, gone bool) {
	to, err := t.rename(r, path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return f, true
	}
	f = Finding{Path: path, Reason: reason, Action: Disarmed, MovedTo: to}
	if err != nil {
		f.Action, f.MovedTo, f.Error = Failed, "", err.Error()
	}
	return f, false
}

func (t *tree) rename(r *runState, path string) (string, error) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return "", err
	}
	defer locked.Close(dir)
	to := clipName(name) + asideMark + r.id
	up, _ := split(path)
	move := func() error { return renameNoReplace(dir, name, to) }
	err = locked.Change(dir, move)
	for n := range asideTries { // a run knows its own id, from what was moved aside before
		if !errors.Is(err, unix.EEXIST) {
			break
		}
		to = fmt.Sprintf("%s%s%s-%d", clipName(name), asideMark, r.id, r.disarms+n+1)
		if n > asideTries/2 {
			to = fmt.Sprintf("%s%s%s-%s", clipName(name), asideMark, r.id, rand.Text())
		}
		err = locked.Change(dir, move)
	}
	if err == nil {
		t.own[join(up, to)] = lookAt(dir, to).ino // a link is no other run's
	}
	return join(up, to), err
}

const asideMark = ".disarmed-"

// asideTries is how many names are tried, of which the last ones cannot be guessed.
const asideTries = 20

// isAside tells a name that something may have been given when it was moved aside: nothing comes behind the run's id. Host programs
// that go by patterns look at how a name ends.
func isAside(name string) bool {
	i := strings.LastIndex(name, asideMark)
	return i >= 0 && !strings.ContainsRune(name[i+len(asideMark):], '.')
}

// clipName leaves room for the suffix in what a file system takes for a name.
func clipName(name string) string { return name[:min(len(name), 120)] }

func unlink(dir int, name string) error {
	return locked.Change(dir, func() error { return unix.Unlinkat(dir, name, 0) })
}

// renameIfFree is renameNoReplace where the kernel has none.
func renameIfFree(dir int, from, to string) error {
	if lookAt(dir, to).exists {
		return unix.EEXIST
	}
	return unix.Renameat(dir, from, dir, to)
}

// putBack writes a small file where nothing is; what has appeared there meanwhile is looked at by itself.
func (t *tree) putBack(path, text string, mode uint32) {
	dir, name, err := t.folderOf(path)
	if err != nil {
		return
	}
	defer locked.Close(dir)
	var fd int
	if err = locked.Change(dir, func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	}); err != nil {
		return
	}
	defer unix.Close(fd)
	t.own[path] = lookAt(dir, name).ino
	for b := []byte(text); len(b) > 0; {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			_ = unlink(dir, name) // half a config is worse than none
			return
		}
		b = b[max(n, 0):]
	}
}
