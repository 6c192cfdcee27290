package linked

import (
	"slices"
	"strings"
)

// nearest are up to three names that may have been meant: with some letters' difference, or which are the last part
// of a longer one ("main" of "origin/main").
func nearest(wanted string, names []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, name := range names {
		far := distance(strings.ToLower(wanted), strings.ToLower(name))
		if strings.HasSuffix(name, "/"+wanted) {
			far = 1
		}
		if far <= max(2, len(wanted)/3) {
			found = append(found, candidate{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var out []string
	for _, c := range found[:min(len(found), 3)] {
		out = append(out, c.name)
	}
	return out
}

// distance is the Levenshtein distance, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
