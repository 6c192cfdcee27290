package sandbox_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"code.sidecar.dev/sandbox"
)

// mounts is a model of what the pins make of a writable root: the kernel's rules about mounts, and nothing of the planner's.
type mounts []sandbox.Pin

// on is the mount that a path lies on: of those that are it or above it the innermost, and of one path's the last.
func (m mounts) on(p string) (sandbox.PinKind, bool) {
	kind, best := sandbox.Border, -1
	for _, pin := range m {
		if sandbox.Inside(p, pin.Path) && len(pin.Path) >= best {
			kind, best = pin.Kind, len(pin.Path)
		}
	}
	return kind, kind == sandbox.Border || kind == sandbox.Thawed
}

// isPoint says that a path is a mount point, which can be neither renamed nor removed (EBUSY).
func (m mounts) isPoint(p string) bool {
	return slices.ContainsFunc(m, func(pin sandbox.Pin) bool { return pin.Path == p })
}

// moves says that the entry at a path can be renamed, removed or replaced: its folder is writable, and it is no mount point.
func (m mounts) moves(p string) bool {
	_, writable := m.on(path.Dir(p))
	return writable && !m.isPoint(p)
}

// pathsIn reads lines "KIND path" as what is held below a root: f and F are frozen, t is thawed, c covered.
func pathsIn(root, text string) (held []sandbox.Pin) {
	kinds := map[byte]sandbox.PinKind{'f': sandbox.Frozen, 'F': sandbox.Frozen, 't': sandbox.Thawed, 'c': sandbox.Covered}
	for line := range strings.SplitSeq(text, "\n") {
		kind, name, ok := strings.Cut(line, " ")
		p := path.Join(root, name)
		if k, known := kinds[(kind + " ")[0]]; ok && known && p != root && sandbox.Inside(p, root) && !strings.ContainsRune(p, 0) {
			held = append(held, sandbox.Pin{Path: p, Kind: k, Folder: kind != "f"})
		}
	}
	return held
}

// Whatever is to be held, in whatever order it is named: no frozen path is writable, and neither it nor a folder above it
// can be moved; a mount is made after the one it lies on, and what is thawed is writable.
func FuzzPins(f *testing.F) {
	for _, s := range []string{"f .git/config\nF .git/hooks", "f a/b/c\nF a\nf a-b/c", "F .git/worktrees\nt .git/worktrees/w\nf .git/worktrees/w/commondir", "c s\nf s/x", "F a\nt a/b\nF a/b/c\nt a/b/c/d", "f a\nf a/b", "f x/../y\nf //z/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const root = "/home/me/project"
		held := pathsIn(root, text)
		pins := mounts(sandbox.BuildPins([]string{root}, held))
		for i, pin := range pins {
			for _, later := range pins[i+1:] {
				if sandbox.Inside(pin.Path, later.Path) {
					t.Errorf("%q is mounted before %q, which then covers it", pin.Path, later.Path)
				}
			}
		}
		first := map[string]sandbox.PinKind{} // of one path named twice the first counts
		for _, h := range held {
			if _, twice := first[h.Path]; !twice {
				first[h.Path] = h.Kind
			}
		}
		for p, want := range first {
			kind, writable := pins.on(p)
			if thawed := want == sandbox.Thawed && !hidden(first, p); writable != thawed {
				t.Errorf("%q was to be %s and is %s", p, want, kind)
			}
			for at := p; want != sandbox.Thawed && at != root; at = path.Dir(at) {
				if pins.moves(at) {
					t.Errorf("%q is carried off: %q can be moved", p, at)
				}
			}
		}
	})
}

// hidden says that a folder above a path is covered, so that nothing of it is seen.
func hidden(held map[string]sandbox.PinKind, p string) bool {
	for at := path.Dir(p); at != "/"; at = path.Dir(at) {
		if held[at] == sandbox.Covered {
			return true
		}
	}
	return false
}
