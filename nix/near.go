package nix

import (
	"cmp"
	"slices"
	"strings"
)

// nearAttrs are the known packages like the wanted one, the nearest first: the same name in another set, then
// those in which few letters differ, then longer names that hold it.
func nearAttrs(wanted Attr, known []Attr) []string {
	type match struct {
		attr Attr
		cost int
	}
	name := strings.ToLower(wanted.Name)
	var matches []match
	for _, attr := range known {
		if cost, ok := likeness(name, strings.ToLower(attr.Name)); ok && builtinDenied(attr) == nil {
			matches = append(matches, match{attr, cost})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.attr.Name), len(b.attr.Name)))
	})
	var near []string
	for _, m := range matches[:min(len(matches), mostNear)] {
		near = append(near, m.attr.String())
	}
	return near
}

// likeness is how far a name is from the wanted one, and whether it is near enough to suggest. Most names of
// nixpkgs are ruled out by their length.
func likeness(wanted, name string) (int, bool) {
	if wanted == name {
		return 0, true
	}
	limit := max(1, min(len(wanted), len(name))/3)
	if gap := len(wanted) - len(name); gap <= limit && -gap <= limit {
		if cost := distance(wanted, name); cost <= limit {
			return cost, len(name) > 1
		}
	}
	// What holds the name is like it, but less than what is written almost so.
	if len(wanted) > 2 && strings.Contains(name, wanted) {
		return longestAttr + len(name) - len(wanted), true
	}
	return 0, false
}

// distance is how many letters must be inserted, removed or replaced, or swapped with their neighbour, to
// make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
