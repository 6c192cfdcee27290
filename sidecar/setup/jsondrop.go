package setup

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// dropJSON takes a member out, and the objects around it that have nothing else. Comments that are not in it stay.
func dropJSON(text []byte, path []string) ([]byte, error) {
	clean, root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	way, _, err := find(clean, &root, path)
	if err != nil || len(way) < len(path) {
		return text, err
	}
	p := way[len(way)-1]
	for len(way) > 1 && p.alone(clean) {
		way = way[:len(way)-1]
		p = way[len(way)-1]
	}
	after := p.cut(clean)
	if bytes.HasPrefix(text, bom) {
		after = append(bytes.Clone(bom), after...)
	}
	return after, nil
}

// alone says that the object has no other member and no comment.
func (p place) alone(text []byte) bool {
	m := p.object.Members[p.index]
	_, tail := commaAfter(m.Value)
	around := string(text[p.in.StartOffset+1:m.Name.StartOffset]) + string(text[tail:p.in.EndOffset-1])
	return len(p.object.Members) == 1 && len(bytes.TrimSpace([]byte(around))) == 0
}

func (p place) cut(text []byte) []byte {
	m := p.object.Members[p.index]
	start, end := m.Name.StartOffset, m.Value.EndOffset
	last := p.index == len(p.object.Members)-1
	comma, tail := commaAfter(m.Value)
	if !last {
		comma, tail = true, m.Value.EndOffset+len(m.Value.AfterExtra)+1
	}
	if comma {
		end = tail
	}
	start, end = wholeLine(text, start, end)
	text = splice(text, start, end, "")
	if last && !comma && p.index > 0 {
		text = withoutComma(text, p.object.Members[p.index-1].Value)
	}
	return text
}

// withoutComma takes out the comma after a value.
func withoutComma(text []byte, v hujson.Value) []byte {
	at := v.EndOffset + len(v.AfterExtra)
	return splice(text, at, at+1, "")
}

// wholeLine takes the line along when there is nothing else on it, else the blanks before.
func wholeLine(text []byte, start, end int) (int, int) {
	begin := start - (len(text[:start]) - len(bytes.TrimRight(text[:start], " \t")))
	rest := bytes.TrimLeft(text[end:], " \t")
	ends := bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n"))
	switch opens := begin > 0 && text[begin-1] == '\n'; {
	case opens && ends:
		begin--
		if begin > 0 && text[begin-1] == '\r' {
			begin--
		}
		return begin, len(text) - len(rest)
	case opens:
		return start, len(text) - len(rest)
	}
	return begin, end
}
