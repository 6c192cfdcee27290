package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// BuildPins is the list of pins that holds the given paths inside the given writable roots: each path, and a
// Border on every folder between its root and it. Parents come first. Paths outside every root need no pin and are left
// out; so are paths that a frozen folder above already holds, unless they are thawed or below a thawed one.
func BuildPins(roots []string, held []Pin) []Pin {
	pins := map[string]Pin{}
	for _, h := range held {
		root, ok := rootOf(roots, h.Path)
		if !ok {
			continue
		}
		for dir := filepath.Dir(h.Path); dir != root && Inside(dir, root); dir = filepath.Dir(dir) {
			if _, have := pins[dir]; !have {
				pins[dir] = Pin{Path: dir, Kind: Border, Folder: true}
			}
		}
		if old, have := pins[h.Path]; !have || old.Kind == Border {
			pins[h.Path] = h
		}
	}
	return prune(pins)
}

// rootOf is the innermost root that path lies strictly below.
func rootOf(roots []string, path string) (string, bool) {
	best := ""
	for _, r := range roots {
		if path != r && Inside(path, r) && len(r) > len(best) {
			best = r
		}
	}
	return best, best != ""
}

// prune orders the pins and drops borders and frozen paths inside a frozen folder: they are held already.
func prune(pins map[string]Pin) []Pin {
	list := make([]Pin, 0, len(pins))
	for _, p := range pins {
		list = append(list, p)
	}
	key := func(p Pin) string { return strings.ReplaceAll(p.Path, "/", "\x00") }
	slices.SortFunc(list, func(a, b Pin) int { return strings.Compare(key(a), key(b)) })
	var out []Pin
	for _, p := range list {
		above := decides(out, p.Path)
		if above == Covered || above == Frozen && (p.Kind == Border || p.Kind == Frozen) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// decides is the kind of the innermost pin above path that decides its access; Border where none does. Below a covered
// folder there is nothing left to hold.
func decides(above []Pin, path string) PinKind {
	kind, depth := Border, -1
	for _, p := range above {
		if p.Path != path && p.Kind != Border && Inside(path, p.Path) && len(p.Path) > depth {
			kind, depth = p.Kind, len(p.Path)
		}
	}
	return kind
}
