//go:build unix

package guard

import (
	"maps"
	"time"

	"code.sidecar.dev/workspace/locked"
)

// lostMount handles a held path that a program of the host has just replaced, as git does with its config:
// nothing but the host can, since the path is a mount point in the sandbox. The mount goes with what it
// covered (mount_namespaces(7), "unlink, rename, and rmdir of mount points"), so that the run could write to
// the new file until it is held again. What it holds now is the host's; what is changed from here on is judged.
func (r *runState) lostMount(n *node, name string) {
	path := join(n.path(), name)
	if r.replaced != nil {
		go r.replaced(path, func() { r.heldAgain(path, stamp{}, mostAgain) })
	}
	if n.kind&(gitDir|admin) == 0 || !gitItems[name] {
		return
	}
	fd, err := n.base.folder(n.rel())
	if err != nil {
		return
	}
	defer locked.Close(fd)
	snap := r.snaps[n.path()].copy()
	r.snaps[n.path()] = snap
	if text, ok := snap.texts[name]; ok && r.again[path] {
		r.former[path] = text
	}
	snap.items[name] = lookAt(fd, name)
	if snap.items[name].file() {
		text, _, _ := readFile(fd, name)
		snap.texts[name] = string(text)
	}
	delete(r.held, path)
	delete(r.again, path)
	clear(r.folderHolds)
	r.touched[n.path()] = true
}

// changedUnheld is told of a change to a path that a mount held once and no mount holds now. It may have come before the look that
// lostMount took, which then holds what the run wrote: what counts is what the file had while it was held. git itself replaces
// a config once; what a host program does to it in the same milliseconds is judged like the run's.
func (r *runState) changedUnheld(n *node, name string) {
	path := join(n.path(), name)
	former, ok := r.former[path]
	if !ok || r.held[path] || r.again[path] {
		return
	}
	if snap := r.snaps[n.path()]; snap != nil && snap.items[name].file() {
		st := snap.items[name]
		st.ino = 0 // no file has it
		snap.items[name], snap.texts[name] = st, former
	}
}

// mostFormer is of how many held configs the text is kept: those of the repository itself come first.
const mostFormer = 32

// keepFormer keeps the text of a held config.
func (r *runState) keepFormer(path string) {
	up, name := split(path)
	if name != "config" && name != "config.worktree" || len(r.former) >= mostFormer || r.t.sites[up] == nil {
		return
	}
	dir, _, err := r.t.folderOf(path)
	if err != nil {
		return
	}
	defer locked.Close(dir)
	if text, _, err := readFile(dir, name); err == nil {
		r.former[path] = string(text)
	}
}

// mostAgain is how often a mount is asked for that what is replaced meanwhile takes off again.
const mostAgain = 100

// heldAgain is told that a mount holds a path once more, as it was asked for when the path looked like that. If it still does,
// only the host can replace it from now on; else, or if a change could have the same time, the mount is asked for anew. What
// is at the path stays to be judged: the run may have it open since there was no mount.
func (r *runState) heldAgain(path string, asked stamp, tries int) {
	time.Sleep(2 * clockTick)
	t := r.t
	t.drain()
	t.mu.Lock()
	defer t.mu.Unlock()
	is := t.stampAt(path)
	if asked.exists && is.same(asked) {
		r.again[path] = true
		return
	}
	if is.ctime+int64(2*clockTick) > now().UnixNano() {
		is = stamp{}
	}
	if tries > 0 && t.runs[r] {
		go r.replaced(path, func() { r.heldAgain(path, is, tries-1) })
	}
}

// copy is a snapshot of a run's own, with nothing in it for nil.
func (s *snapshot) copy() *snapshot {
	c := &snapshot{}
	if s != nil {
		*c = *s
	}
	c.items, c.texts = maps.Clone(c.items), maps.Clone(c.texts)
	if c.items == nil {
		c.items, c.texts = map[string]stamp{}, map[string]string{}
	}
	return c
}
