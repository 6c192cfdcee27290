package env

import "strings"

// isModule says whether JavaScript can only be an ES module: it has a static import or export, import.meta,
// or an await outside of any function. All else stays CommonJS, which has require.
//
// It reads tokens and tracks brackets; it is no parser. Where JavaScript needs one (is this slash a division
// or a regular expression, does this newline end an arrow function), it takes the common reading.
func isModule(code string) bool {
	s := scanner{code: code}
	if strings.HasPrefix(code, "#!") {
		s.skipLine()
	}
	for s.next() {
		if s.marksModule() {
			return true
		}
	}
	return false
}

// literal is the token that stands for a string, a template or a regular expression.
const literal = `""`

// scanner walks over JavaScript's tokens. A token is a word, one character of punctuation, "=>", or literal;
// "" is the beginning.
type scanner struct {
	code string
	at   int
	// token is the present one, last the one before it, newline whether a line ended between them.
	token, last string
	newline     bool
	// open are the brackets around the present token.
	open []bracket
	// closed is the bracket closed last, while last is its end.
	closed bracket
	// beforeLast is the token before last.
	beforeLast string
	// arrow says that, within the innermost bracket, an arrow function's expression goes on.
	arrow bool
}

// bracket is an open (, [, {, or a template's ${.
type bracket struct {
	kind byte
	// before and before2 are the tokens that precede it, the nearer first.
	before, before2 string
	// function says that it is a function's body; arrow is the scanner's flag outside it.
	function, arrow bool
}

// marksModule says whether the present token makes the code an ES module.
func (s *scanner) marksModule() bool {
	if s.last == "." {
		return false
	}
	switch s.token {
	case "import":
		after := s.peek()
		if after == '.' {
			return strings.HasPrefix(strings.TrimLeft(s.code[s.at:], " \t\r\n."), "meta")
		}
		return len(s.open) == 0 && s.startsStatement() && after != '(' && after != ':' && after != '='
	case "export":
		after := s.peek()
		return len(s.open) == 0 && s.startsStatement() && after != ':' && after != '=' && after != '('
	case "await":
		after := s.peek()
		isName := after == '=' || after == ':' || after == ',' || after == ')' || after == ';' || after == 0
		return !isName && !s.inFunction()
	}
	return false
}

// startsStatement says whether the present token begins a statement.
func (s *scanner) startsStatement() bool {
	return s.newline || s.last == "" || s.last == ";" || s.last == "}"
}

// inFunction says whether any function surrounds the present token.
func (s *scanner) inFunction() bool {
	if s.arrow {
		return true
	}
	for _, b := range s.open {
		if b.function || b.arrow {
			return true
		}
	}
	return false
}

// next moves to the next token; false is the end.
func (s *scanner) next() bool {
	s.beforeLast, s.last, s.newline = s.last, s.token, false
	s.skipSpace()
	if s.at >= len(s.code) {
		return false
	}
	if s.arrow && s.newline && s.last != "=>" && s.code[s.at] != '.' && s.code[s.at] != '?' {
		s.arrow = false
	}
	switch c := s.code[s.at]; {
	case isWordByte(c):
		start := s.at
		for s.at < len(s.code) && isWordByte(s.code[s.at]) {
			s.at++
		}
		s.token = s.code[start:s.at]
	case c == '"' || c == '\'':
		s.skipString(c)
	case c == '`':
		s.at++
		s.skipTemplate()
	case c == '/' && s.regexpMayStart():
		s.skipRegexp()
	default:
		s.punctuation(c)
	}
	return true
}

// punctuation takes one character, or "=>", and tracks brackets and arrow functions.
func (s *scanner) punctuation(c byte) {
	s.at++
	s.token = string(c)
	switch c {
	case '(', '[', '{':
		s.push(c)
	case ')', ']', '}':
		s.pop()
	case ';', ',':
		s.arrow = false
	case '=':
		if s.at < len(s.code) && s.code[s.at] == '>' {
			s.at++
			s.token, s.arrow = "=>", true
		}
	}
}

// push opens a bracket. A brace after => or after a parameter list is a function's body; after the head of
// an if, a loop, a switch or a catch it is a block.
func (s *scanner) push(c byte) {
	b := bracket{kind: c, before: s.last, before2: s.beforeLast, arrow: s.arrow}
	if c == '{' {
		b.function = s.last == "=>" || s.last == ")" && !controls(s.closed)
	}
	s.open = append(s.open, b)
	s.arrow = false
}

// pop closes the innermost bracket; after a template's ${ the template goes on.
func (s *scanner) pop() {
	if len(s.open) == 0 {
		return
	}
	s.closed = s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	// The body of an arrow function ends it.
	s.arrow = s.closed.arrow && !(s.closed.function && s.closed.before == "=>")
	if s.closed.kind == '`' {
		s.skipTemplate()
	}
}

// controls says whether a closed parenthesis was the head of a control statement.
func controls(b bracket) bool {
	word := b.before
	if word == "await" {
		word = b.before2
	}
	switch word {
	case "if", "for", "while", "switch", "catch", "with":
		return true
	}
	return false
}
