package setup

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// manner is how a text is laid out.
type manner struct {
	// newline ends lines; unit is one step of indentation.
	newline, unit string
}

// mannerOf looks at the first indented line. Two spaces are for texts without one.
func mannerOf(text []byte) manner {
	m := manner{newline: "\n", unit: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		m.newline = "\r\n"
	}
	for line := range bytes.Lines(text) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if len(indent) > 0 && bytes.HasPrefix(line[len(indent):], []byte{'"'}) {
			m.unit = string(indent)
			break
		}
	}
	return m
}

// member writes a member whose value is an entry, beneath the names of a path. With lines, each field has its own, and
// indent is that of the member.
func (m manner) member(path []string, e entry, indent string, lines bool) string {
	return quoted(path[0]) + ": " + m.value(path[1:], e, indent, lines)
}

// value is that of the member.
func (m manner) value(path []string, e entry, indent string, lines bool) string {
	open, between, end := "{ ", ", ", " }"
	if lines {
		inner := m.newline + indent + m.unit
		open, between, end = "{"+inner, ","+inner, m.newline+indent+"}"
	}
	if len(path) > 0 {
		return open + m.member(path, e, indent+m.unit, lines) + end
	}
	fields := make([]string, 0, len(e))
	for _, f := range e {
		fields = append(fields, quoted(f.name)+": "+quoted(f.value))
	}
	return open + strings.Join(fields, between) + end
}

func renderJSON(path []string, e entry) string {
	m := mannerOf(nil)
	return "{\n" + m.unit + m.member(path, e, m.unit, true) + "\n}\n"
}

func putJSON(text []byte, path []string, e entry) ([]byte, error) {
	clean, root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	way, in, err := find(clean, &root, path)
	if err != nil {
		return nil, err
	}
	i := insertion{manner: mannerOf(clean), text: clean, in: in}
	after := i.write(way, path, e)
	if bytes.HasPrefix(text, bom) {
		after = append(bytes.Clone(bom), after...)
	}
	return after, nil
}

// insertion is a new member of an object.
type insertion struct {
	manner
	text   []byte
	in     *hujson.Value
	object *hujson.Object
}

// write puts the entry where way ends, or beneath it.
func (i insertion) write(way []place, path []string, e entry) []byte {
	if i.in != nil {
		i.object = i.in.Value.(*hujson.Object)
		return i.put(path[len(way):], e)
	}
	p := way[len(way)-1]
	i.in, i.object = p.in, p.object
	return i.replace(p.index, e)
}

// replace writes an entry in the place of a member's value.
func (i insertion) replace(index int, e entry) []byte {
	m := i.object.Members[index]
	lines := bytes.ContainsRune(i.text[i.in.StartOffset:i.in.EndOffset], '\n')
	return splice(i.text, m.Value.StartOffset, m.Value.EndOffset, i.value(nil, e, i.indentOf(m.Name.StartOffset), lines))
}

// put writes it behind the last one.
func (i insertion) put(path []string, e entry) []byte {
	end := i.in.EndOffset - 1 // of the closing brace
	if len(i.object.Members) == 0 {
		return i.putFirst(path, e, end)
	}
	last := i.object.Members[len(i.object.Members)-1]
	comma, tail := commaAfter(last.Value)
	lines := bytes.ContainsRune(i.text[i.in.StartOffset:end], '\n')
	indent := i.indentOf(last.Name.StartOffset)
	member := i.member(path, e, indent, lines)
	if comma {
		member += ","
	}
	if !lines {
		if comma {
			return splice(i.text, tail, tail, " "+member)
		}
		return splice(i.text, tail, tail, ", "+member)
	}
	at := tail + len(bytes.TrimRight(i.text[tail:end], " \t\r\n"))
	member = i.newline + indent + member
	if !bytes.ContainsRune(i.text[at:end], '\n') {
		member += i.newline + lineIndent(i.text, i.in.StartOffset)
	}
	after := splice(i.text, at, at, member)
	if !comma {
		after = splice(after, last.Value.EndOffset, last.Value.EndOffset, ",")
	}
	return after
}

// putFirst writes into an object that has at most comments.
func (i insertion) putFirst(path []string, e entry, end int) []byte {
	start := i.in.StartOffset + 1
	outer := lineIndent(i.text, i.in.StartOffset)
	at := start + len(bytes.TrimRight(i.text[start:end], " \t\r\n"))
	return splice(i.text, at, end, i.newline+outer+i.unit+i.member(path, e, outer+i.unit, true)+i.newline+outer)
}

// commaAfter says whether a comma ends the last member of an object, and where what is after it begins.
func commaAfter(v hujson.Value) (comma bool, tail int) {
	if v.AfterExtra == nil {
		return false, v.EndOffset
	}
	return true, v.EndOffset + len(v.AfterExtra) + 1
}

// indentOf is the indentation of a member that begins its line; else one step more than its object's line.
func (i insertion) indentOf(offset int) string {
	line := i.text[bytes.LastIndexByte(i.text[:offset], '\n')+1 : offset]
	if len(bytes.TrimLeft(line, " \t")) == 0 {
		return string(line)
	}
	return lineIndent(i.text, i.in.StartOffset) + i.unit
}

// lineIndent is what the line of an offset begins with.
func lineIndent(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
