package setup

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tables is TOML: an entry is a table with a header of its own.
var tables = syntax{read: readTOML, put: putTOML, drop: dropTOML, render: renderTOML}

func readTOML(text []byte) (map[string]any, error) {
	all := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(text, bom), &all)
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		line, column := broken.Position()
		return nil, &SyntaxError{Line: line, Column: column, Problem: strings.TrimPrefix(broken.Error(), "toml: ")}
	}
	return all, err
}

func renderTOML(path []string, e entry) string {
	lines := []string{"[" + strings.Join(path, ".") + "]"}
	for _, f := range e {
		lines = append(lines, f.name+" = "+quoted(f.value))
	}
	return strings.Join(lines, "\n") + "\n"
}

// putTOML writes the table at the end, where it stands in the way of nothing.
func putTOML(text []byte, path []string, e entry) ([]byte, error) {
	all, err := readTOML(text)
	if err == nil && at(all, path) != nil {
		text, err = dropTOML(text, path)
	}
	if err != nil {
		return nil, err
	}
	newline := mannerOf(text).newline
	after := bytes.Clone(text)
	if len(after) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		after = append(after, newline...)
	}
	if len(bytes.TrimSpace(after)) > 0 {
		after = append(after, newline...)
	}
	return append(after, strings.ReplaceAll(renderTOML(path, e), "\n", newline)...), nil
}

// dropTOML takes out the tables at and beneath a path. Comments after their last line belong to what follows.
func dropTOML(text []byte, path []string) ([]byte, error) {
	var spans [][2]int
	inside := false
	p := unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		first, last, keys := extent(e)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if inside = len(keys) >= len(path) && slices.Equal(keys[:len(path)], path); inside {
				spans = append(spans, [2]int{lineStart(text, first), lineEnd(text, last)})
			}
		default:
			if inside {
				spans[len(spans)-1][1] = lineEnd(text, last)
			}
		}
	}
	if err := p.Error(); err != nil {
		return nil, err
	}
	if len(spans) == 0 {
		return nil, errors.New(strings.Join(path, ".") + " is not a table with a header of its own; change it by hand")
	}
	for _, s := range slices.Backward(spans) {
		text = splice(text, blankBefore(text, s[0]), s[1], "")
	}
	return text, nil
}

// extent is where an expression's first byte that is known of and its last one are, and its key.
func extent(e *unstable.Node) (first, last int, keys []string) {
	first, last = int(e.Raw.Offset), int(e.Raw.Offset+e.Raw.Length)
	for it := e.Key(); it.Next(); {
		n := it.Node()
		keys = append(keys, string(n.Data))
		if e.Kind == unstable.KeyValue {
			continue
		}
		if len(keys) == 1 {
			first = int(n.Raw.Offset)
		}
		last = int(n.Raw.Offset + n.Raw.Length)
	}
	return first, last, keys
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is behind the end of the line.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// blankBefore takes one empty line along that is above.
func blankBefore(text []byte, start int) int {
	for _, newline := range []string{"\r\n", "\n"} {
		if rest, ok := bytes.CutSuffix(text[:start], []byte(newline)); ok && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n"))) {
			return len(rest)
		}
	}
	return start
}
