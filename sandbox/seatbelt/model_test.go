package seatbelt

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/seatbelt/sbpl"
)

// disk is a file system that finds names whatever their case, as APFS does: enough of one to see what operations come to.
type disk struct {
	entries map[string]*node // by path, as it was made
}

// node is a file or a folder; what it holds is its identity.
type node struct {
	folder bool
	data   int
}

// real is the path under which something is there, or under which it would be made: folders in their own case, the last
// part as it was given (the kernel's view).
func (d *disk) real(p string) (string, bool) {
	at := ""
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, part := range parts {
		found := ""
		for e := range d.entries {
			if path.Dir(e) == cmpDir(at) && strings.EqualFold(path.Base(e), part) {
				found = e
			}
		}
		if found == "" {
			return path.Join(append([]string{cmpDir(at)}, parts[i:]...)...), false
		}
		at = found
	}
	return at, true
}

func cmpDir(at string) string {
	if at == "" {
		return "/"
	}
	return at
}

func (d *disk) isEmpty(dir string) bool {
	for e := range d.entries {
		if path.Dir(e) == dir {
			return false
		}
	}
	return true
}

func (d *disk) parentIsFolder(p string) bool {
	n := d.entries[path.Dir(p)]
	return n != nil && n.folder
}

// move renames, with all below.
func (d *disk) move(from, to string) {
	moved := map[string]*node{}
	for e, n := range d.entries {
		if sandbox.Inside(e, from) {
			moved[to+e[len(from):]] = n
			delete(d.entries, e)
		}
	}
	for e, n := range moved {
		d.entries[e] = n
	}
}

// seen is what a protected path shows: whether it is there and what is in it and below it, whatever the case.
func (d *disk) seen(p string) string {
	real, ok := d.real(p)
	if !ok {
		return "absent"
	}
	var out []string
	for e, n := range d.entries {
		if sandbox.Inside(e, real) {
			out = append(out, fmt.Sprintf("%s=%v:%d", strings.ToLower(e[len(real):]), n.folder, n.data))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// world is a random workspace with protected paths, and the profile for it.
type world struct {
	*disk
	random  *rand.Rand
	root    string
	held    []string // what must not change, and what is thawed below it
	thawed  []string
	names   []sandbox.Name
	profile *sbpl.Profile
	made    int
}

var parts = []string{"a", "b", "lib", "Sub", "conf", ".git", "hooks", "config", ".envrc", "tools"}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{disk: &disk{entries: map[string]*node{}}, random: rand.New(rand.NewPCG(seed, 1)), root: "/Users/me/ws"}
	for dir := w.root; dir != "/"; dir = path.Dir(dir) {
		w.entries[dir] = &node{folder: true}
	}
	for range 25 {
		w.add(path.Join(w.anyFolder(), parts[w.random.IntN(len(parts))]))
	}
	var pins []sandbox.Pin
	for range 1 + w.random.IntN(4) {
		p := path.Join(w.root, w.anyName(), w.anyName())
		if w.random.IntN(2) == 0 {
			p = path.Join(w.anyFolder(), w.anyName())
		}
		if real, _ := w.real(p); real != w.root && sandbox.Inside(real, w.root) {
			w.held = append(w.held, real)
			pins = append(pins, sandbox.Pin{Path: real, Kind: sandbox.Frozen})
		}
	}
	if n := w.entries[w.held[0]]; n != nil && n.folder {
		w.thawed = []string{path.Join(w.held[0], "loose")}
		pins = append(pins, sandbox.Pin{Path: w.thawed[0], Kind: sandbox.Thawed, Folder: true})
		w.entries[w.thawed[0]] = &node{folder: true}
	}
	w.names = []sandbox.Name{{Root: w.root, Pattern: ".git", Anywhere: true, Alone: true}, {Root: w.root, Pattern: ".git/config", Anywhere: true},
		{Root: w.root, Pattern: ".git/hooks", Anywhere: true}, {Root: w.root, Pattern: ".envrc", Anywhere: true}}
	policy := sandbox.Policy{Dir: w.root, Argv: []string{"/usr/bin/true"}, Names: w.names, Pins: sandbox.BuildPins([]string{w.root}, pins),
		Mounts: []sandbox.Mount{{Source: w.root, Target: w.root, Access: sandbox.ReadWrite}}}
	w.profile = loaded(t, policy).profile
	return w
}

func (w *world) add(p string) {
	real, ok := w.real(p)
	if ok || !w.parentIsFolder(real) {
		return
	}
	w.made++
	w.entries[real] = &node{folder: w.random.IntN(3) > 0, data: w.made}
}

func (w *world) anyFolder() string {
	var all []string
	for e, n := range w.entries {
		if n.folder && sandbox.Inside(e, w.root) {
			all = append(all, e)
		}
	}
	slices.Sort(all)
	return all[w.random.IntN(len(all))]
}

func (w *world) anyName() string {
	name := parts[w.random.IntN(len(parts))]
	if w.random.IntN(4) == 0 {
		name = strings.ToUpper(name)
	}
	return name
}

// any is something that is there, or a place in some folder.
func (w *world) any() string {
	p := path.Join(w.anyFolder(), w.anyName())
	if w.random.IntN(3) == 0 && len(w.held) > 0 {
		p = w.held[w.random.IntN(len(w.held))]
		for p != w.root && w.random.IntN(2) == 0 {
			p = path.Dir(p)
		}
	}
	return p
}

// step tries one operation, and does it if the profile allows.
func (w *world) step() string {
	p, exists := w.real(w.any())
	n := w.entries[p]
	w.made++
	switch w.random.IntN(5) {
	case 0:
		if !exists && w.parentIsFolder(p) && w.profile.Create(p).Allowed {
			w.entries[p] = &node{folder: w.random.IntN(2) == 0, data: w.made}
			return "make " + p
		}
	case 1:
		if exists && !n.folder && w.profile.Write(p).Allowed {
			n.data = w.made
			return "write " + p
		}
	case 2:
		if exists && (!n.folder || w.isEmpty(p)) && w.profile.Remove(p).Allowed {
			delete(w.entries, p)
			return "remove " + p
		}
	default:
		return w.rename(p, exists)
	}
	return ""
}

func (w *world) rename(from string, exists bool) string {
	given := w.any()
	to, there := w.real(given)
	if !exists || from == to || sandbox.Inside(to, from) || !w.parentIsFolder(to) {
		return ""
	}
	if !there {
		if !w.profile.MoveNew(from, to).Allowed {
			return ""
		}
		w.move(from, to)
		return "new " + from + " " + to
	}
	target := w.entries[to]
	if target.folder != w.entries[from].folder || target.folder && !w.isEmpty(to) || !w.profile.Move(from, to).Allowed {
		return ""
	}
	delete(w.entries, to)
	w.move(from, to)
	return "move " + from + " " + to
}

// protects is what all protected paths show, but for what is thawed.
func (w *world) protects() string {
	var out []string
	for _, h := range w.held {
		kept := &disk{entries: map[string]*node{}}
		for e, n := range w.entries {
			if !slices.ContainsFunc(w.thawed, func(t string) bool { return e != t && sandbox.Inside(e, t) }) {
				kept.entries[e] = n
			}
		}
		out = append(out, h+": "+kept.seen(h))
	}
	for e, n := range w.entries { // and whatever host programs obey by its name
		for _, name := range w.names {
			rel, ok := strings.CutPrefix(strings.ToLower(e), strings.ToLower(w.root)+"/")
			if ok && (rel == name.Pattern || name.Anywhere && strings.HasSuffix("/"+rel, "/"+name.Pattern)) {
				// Where it lies may change with a folder above it, which stays the run's own: what it is may not.
				out = append(out, fmt.Sprintf("%s: %v:%d", name.Pattern, n.folder, n.data))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestNothingProtectedChanges does whatever a profile allows in random workspaces, and looks at what is protected there: no
// path that may be written, made, removed or moved gives what a protected path forbids. What is not tried, since no rule
// about paths can hold it, is the audit's (docs/macos.md): a folder that is brought whole from the private folders, in which
// any name may be, and one that is prepared under another name for an obeyed name of two parts whose first does not exist.
func TestNothingProtectedChanges(t *testing.T) {
	done := map[string]int{}
	for seed := range uint64(60) {
		w := newWorld(t, seed)
		before := w.protects()
		var log []string
		for range 300 {
			did := w.step()
			if did == "" {
				continue
			}
			log = append(log, did)
			done[strings.Fields(did)[0]]++
			if after := w.protects(); after != before {
				t.Fatalf("seed %d: after %s\nwas:\n%s\nis:\n%s", seed, strings.Join(log, "\n"), before, after)
			}
		}
	}
	for _, op := range []string{"make", "write", "remove", "new", "move"} {
		if done[op] < 8 {
			t.Errorf("only %d times %s: the test tries nothing", done[op], op)
		}
	}
}
