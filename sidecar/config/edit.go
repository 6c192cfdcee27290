package config

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

const domainsKey = "network.approved"

// patch replaces a part of a text.
type patch struct {
	from, to int
	with     string
}

// edited changes the names in a file's text, and nothing else. Positions come from the parser; whether a change is the
// one that was meant is read back, so that no odd way of writing YAML gives another file than was wanted.
func edited(file string, text []byte, had, want *Domains) (changed []byte, ok bool) {
	defer func() {
		// The text may be odd, and the parser's tree is not ours.
		if p := recover(); p != nil {
			changed, ok = nil, false
		}
	}()
	body, err := parse(file, text)
	if err != nil {
		return nil, false
	}
	e := newEditor(text)
	for _, patches := range e.ways(body, had, want) {
		if len(patches) == 0 {
			continue
		}
		if changed := e.apply(patches); means(file, text, changed, want) {
			return changed, true
		}
	}
	return nil, false
}

// means says whether two texts have the same settings, but for the names, which are those that are wanted.
func means(file string, old, changed []byte, want *Domains) bool {
	got, err := domainsIn(file, changed)
	if err != nil || got == nil || got.String() != want.String() && !sameRules(got, want) {
		return false
	}
	return reflect.DeepEqual(others(file, old), others(file, changed))
}

// sameRules compares without the order.
func sameRules(a, b *Domains) bool {
	return len(a.Names) == len(b.Names) && !slices.ContainsFunc(a.Names, func(x Domain) bool {
		return !slices.ContainsFunc(b.Names, func(y Domain) bool { return reflect.DeepEqual(x, y) })
	})
}

// domainsIn are the names that a file's text sets, or nil.
func domainsIn(file string, text []byte) (*Domains, error) {
	entries, err := document(file, text)
	if err != nil {
		return nil, err
	}
	l := loader{settings: Settings{from: map[string][]origin{}}}
	for _, e := range entries {
		if e.field.key == domainsKey {
			l.set(e.field, e.raw, origin{file, e.line})
		}
	}
	return l.settings.Network.Approved, badRequest(l.errs)
}

// others are all other settings, without their lines.
func others(file string, text []byte) map[string]raw {
	entries, _ := document(file, text)
	all := map[string]raw{}
	for _, e := range entries {
		if e.field.key != domainsKey {
			all[e.field.key] = e.raw.anywhere()
		}
	}
	return all
}

// anywhere is the value without its lines.
func (r raw) anywhere() raw {
	r.line = 0
	r.items, r.pairs = slices.Clone(r.items), slices.Clone(r.pairs)
	for i := range r.items {
		r.items[i] = r.items[i].anywhere()
	}
	for i := range r.pairs {
		r.pairs[i].raw = r.pairs[i].anywhere()
	}
	return r
}

// editor knows a text's lines.
type editor struct {
	text   []byte
	starts []int
	end    string // of lines
}

func newEditor(text []byte) *editor {
	e := &editor{text: text, starts: []int{0}, end: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		e.end = "\r\n"
	}
	for i, c := range text {
		if c == '\n' {
			e.starts = append(e.starts, i+1)
		}
	}
	return e
}

// at is where a token begins; lines and columns (in characters) count from one.
func (e *editor) at(t *token.Token) int {
	i := e.line(t.Position.Line)
	for range t.Position.Column - 1 {
		_, size := utf8.DecodeRune(e.text[i:])
		i += size
	}
	return i
}

// line is where a line begins; one after the last is the end of the text.
func (e *editor) line(n int) int {
	if n > len(e.starts) {
		return len(e.text)
	}
	return e.starts[n-1]
}

// indent is the white space that a line begins with.
func (e *editor) indent(n int) string {
	line := string(e.text[e.line(n):e.line(n+1)])
	return line[:len(line)-len(strings.TrimLeft(line, " "))]
}

// insert puts lines before the line n.
func (e *editor) insert(n int, lines ...string) patch {
	text := strings.Join(lines, e.end) + e.end
	at := e.line(n)
	if at > 0 && e.text[at-1] != '\n' {
		text = e.end + text
	}
	return patch{at, at, text}
}

// apply makes the changes, last first.
func (e *editor) apply(patches []patch) []byte {
	slices.SortStableFunc(patches, func(a, b patch) int { return b.from - a.from })
	text := slices.Clone(e.text)
	for _, p := range patches {
		text = slices.Concat(text[:p.from], []byte(p.with), text[p.to:])
	}
	return text
}

// lastLine is the line that a value ends on, if nothing in it goes over several lines.
func lastLine(node ast.Node) int {
	switch n := node.(type) {
	case *ast.SequenceNode:
		if n.IsFlowStyle || len(n.Values) == 0 {
			return n.End.Position.Line
		}
		return lastLine(n.Values[len(n.Values)-1])
	case *ast.MappingNode:
		if n.IsFlowStyle || len(n.Values) == 0 {
			return n.End.Position.Line
		}
		return lastLine(n.Values[len(n.Values)-1])
	case *ast.MappingValueNode:
		return lastLine(n.Value)
	}
	return lineOf(node)
}

// writeName is a name as YAML has it, quoted where it could be taken for something else.
func writeName(name string) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	if strings.Trim(name, letters+"0123456789.-") == "" && strings.Contains(name, ".") && strings.Contains(letters, name[:1]) {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}
