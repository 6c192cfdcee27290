package config

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// entry is one setting as a file gives it.
type entry struct {
	field field
	raw   raw
	line  int
}

// maxErrors is how many mistakes of one file are told at once.
const maxErrors = 10

// document reads a YAML text into entries. Nothing is decoded by reflection: the tree is walked by hand, and
// anchors, aliases, merge keys and tags are refused, so that a text cannot grow when it is read.
func document(file string, text []byte) (entries []entry, err error) {
	return documentIn(file, text, "")
}

// documentIn reads a text whose settings are those of a section ("profiles.claude.").
func documentIn(file string, text []byte, section string) (entries []entry, err error) {
	defer func() {
		// The text may be hostile, and the parser is not ours.
		if p := recover(); p != nil {
			entries, err = nil, &Error{File: file, Problem: "no YAML that sidecar can read"}
		}
	}()
	body, err := parse(file, text)
	if err != nil || body == nil {
		return nil, err
	}
	r := &reader{file: file}
	r.walk(body, section)
	return r.entries, errors.Join(r.errs...)
}

// parse gives the one document of a text; nil when it is empty.
func parse(file string, text []byte) (ast.Node, error) {
	tokens := lexer.Tokenize(string(text))
	if line := tooDeep(tokens); line > 0 {
		return nil, &Error{File: file, Line: line, Problem: "nested deeper than any setting"}
	}
	tree, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	var body ast.Node
	for _, doc := range tree.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if body != nil {
			return nil, &Error{File: file, Line: lineOf(doc.Body), Problem: "a second document; want one"}
		}
		body = doc.Body
	}
	return body, nil
}

// tooDeep finds the line where brackets nest, or one line opens lists, beyond what any setting needs; the parser
// recurses, and its cost grows with the square of the depth.
func tooDeep(tokens token.Tokens) int {
	const deepest = 8
	open, inLine, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			open++
		case token.MappingEndType, token.SequenceEndType:
			open--
		case token.SequenceEntryType, token.MappingKeyType:
			inLine++
		}
		if open > deepest || inLine > deepest || t.Position.Column > 1 && t.Position.IndentNum > 16*deepest {
			return line
		}
	}
	return 0
}

// syntaxError keeps the parser's sentence and line, not its drawing of the source.
func syntaxError(file string, err error) error {
	e := &Error{File: file, Problem: "no YAML", Err: err}
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) {
		e.Problem = "no YAML: " + quote(at.GetMessage())
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	return e
}

// reader walks one file's tree.
type reader struct {
	file    string
	entries []entry
	errs    []error
}

func (r *reader) fail(node ast.Node, key, problem, hint string) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &Error{File: r.file, Line: lineOf(node), Key: key, Problem: problem, Hint: hint})
	}
}

// walk reads a section.
func (r *reader) walk(node ast.Node, section string) {
	values, ok := node.(ast.MapNode)
	if !ok {
		r.fail(node, section, "have "+describe(node)+", want a map of settings", "")
		return
	}
	for pairs := values.MapRange(); pairs.Next(); {
		name, ok := plain(pairs.Key())
		if !ok {
			r.fail(pairs.Key(), section, "have "+describe(pairs.Key())+", want the name of a setting", "")
			continue
		}
		r.pair(pairs.KeyValue(), section+name)
	}
}

// pair reads one setting or section.
func (r *reader) pair(pair *ast.MappingValueNode, key string) {
	if f, ok := lookup(key); ok {
		value, err := rawNode(pair.Value)
		if err != nil {
			r.fail(pair.Value, key, err.Error(), "")
			return
		}
		r.entries = append(r.entries, entry{field: f, raw: value, line: lineOf(pair.Key)})
		return
	}
	if !isSection(key) {
		r.unknown(pair.Key, key)
		return
	}
	if value, err := rawNode(pair.Value); err == nil && short[key] != "" && (value.shape == scalar || value.shape == list) {
		f, _ := lookup(short[key])
		r.entries = append(r.entries, entry{field: f, raw: value, line: lineOf(pair.Key)})
		return
	}
	if f, ok := whole(key); ok && isEmpty(pair.Value) {
		r.entries = append(r.entries, entry{field: f, line: lineOf(pair.Key)})
		return
	}
	if pair.Value != nil && pair.Value.Type() != ast.NullType {
		r.walk(pair.Value, key+".")
	}
}

// short are the settings that a single value, or a list, in the place of their section means.
var short = map[string]string{"history": "history.keep", "hosts": "hosts.status"}

// isEmpty says whether a section has nothing in it.
func isEmpty(node ast.Node) bool {
	values, ok := node.(ast.MapNode)
	return node == nil || node.Type() == ast.NullType || ok && !values.MapRange().Next()
}

// unknown names the nearest key, as long as anybody reads on.
func (r *reader) unknown(node ast.Node, key string) {
	if name, ok := strings.CutPrefix(key, profiles+"."); ok && !isName(name) && !strings.Contains(name, ".") {
		r.fail(node, profiles, "have "+quote(name)+", want "+kinds["name"].one, "")
		return
	}
	if len(r.errs) < maxErrors {
		r.fail(node, key, "no such setting", nearest(key))
	}
}

// plain is the text of a scalar as it is written, so that 1.10 stays 1.10.
func plain(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// describe names a node's kind in words.
func describe(node ast.Node) string {
	switch node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a map"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "a YAML anchor, alias or merge"
	}
	if text, ok := plain(node); ok {
		return quote(text)
	}
	return "a YAML " + strings.ToLower(node.Type().String())
}

func lineOf(node ast.Node) int {
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
