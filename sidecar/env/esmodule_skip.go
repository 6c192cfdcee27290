package env

import "strings"

// skipSpace passes white space and comments.
func (s *scanner) skipSpace() {
	for s.at < len(s.code) {
		rest := s.code[s.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			s.skipLine()
		case strings.HasPrefix(rest, "/*"):
			s.skipComment()
		case rest[0] == '\n':
			s.newline = true
			s.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			s.at++
		case strings.HasPrefix(rest, "\uFEFF"):
			s.at += len("\uFEFF")
		default:
			return
		}
	}
}

// skipLine passes the rest of the line, without its end.
func (s *scanner) skipLine() {
	if end := strings.IndexByte(s.code[s.at:], '\n'); end >= 0 {
		s.at += end
		return
	}
	s.at = len(s.code)
}

// skipComment passes a /* comment */.
func (s *scanner) skipComment() {
	body, _, _ := strings.Cut(s.code[s.at+2:], "*/")
	s.newline = s.newline || strings.Contains(body, "\n")
	s.at = min(len(s.code), s.at+2+len(body)+2)
}

// skipString passes a string; a line's end ends a broken one.
func (s *scanner) skipString(quote byte) {
	s.token = literal
	for s.at++; s.at < len(s.code); s.at++ {
		switch s.code[s.at] {
		case '\\':
			s.at++
		case quote:
			s.at++
			return
		case '\n':
			return
		}
	}
	s.at = len(s.code)
}

// skipTemplate passes a template's text up to its end, or up to ${, which counts as a bracket.
func (s *scanner) skipTemplate() {
	s.token = literal
	for ; s.at < len(s.code); s.at++ {
		switch s.code[s.at] {
		case '\\':
			s.at++
		case '`':
			s.at++
			return
		case '$':
			if strings.HasPrefix(s.code[s.at:], "${") {
				s.at += 2
				s.open = append(s.open, bracket{kind: '`', arrow: s.arrow})
				s.token, s.arrow = "(", false
				return
			}
		}
	}
	s.at = len(s.code)
}

// skipRegexp passes a regular expression; a slash within [] does not end it.
func (s *scanner) skipRegexp() {
	s.token = literal
	class := false
	for s.at++; s.at < len(s.code); s.at++ {
		switch s.code[s.at] {
		case '\\':
			s.at++
		case '[':
			class = true
		case ']':
			class = false
		case '/', '\n':
			if !class || s.code[s.at] == '\n' {
				s.at++
				return
			}
		}
	}
	s.at = len(s.code)
}

// regexpMayStart says whether a slash here begins a regular expression: a division follows a value.
func (s *scanner) regexpMayStart() bool {
	switch s.last {
	case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield":
		return true
	case ")":
		return controls(s.closed)
	case "]", "}":
		return false
	case "":
		return true
	case literal:
		return false
	}
	return !isWordByte(s.last[len(s.last)-1])
}

// peek is the next character after space and comments, 0 at the end; the scanner stays.
func (s *scanner) peek() byte {
	ahead := scanner{code: s.code, at: s.at}
	ahead.skipSpace()
	if ahead.at >= len(ahead.code) {
		return 0
	}
	return ahead.code[ahead.at]
}

// isWordByte says whether a byte belongs to an identifier or a number; other letters than ASCII do.
func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
