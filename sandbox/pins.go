package sandbox

import (
	"path/filepath"
	"slices"
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
	slices.SortFunc(list, func(a, b Pin) int { return ComparePaths(a.Path, b.Path) })
	var out []Pin
	var above []Pin // those that the path at hand lies in and that decide access, outermost first
	for _, p := range list {
		for len(above) > 0 && !Inside(p.Path, above[len(above)-1].Path) {
			above = above[:len(above)-1]
		}
		if k := decides(above); k == Covered || k == Frozen && (p.Kind == Border || p.Kind == Frozen) {
			continue
		}
		out = append(out, p)
		if p.Kind != Border {
			above = append(above, p)
		}
	}
	return out
}

// decides is the kind of the innermost of the pins above a path, which decides its access; Border where there is none.
// Below a covered folder there is nothing left to hold.
func decides(above []Pin) PinKind {
	if len(above) == 0 {
		return Border
	}
	return above[len(above)-1].Kind
}

// ComparePaths orders paths so that what lies in a folder follows it, before its neighbours whose names merely begin
// alike.
func ComparePaths(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case i == len(a) || i == len(b):
		return len(a) - len(b)
	case a[i] == '/':
		return -1
	case b[i] == '/':
		return 1
	}
	return int(a[i]) - int(b[i])
}
