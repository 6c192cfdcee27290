package guard

import "strings"

// line is one logical line of a config, with the header it stands under, both as written.
type line struct {
	header, text string
}

// logicalLines takes a config apart without understanding it: the host's own may use all of git's language.
// A line that ends in a backslash goes on in the next.
func logicalLines(text string) (list []line) {
	var header, open string
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasSuffix(l, `\`) {
			open += l + "\n"
			continue
		}
		l, open = open+l, ""
		if strings.HasPrefix(strings.TrimLeft(l, " \t"), "[") {
			header = l
		}
		list = append(list, line{header, l})
	}
	if open != "" {
		list = append(list, line{header, open})
	}
	return list
}

// harmful says that a line on its own is not on the list of harmless ones.
func (l line) harmful() bool {
	settings, ok := parseConfig([]byte(l.header + "\n" + l.text + "\n"))
	if !ok {
		return true
	}
	for _, s := range settings {
		if !s.isHarmless() {
			return true
		}
	}
	return false
}

// addsHarm says that a config has lines that it did not have before and that are not harmless.
func addsHarm(before, after string) bool {
	_, dropped := withoutHarm(before, after)
	return dropped
}

// withoutHarm leaves out of a config the lines that are new and not harmless.
func withoutHarm(before, after string) (text string, dropped bool) {
	had := map[line]bool{}
	for _, l := range logicalLines(before) {
		had[l] = true
	}
	var b strings.Builder
	for _, l := range logicalLines(after) {
		if !had[l] && l.harmful() {
			dropped = true
			continue
		}
		b.WriteString(l.text + "\n")
	}
	return b.String(), dropped
}
