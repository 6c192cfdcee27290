// Package pieces finds what of a document can be run: code fences of Markdown, cells, scripts and whole files.
//
//	for _, p := range pieces.Of(pieces.Document{Path: "notes.md", Text: text}) { … }
//
// It knows languages (package env) and nothing of editors: lines are counted from 0, in characters of no kind.
package pieces

import (
	"path"
	"strings"

	"code.sidecar.dev/sidecar/env"
)

// Document is a text as an editor has it.
type Document struct {
	// Path is its file's, or anything with a file's name at its end; "" is unknown.
	Path string
	// Language is what the editor calls its language (LSP's languageId), "" if it does not say.
	Language string
	Text     string
}

// Kind is what a piece is.
type Kind int

// The kinds of pieces.
const (
	// Fence is a code fence of a Markdown document.
	Fence Kind = iota
	// Cell is a part between two lines with %%.
	Cell
	// File is a whole document.
	File
)

// Piece is a part of a document that can be run.
type Piece struct {
	Kind Kind
	// Language is the name of its language; "" when Word, which the document calls it, is none that is known.
	Language, Word string
	// Head is the line that a person sees it begin with: the fence's, the cell's, the first.
	Head int
	// First is the first line of its code, End the line after the last.
	First, End int
	// Code is its text, without what the lines of a fence have before them in lists and quotations.
	Code string
	// Margins are how many bytes of each of its lines stand before the code; nil is none.
	Margins []int
}

// Of are the pieces of a document, in order. A document with cells has no piece of kind File.
func Of(d Document) []Piece {
	lines := Lines(d.Text)
	if isMarkdown(d) {
		return fences(lines)
	}
	language := LanguageOf(d)
	if language == "" {
		return nil
	}
	if all := cells(lines, language); len(all) > 0 {
		return all
	}
	if strings.TrimSpace(d.Text) == "" {
		return nil
	}
	return []Piece{{Kind: File, Language: language, Word: language, End: len(lines), Code: d.Text}}
}

// isMarkdown also knows what is written in Markdown under other names.
func isMarkdown(d Document) bool {
	switch strings.ToLower(d.Language) {
	case "markdown", "mdx", "quarto", "rmd", "vimwiki", "gfm", "markdown-mode", "pandoc":
		return true
	}
	switch strings.ToLower(path.Ext(d.Path)) {
	case ".md", ".markdown", ".mdx", ".qmd", ".rmd", ".mkd":
		return true
	}
	return false
}

// LanguageOf is the name of a document's language: by its #! line, by what the editor calls it, by its name; "" is none
// that is known.
func LanguageOf(d Document) string {
	if strings.HasPrefix(d.Text, "#!") {
		if name := env.LanguageOf("", d.Text); name != "" {
			return name
		}
	}
	if lang, err := env.Lookup(strings.TrimSuffix(d.Language, "-ts")); err == nil && d.Language != "" {
		return lang.Name
	}
	return env.LanguageOf(path.Base(d.Path), "")
}

// Lines are the lines of a text, without their ends, of which LSP knows \n, \r\n and \r.
func Lines(text string) []string {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Split(text, "\n")
}

// At are the pieces that one of the lines first to last is in, with its head.
func At(all []Piece, from, to int) []Piece {
	var out []Piece
	for _, p := range all {
		end := p.End
		if p.Kind == Fence {
			end++ // the closing line
		}
		if from < max(end, p.Head+1) && to >= p.Head {
			out = append(out, p)
		}
	}
	return out
}

// Strip takes from a part of the piece's text, the first line of which is line, what stands before the code in each line;
// not in the first where that does not begin the line.
func (p Piece) Strip(text string, line int, begins bool) string {
	lines := Lines(text)
	for i := range lines {
		if at := line + i - p.First; at >= 0 && at < len(p.Margins) && (i > 0 || begins) {
			lines[i] = lines[i][min(p.Margins[at], len(lines[i])):]
		}
	}
	return strings.Join(lines, "\n")
}

// Dedented is a text without the indentation that all of its lines have, so that a selected body of a function runs.
func Dedented(text string) string {
	lines := Lines(text)
	common, known := "", false
	for _, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		if rest == "" {
			continue
		}
		indent := line[:len(line)-len(rest)]
		if !known {
			common, known = indent, true
		}
		for !strings.HasPrefix(indent, common) {
			common = common[:len(common)-1]
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, common)
		if strings.TrimSpace(line) == "" {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
