package config

import (
	"fmt"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// shape is the form in which a source gives a value.
type shape string

const (
	scalar  shape = "a single value"
	list    shape = "a list"
	mapping shape = "a map"
	nothing shape = "nothing"
)

// raw is a value as a source gives it, before the schema is asked.
type raw struct {
	shape shape
	// text is a single value's, or "null" where nothing is written as that.
	text  string
	items []raw
	pairs []rawPair
	// line is 0 where there are no lines.
	line int
}

// rawPair is one name of a map, in the order of the file.
type rawPair struct {
	name string
	raw
}

// have describes the value for an error message.
func (r raw) have() string {
	if r.shape == scalar {
		return quote(r.text)
	}
	return string(r.shape)
}

// rawNode is a setting's value.
func rawNode(node ast.Node) (raw, error) {
	switch n := node.(type) {
	case nil:
		return raw{shape: nothing}, nil
	case *ast.NullNode:
		return raw{shape: nothing, text: written(n), line: lineOf(n)}, nil
	case *ast.SequenceNode:
		return rawList(n)
	case ast.MapNode:
		return rawMap(n)
	}
	text, ok := plain(node)
	if !ok {
		return raw{}, unusable(node)
	}
	return raw{shape: scalar, text: text, line: lineOf(node)}, nil
}

// written is "null" for a null that somebody wrote, and empty for a line that was not finished.
func written(n *ast.NullNode) string {
	if n.Token != nil && n.Token.Type == token.NullType {
		return "null"
	}
	return ""
}

func unusable(node ast.Node) error {
	return fmt.Errorf("have %s, which sidecar's files do not use", describe(node))
}

func rawList(n *ast.SequenceNode) (raw, error) {
	r := raw{shape: list, line: lineOf(n)}
	for _, value := range n.Values {
		item, err := rawNode(value)
		if err != nil {
			return raw{}, err
		}
		r.items = append(r.items, item)
	}
	return r, nil
}

func rawMap(n ast.MapNode) (raw, error) {
	r := raw{shape: mapping}
	for pairs := n.MapRange(); pairs.Next(); {
		name, ok := plain(pairs.Key())
		if !ok {
			return raw{}, unusable(pairs.Key())
		}
		value, err := rawNode(pairs.Value())
		if err != nil {
			return raw{}, err
		}
		value.line = lineOf(pairs.Key())
		r.pairs = append(r.pairs, rawPair{name, value})
	}
	return r, nil
}
