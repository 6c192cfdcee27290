package pieces

import (
	"regexp"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// fence is the line that opens a code fence (CommonMark 0.31, section 4.5): at least three backticks or tildes, and an
// info string, which has no backtick after backticks. Before them may be what quotations and lists put there.
var fence = regexp.MustCompile("^((?:[ \t]*>)*[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*(.*)$")

// fences are those of a Markdown document whose info string names a language, known or not.
func fences(lines []string) []Piece {
	var out []Piece
	for i := 0; i < len(lines); i++ {
		m := fence.FindStringSubmatch(lines[i])
		if m == nil || m[2][0] == '`' && strings.Contains(m[3], "`") {
			continue
		}
		p := Piece{Kind: Fence, Head: i, First: i + 1}
		p.Language, p.Word = named(m[3])
		i = p.fill(lines, m[1], m[2])
		if p.Word != "" && strings.TrimSpace(p.Code) != "" {
			out = append(out, p)
		}
	}
	return out
}

// fill reads a fence's lines, and gives the line that closes it: one of at least as many of the same characters, the end
// of its quotation, or of the document.
func (p *Piece) fill(lines []string, margin, marks string) int {
	quotes := strings.Count(margin, ">")
	var code []string
	for i := p.First; i < len(lines); i++ {
		cut, ok := within(lines[i], quotes, len(margin))
		rest := lines[i][cut:]
		if isClosed := closes(rest, marks); isClosed || !ok {
			p.End, p.Code = i, joined(code)
			if !ok {
				i--
			}
			return i
		}
		p.Margins = append(p.Margins, cut)
		code = append(code, rest)
	}
	p.End, p.Code = len(lines), joined(code)
	return len(lines)
}

// joined are lines as a text that ends with a line's end.
func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// within is how many bytes at the beginning of a line belong to the quotations and the indentation of its fence; not ok
// is a line that is no longer in the quotation.
func within(line string, quotes, margin int) (cut int, ok bool) {
	for range quotes {
		at := strings.IndexFunc(line[cut:], func(r rune) bool { return r != ' ' && r != '\t' })
		if at < 0 || line[cut+at] != '>' {
			return 0, false
		}
		cut += at + 1
	}
	for cut < len(line) && cut < margin && (line[cut] == ' ' || line[cut] == '\t') {
		cut++
	}
	return cut, true
}

// closes says whether a line closes a fence that was opened with marks.
func closes(line, marks string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(marks) && strings.Trim(line, marks[:1]) == ""
}

// notWords are what ends the language in an info string: "python title=x", "{.python .numbered}", "js,ignore", "r{echo=F}".
const notWords = " \t,{}:;=()[]"

// named is the language that an info string names.
func named(info string) (language, word string) {
	info = strings.TrimLeft(info, "{ \t.=")
	word = info
	if at := strings.IndexAny(info, notWords); at >= 0 {
		word = info[:at]
	}
	lang, err := env.Lookup(word)
	if err != nil {
		return "", word
	}
	return lang.Name, word
}
