package sidecar

import (
	"regexp"
	"strings"
)

// nixPaths are the relative paths in a text of Nix, and what of its strings begins like the rest of a path. What is not
// found is not there for Nix, so that it may be misled.
func nixPaths(text string) []string {
	l := pathLexer{rest: text, within: []lexed{{}}}
	for l.rest != "" {
		switch l.within[len(l.within)-1].quote {
		case "":
			l.code()
		default:
			l.quoted()
		}
	}
	return l.found
}

// lexed is code with its open braces, or a string with its quote.
type lexed struct {
	quote  string
	braces int
}

const mostNested = 1000

type pathLexer struct {
	rest   string
	within []lexed
	found  []string
}

func (l *pathLexer) skip(n int) { l.rest = l.rest[min(n, len(l.rest)):] }

func (l *pathLexer) push(in lexed) {
	if l.within = append(l.within, in); len(l.within) > mostNested {
		l.rest = ""
	}
}

// pop leaves a string, or the code in one, where a path may go on.
func (l *pathLexer) pop() {
	if len(l.within) > 1 {
		l.within = l.within[:len(l.within)-1]
	}
	if l.within[len(l.within)-1].quote != "" {
		l.goesOn()
	}
}

// skipPast skips all until the end of a mark.
func (l *pathLexer) skipPast(mark string) {
	_, l.rest, _ = strings.Cut(l.rest, mark)
}

// code reads one token outside of strings.
func (l *pathLexer) code() {
	in := &l.within[len(l.within)-1]
	switch {
	case strings.HasPrefix(l.rest, "#"):
		l.skipPast("\n")
	case strings.HasPrefix(l.rest, "/*"):
		l.skipPast("*/")
	case strings.HasPrefix(l.rest, "''"):
		l.open("''")
	case l.rest[0] == '"':
		l.open(`"`)
	case l.rest[0] == '{':
		in.braces++
		l.skip(1)
	case l.rest[0] == '}':
		l.skip(1)
		if in.braces--; in.braces < 0 {
			in.braces = 0
			l.pop()
		}
	default:
		l.word()
	}
}

func (l *pathLexer) open(quote string) {
	l.skip(len(quote))
	l.push(lexed{quote: quote})
	l.goesOn()
}

// word reads a name, a number or a path.
func (l *pathLexer) word() {
	n := pathLength(l.rest)
	if word := l.rest[:n]; strings.Contains(word, "/") && word[0] != '/' {
		l.found = append(l.found, word)
	}
	l.skip(max(n, 1))
}

// goesOn notes what follows as the rest of a path.
func (l *pathLexer) goesOn() {
	if n := pathLength(l.rest); n > 1 && l.rest[0] == '/' {
		l.found = append(l.found, l.rest[:n])
	}
}

// pathLength is how much of a text is of what paths are made of.
func pathLength(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+-/", r))
	})
	if n < 0 {
		return len(text)
	}
	return n
}

// quoted reads on in a string, to its end or to code in it.
func (l *pathLexer) quoted() {
	quote := l.within[len(l.within)-1].quote
	switch {
	case quote == `"` && l.rest[0] == '\\':
		l.skip(2)
	case quote == "''" && strings.HasPrefix(l.rest, `''\`):
		l.skip(4)
	case quote == "''" && (strings.HasPrefix(l.rest, "'''") || strings.HasPrefix(l.rest, "''$")), strings.HasPrefix(l.rest, "$${"):
		l.skip(3)
	case strings.HasPrefix(l.rest, "${"):
		l.skip(2)
		l.push(lexed{})
	case strings.HasPrefix(l.rest, quote):
		l.skip(len(quote))
		l.pop()
	default:
		l.skip(1)
	}
}

var fetched = regexp.MustCompile(`https://[A-Za-z0-9.-]+(?::[0-9]+)?/[A-Za-z0-9._~/?@!&*+,;=%:-]*(?:\$\{)?`)

const mostFetched = 200

// nixAddresses are the addresses that a text names, each as far as it is told: one that goes on with what is only known in
// evaluation stands for its folder.
func nixAddresses(text string) (addresses []string) {
	for _, address := range fetched.FindAllString(text, mostFetched) {
		if before, open := strings.CutSuffix(address, "${"); open {
			address = before[:strings.LastIndexByte(before, '/')+1]
		}
		addresses = append(addresses, strings.TrimRight(address, ";,"))
	}
	return addresses
}
