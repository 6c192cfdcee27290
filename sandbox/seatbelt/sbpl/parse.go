package sbpl

import (
	"fmt"
	"strconv"
	"strings"
)

// node is an expression: a list, or an atom.
type node struct {
	list []node
	// atom is a symbol's name, a string's value or a number's digits; kind tells which.
	atom string
	kind kind
	line int
}

type kind int

const (
	list kind = iota
	symbol
	text
	number
)

func (n node) is(name string) bool { return n.kind == symbol && n.atom == name }

// head is the symbol that a list starts with, or "".
func (n node) head() string {
	if n.kind == list && len(n.list) > 0 && n.list[0].kind == symbol {
		return n.list[0].atom
	}
	return ""
}

// parser reads the Scheme that profiles are written in: lists, symbols, numbers, strings, and #"…", in which nothing is
// escaped but a quote.
type parser struct {
	in   string
	at   int
	line int
}

func parse(in string) ([]node, error) {
	p := parser{in: in, line: 1}
	var out []node
	for {
		p.space()
		if p.at == len(p.in) {
			return out, nil
		}
		n, err := p.expression()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		out = append(out, n)
	}
}

// space skips white space and comments.
func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case '\n':
			p.line++
			p.at++
		case ' ', '\t', '\r':
			p.at++
		case ';':
			for p.at < len(p.in) && p.in[p.at] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

func (p *parser) expression() (node, error) {
	switch c := p.in[p.at]; {
	case c == '(':
		return p.parenthesised()
	case c == ')':
		return node{}, fmt.Errorf("a ) that closes nothing")
	case c == '"':
		return p.quoted(false)
	case strings.HasPrefix(p.in[p.at:], `#"`):
		p.at++
		return p.quoted(true)
	case c == '\'':
		p.at++
		if p.space(); p.at == len(p.in) {
			return node{}, fmt.Errorf("a quote of nothing")
		}
		return p.expression()
	}
	return p.word()
}

func (p *parser) parenthesised() (node, error) {
	n := node{kind: list, line: p.line}
	p.at++
	for {
		p.space()
		if p.at == len(p.in) {
			return n, fmt.Errorf("the list of line %d is not closed", n.line)
		}
		if p.in[p.at] == ')' {
			p.at++
			return n, nil
		}
		e, err := p.expression()
		if err != nil {
			return n, err
		}
		n.list = append(n.list, e)
	}
}

func (p *parser) quoted(raw bool) (node, error) {
	n := node{kind: text, line: p.line}
	var b strings.Builder
	for p.at++; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			n.atom = b.String()
			return n, nil
		case c == '\\' && p.at+1 < len(p.in):
			p.at++
			e := p.in[p.at]
			if raw && e != '"' {
				b.WriteByte('\\')
			} else if !raw && e == 'n' {
				e = '\n'
			}
			b.WriteByte(e)
		default:
			if c == '\n' {
				p.line++
			}
			b.WriteByte(c)
		}
	}
	return n, fmt.Errorf("the string of line %d is not closed", n.line)
}

func (p *parser) word() (node, error) {
	from := p.at
	for p.at < len(p.in) && !strings.ContainsRune(" \t\r\n();\"", rune(p.in[p.at])) {
		p.at++
	}
	n := node{kind: symbol, atom: p.in[from:p.at], line: p.line}
	if n.atom == "" {
		return n, fmt.Errorf("%q cannot start an expression", p.in[p.at])
	}
	if _, err := strconv.ParseFloat(n.atom, 64); err == nil {
		n.kind = number
	}
	return n, nil
}
