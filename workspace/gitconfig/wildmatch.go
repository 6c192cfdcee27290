package gitconfig

import "strings"

// Wildmatch matches a path as git's wildmatch does with WM_PATHNAME: "*" and "?" do not match "/", "**" between
// slashes matches any number of folders (gitignore(5), "PATTERN FORMAT"). It takes time in proportion to the
// product of the lengths.
func Wildmatch(pattern, text string, ignoreCase bool) bool {
	if ignoreCase {
		pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	}
	m := &matcher{pattern: pattern, text: text, failed: map[[2]int]bool{}}
	return m.at(0, 0)
}

type matcher struct {
	pattern, text string
	failed        map[[2]int]bool
}

func (m *matcher) at(p, t int) bool {
	if m.failed[[2]int{p, t}] {
		return false
	}
	ok := m.match(p, t)
	if !ok {
		m.failed[[2]int{p, t}] = true
	}
	return ok
}

func (m *matcher) match(p, t int) bool {
	if p == len(m.pattern) {
		return t == len(m.text)
	}
	if m.pattern[p] == '*' {
		return m.star(p, t)
	}
	if t == len(m.text) {
		return false
	}
	c := m.text[t]
	switch m.pattern[p] {
	case '?':
		return c != '/' && m.at(p+1, t+1)
	case '[':
		ok, next := class(m.pattern, p+1, c)
		return ok && c != '/' && m.at(next, t+1)
	case '\\':
		p++
		return p < len(m.pattern) && m.pattern[p] == c && m.at(p+1, t+1)
	}
	return m.pattern[p] == c && m.at(p+1, t+1)
}

func (m *matcher) star(p, t int) bool {
	end := p
	for end < len(m.pattern) && m.pattern[end] == '*' {
		end++
	}
	deep := end-p > 1 && (p == 0 || m.pattern[p-1] == '/') && (end == len(m.pattern) || m.pattern[end] == '/')
	if deep && end < len(m.pattern) && m.at(end+1, t) {
		return true // "**/" matches no folder at all, too
	}
	for ; ; t++ {
		if m.at(end, t) {
			return true
		}
		if t == len(m.text) || m.text[t] == '/' && !deep {
			return false
		}
	}
}

// class matches c against a bracket expression that begins at p, and returns where it ends.
func class(pattern string, p int, c byte) (ok bool, next int) {
	negated := p < len(pattern) && (pattern[p] == '!' || pattern[p] == '^')
	if negated {
		p++
	}
	for first := true; p < len(pattern) && (first || pattern[p] != ']'); first = false {
		if name, end := posix(pattern, p); name != "" {
			ok = ok || inPosix(name, c)
			p = end
			continue
		}
		low, after := literal(pattern, p)
		high := low
		if after+1 < len(pattern) && pattern[after] == '-' && pattern[after+1] != ']' {
			high, after = literal(pattern, after+1)
		}
		ok = ok || low <= c && c <= high
		p = after
	}
	if p >= len(pattern) {
		return false, p // not closed: matches nothing
	}
	return ok != negated, p + 1
}

func literal(pattern string, p int) (c byte, next int) {
	if pattern[p] == '\\' && p+1 < len(pattern) {
		p++
	}
	return pattern[p], p + 1
}

func posix(pattern string, p int) (name string, next int) {
	if !strings.HasPrefix(pattern[p:], "[:") {
		return "", p
	}
	end := strings.Index(pattern[p:], ":]")
	if end < 2 {
		return "", p
	}
	return pattern[p+2 : p+end], p + end + 2
}

func inPosix(name string, c byte) bool {
	digit := '0' <= c && c <= '9'
	upper := 'A' <= c && c <= 'Z'
	lower := 'a' <= c && c <= 'z'
	switch name {
	case "alpha":
		return upper || lower
	case "digit":
		return digit
	case "alnum":
		return digit || upper || lower
	case "upper":
		return upper
	case "lower":
		return lower
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r'
	case "blank":
		return c == ' ' || c == '\t'
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	case "punct":
		return '!' <= c && c <= '~' && !digit && !upper && !lower
	case "print":
		return ' ' <= c && c <= '~'
	case "graph":
		return '!' <= c && c <= '~'
	case "cntrl":
		return c < ' ' || c == 0x7f
	}
	return false
}
