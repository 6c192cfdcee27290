package workspace

import (
	"path/filepath"
	"strings"
	"syscall"

	"code.sidecar.dev/workspace/looks"
)

// shellWords splits a command line or script into the words that may name files. It reads quotes and
// backslashes as sh does, ends words at operators, drops variables ("$TOP/x" gives "/x") and gives what follows
// "=" as a word of its own. It is no shell: what it must get right is to miss no plain path.
func shellWords(text string) []string {
	s := &splitter{text: text}
	for s.pos < len(text) {
		s.step()
	}
	s.end()
	return s.words
}

type splitter struct {
	text   string
	pos    int
	word   []byte
	quote  byte
	opened int // where the single quote opened
	words  []string
}

func (s *splitter) step() {
	c := s.text[s.pos]
	s.pos++
	switch {
	case s.quote == '\'':
		s.nested(c)
	case c == '\\' && s.pos < len(s.text):
		if s.text[s.pos] != '\n' {
			s.word = append(s.word, s.text[s.pos])
		}
		s.pos++
	case c == '"' || c == '\'' && s.quote == 0:
		s.toggle(c)
	case c == '$':
		s.variable()
	case strings.IndexByte(";&|()<>`\n", c) >= 0, s.quote == 0 && (c == ' ' || c == '\t' || c == '\r'):
		s.end()
	default:
		s.word = append(s.word, c)
	}
}

// nested is a character in single quotes. Scripts within scripts (sh -c '…') are common, so what is quoted is
// split as well, and given whole besides if it has blanks.
func (s *splitter) nested(c byte) {
	switch {
	case c == '\'':
		s.quote = 0
		if whole := s.text[s.opened : s.pos-1]; strings.ContainsAny(whole, " \t") {
			s.end()
			s.words = append(s.words, whole)
		}
	case strings.IndexByte(" \t\r\n;&|()<>`", c) >= 0:
		s.end()
	case c == '"':
	case c == '$':
		s.variable()
	default:
		s.word = append(s.word, c)
	}
}

func (s *splitter) toggle(c byte) {
	if s.quote == c {
		s.quote = 0
	} else {
		s.quote, s.opened = c, s.pos
	}
}

// variable skips "NAME" or "{…}" after a "$"; "$(" ends the word, as an operator does.
func (s *splitter) variable() {
	rest := s.text[s.pos:]
	if strings.HasPrefix(rest, "{") {
		if i := strings.IndexByte(rest, '}'); i >= 0 {
			s.pos += i + 1
		}
		return
	}
	n := 0
	for n < len(rest) && (rest[n] == '_' || isAlnum(rest[n])) {
		n++
	}
	s.pos += n
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (s *splitter) end() {
	word := string(s.word)
	s.word = nil
	if word == "" {
		return
	}
	s.words = append(s.words, word)
	if _, value, ok := strings.Cut(word, "="); ok && value != "" {
		s.words = append(s.words, value)
	}
}

// scriptSuffixes are endings of files that interpreters execute.
var scriptSuffixes = []string{".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".ps1", ".lua", ".php"}

func isScriptName(name string) bool {
	for _, suffix := range scriptSuffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

func isRegular(l *looks.Looks, path string) bool {
	st, err := l.Stat(path)
	return err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG
}

func isExecutable(l *looks.Looks, path string) bool {
	st, err := l.Stat(path)
	return err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG && st.Mode&0o111 != 0
}

// maxScript is how much of a hook is read for the scripts it calls.
const maxScript = 64 << 10

// script protects the scripts of the workspace that a hook names: executing the hook executes them.
func (p *protector) script(r *Repository, hook string) {
	if p.words > maxWords {
		return
	}
	if real, err := p.looks.Real(hook); err == nil {
		hook = real
	}
	data, err := p.looks.ReadHead(hook, maxScript)
	if err != nil {
		return
	}
	w := claim{reason: "the hook " + hook + " executes it", rank: rankPointer, absent: Watch}
	seen := map[string]bool{}
	for _, word := range shellWords(string(data)) {
		if seen[word] || !strings.Contains(word, "/") && !isScriptName(word) {
			continue
		}
		if !p.more() {
			return
		}
		seen[word] = true
		p.hookWord(r, hook, word, w)
	}
	p.pieces(reader{claim: w, repo: r, bases: []string{filepath.Dir(hook)}, given: true, folders: true}, string(data))
}

func (p *protector) hookWord(r *Repository, hook, word string, w claim) {
	if path := p.fileOf(r, word, filepath.Dir(hook)); path != "" {
		if isScriptName(path) || isExecutable(p.looks, path) {
			w.path = path
			p.add(w)
		}
		return
	}
	// A script that is called but absent: only where the name leaves no doubt.
	if strings.HasPrefix(word, "./") && isScriptName(word) {
		w.path = filepath.Join(topOf(r), word)
		p.add(w)
	}
}
