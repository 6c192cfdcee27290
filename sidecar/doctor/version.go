package doctor

import (
	"strconv"
	"strings"
)

// findVersion is the first word in a program's answer that starts with digits and a point: "git version 2.39.5".
func findVersion(text string) string {
	for word := range strings.FieldsSeq(text) {
		if major, _, ok := strings.Cut(word, "."); ok && isDigits(major) {
			return strings.TrimRight(word, ",;)")
		}
	}
	return ""
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// older says that version a comes before b; an unknown one does not, since distributions invent forms.
func older(a, b string) bool {
	x, y := numbers(a), numbers(b)
	if len(x) == 0 {
		return false
	}
	for i := range y {
		n := 0
		if i < len(x) {
			n = x[i]
		}
		if n != y[i] {
			return n < y[i]
		}
	}
	return false
}

// numbers are the leading numbers of "6.8.0-45-generic": 6, 8, 0.
func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(part)
		}
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			return all
		}
		all = append(all, n)
		if end < len(part) {
			return all
		}
	}
	return all
}
