package env

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// suggest at most this many names.
const maxNear = 3

// longestName bounds the work on a name that a client made up; no real name is as long.
const longestName = 40

// nearLanguages are the languages whose name or an alias is like name, the nearest first.
func nearLanguages(name string) []string {
	byWord := map[string]string{}
	var words []string
	for _, lang := range Languages {
		for _, word := range append([]string{lang.Name}, lang.Aliases...) {
			byWord[word] = lang.Name
			words = append(words, word)
		}
	}
	var found []string
	for _, word := range near(name, words) {
		if !slices.Contains(found, byWord[word]) {
			found = append(found, byWord[word])
		}
	}
	return found[:min(len(found), maxNear)]
}

// near are the known words like name, the nearest first: one begins the other, or few letters differ.
func near(name string, known []string) []string {
	if name == "" || len(name) > longestName {
		return nil
	}
	name = strings.ToLower(name)
	type match struct {
		word string
		cost int
	}
	var matches []match
	for _, word := range known {
		if cost, ok := likeness(name, strings.ToLower(word)); ok {
			matches = append(matches, match{word, cost})
		}
	}
	sort.SliceStable(matches, func(i, j int) bool { return matches[i].cost < matches[j].cost })
	words := make([]string, len(matches))
	for i, m := range matches {
		words[i] = m.word
	}
	return words
}

// likeness is how far word is from name, and whether that is near enough to suggest it. Aliases of one or two
// letters are near to everything, so they count only when a letter or two follows ("jsx", "py2").
func likeness(name, word string) (int, bool) {
	if strings.HasPrefix(name, word) || strings.HasPrefix(word, name) {
		gap := len(name) - len(word)
		if len(word) > 2 || gap <= 2 {
			return max(gap, -gap), len(name) > 1 && len(word) > 1
		}
	}
	cost := distance(name, word)
	return cost, len(word) > 2 && cost <= max(1, min(len(name), len(word))/3)
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

// suggestion is the part of a message that offers names.
func suggestion(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, " or ") + "?)"
}

// listed joins names for a message.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// quoted shows what a client sent, safely and shortly.
func quoted(name string) string {
	if len(name) <= longestName {
		return fmt.Sprintf("%q", name)
	}
	cut := longestName
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return fmt.Sprintf("%q…", name[:cut])
}
