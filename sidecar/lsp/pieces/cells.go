package pieces

import (
	"regexp"
	"strings"
)

// marks are the lines that begin a cell, by what comments begin with in a language: "# %% title", "# In[3]:" as Jupyter
// writes it, "#%%".
var marks = map[string]*regexp.Regexp{
	"#":  regexp.MustCompile(`^#[ \t]*(?:%%+(.*)|In\[[ 0-9]*\]:?[ \t]*)$`),
	"//": regexp.MustCompile(`^//[ \t]*%%+(.*)$`),
	"--": regexp.MustCompile(`^--[ \t]*%%+(.*)$`),
	"%":  regexp.MustCompile(`^%%+([ \t].*)?$`),
}

// comments are what comments begin with, by language.
var comments = map[string]string{
	"python": "#", "bash": "#", "ruby": "#", "perl": "#", "r": "#", "julia": "#", "octave": "%",
	"node": "//", "typescript": "//", "go": "//", "php": "//", "lua": "--", "haskell": "--",
}

// cells are the parts of a document between lines that begin one; what is before the first is one, too. Those of text
// ("# %% [markdown]") and empty ones are left out. A document without such a line has none.
func cells(lines []string, language string) []Piece {
	mark := marks[comments[language]]
	if mark == nil {
		return nil
	}
	var out []Piece
	p, isText, found := Piece{Kind: Cell, Language: language, Word: language}, false, false
	for i := 0; i <= len(lines); i++ {
		var m []string
		if i < len(lines) {
			if m = mark.FindStringSubmatch(lines[i]); m == nil {
				continue
			}
		}
		if p.End, p.Code = i, joined(lines[p.First:i]); !isText && strings.TrimSpace(p.Code) != "" {
			out = append(out, p)
		}
		if m != nil {
			found, isText = true, textual(m[1])
			p.Head, p.First = i, i+1
		}
	}
	if !found {
		return nil
	}
	return out
}

// textual says that a cell is text: "[markdown]", "[md]", "[raw]".
func textual(title string) bool {
	title = strings.ToLower(title)
	return strings.Contains(title, "[markdown]") || strings.Contains(title, "[md]") || strings.Contains(title, "[raw]")
}
