package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonc is JSON with comments and trailing commas, as editors and agents take it. What is written is JSON of the plain
// kind, unless the object it goes into ends its members with commas.
var jsonc = syntax{read: readJSON, put: putJSON, drop: dropJSON, render: renderJSON}

var bom = []byte("\xef\xbb\xbf")

// parseJSON parses a text without its byte order mark; an empty one is an empty object.
func parseJSON(text []byte) (clean []byte, root hujson.Value, err error) {
	clean = bytes.TrimPrefix(text, bom)
	if len(bytes.Trim(clean, " \t\r\n")) == 0 { // what JSON has as blanks, and nothing else
		clean = []byte("{}\n")
	}
	root, err = hujson.Parse(bytes.Clone(clean))
	if err != nil {
		return nil, root, positionOf(err)
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, root, &SyntaxError{Line: 1, Column: 1, Problem: "an object was expected"}
	}
	return clean, root, nil
}

// positionOf takes the position out of hujson's error, which has it in its text only.
func positionOf(err error) error {
	var e SyntaxError
	head, problem, ok := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
	if _, scan := fmt.Sscanf(head, "line %d, column %d", &e.Line, &e.Column); !ok || scan != nil {
		return err
	}
	e.Problem = problem
	return &e
}

func readJSON(text []byte) (map[string]any, error) {
	_, root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	root.Standardize()
	d := json.NewDecoder(bytes.NewReader(root.Pack()))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	return all, nil
}

// find goes along a path as far as there are objects. It gives the members on the way, and the object in which the
// first missing name would be, or none where none is missing. What is no object in the middle of the way is an error.
func find(text []byte, root *hujson.Value, path []string) (way []place, in *hujson.Value, err error) {
	in = root
	for _, name := range path {
		object, ok := in.Value.(*hujson.Object)
		if !ok {
			line, column := lineColumn(text, in.StartOffset)
			return nil, nil, &SyntaxError{Line: line, Column: column, Problem: "an object was expected"}
		}
		i, err := memberNamed(text, object, name)
		if err != nil {
			return nil, nil, err
		}
		if i < 0 {
			return way, in, nil
		}
		way = append(way, place{in: in, object: object, index: i})
		in = &object.Members[i].Value
	}
	return way, nil, nil
}

// place is a member of an object.
type place struct {
	in     *hujson.Value
	object *hujson.Object
	index  int
}

func memberNamed(text []byte, o *hujson.Object, name string) (int, error) {
	found := -1
	for i, m := range o.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); !ok || literal.String() != name {
			continue
		}
		if found >= 0 {
			line, column := lineColumn(text, m.Name.StartOffset)
			return 0, &SyntaxError{Line: line, Column: column, Problem: fmt.Sprintf("%q is there twice", name)}
		}
		found = i
	}
	return found, nil
}

// SyntaxError is a text that is not what its name says, or says something twice.
type SyntaxError struct {
	// Line and Column count from one; columns are bytes.
	Line, Column int
	Problem      string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Problem) }

func lineColumn(text []byte, offset int) (line, column int) {
	head := text[:offset]
	return 1 + bytes.Count(head, []byte("\n")), offset - bytes.LastIndexByte(head, '\n')
}

// splice is text with another piece in the place of the bytes from start to end.
func splice(text []byte, start, end int, piece string) []byte {
	return bytes.Join([][]byte{text[:start], text[end:]}, []byte(piece))
}
