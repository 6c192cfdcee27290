package config

import (
	"slices"
	"strings"
)

// nearest is a hint for a key that does not exist: the known key that it most likely meant, else what there is.
func nearest(key string) string {
	if len(key) > 64 {
		return ""
	}
	best, least := "", 1+max(2, len(leaf(key))/2)
	for _, known := range names(key) {
		if d := mistakes(key, known); d < least {
			best, least = known, d
		}
	}
	if best == "" {
		return "known there: " + strings.Join(siblings(key), ", ")
	}
	return "did you mean " + best + "?"
}

// nearestVariable is the same for a variable.
func nearestVariable(name string) string {
	if strings.HasPrefix(name, variableOf(profiles)) {
		return "profiles have no variables"
	}
	if len(name) > 64 {
		return ""
	}
	best, least := "", 1+max(2, (len(name)-len(variablePrefix))/2)
	for _, known := range documented() {
		d := distance(name, known)
		if strings.HasSuffix(known, strings.TrimPrefix(name, strings.TrimSuffix(variablePrefix, "_"))) {
			d = 1 // its section is missing
		}
		if d < least {
			best, least = known, d
		}
	}
	if best == "" {
		return "a setting's is its key in capitals: SIDECAR_LIMITS_TIMEOUT"
	}
	return "did you mean " + best + "?"
}

// mistakes is how many would lead from a known key to this one. The right word in a wrong section is one, and so
// is a word cut short.
func mistakes(key, known string) int {
	if len(leaf(key)) > 2 && strings.HasPrefix(known, key) {
		return 1
	}
	return min(distance(key, known), 1+distance(leaf(key), leaf(known)))
}

// names are all sections and keys; those of profiles only near a key in one.
func names(key string) []string {
	fields := schema()
	if name, _, ok := inProfile(key); ok {
		fields = nil
		for _, f := range profileSchema() {
			fields = append(fields, f.of(name))
		}
	}
	var all []string
	for _, f := range fields {
		if section, _, ok := strings.Cut(f.key, "."); ok && !slices.Contains(all, section) {
			all = append(all, section)
		}
		all = append(all, f.key)
	}
	if !slices.Contains(all, profiles) {
		all = append(all, profiles)
	}
	return all
}

// siblings are the keys in the section of a mistaken key, or the sections.
func siblings(key string) []string {
	section := key[:strings.LastIndexByte(key, '.')+1]
	if section != "" && !isSection(strings.TrimSuffix(section, ".")) {
		section = ""
	}
	var all []string
	for _, name := range names(key) {
		if rest, ok := strings.CutPrefix(name, section); ok && rest != "" && !strings.Contains(rest, ".") {
			all = append(all, rest)
		}
	}
	return all
}

// leaf is the last word of a key.
func leaf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is how many letters have to be added, dropped, changed or swapped with their neighbour.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+differ(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
