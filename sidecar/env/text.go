package env

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Listing is an environment as clients see it, in JSON.
type Listing struct {
	ID        string            `json:"id"`
	Provider  string            `json:"provider"`
	Languages []ListedLanguage  `json:"languages"`
	Missing   []MissingLanguage `json:"missing,omitempty"`
	// Path is PATH inside the sandbox.
	Path []string `json:"path,omitempty"`
}

// ListedLanguage is a language that an environment can run.
type ListedLanguage struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Version string   `json:"version,omitempty"`
	Program string   `json:"program"`
	// Via says how it was found.
	Via string `json:"via,omitempty"`
}

// MissingLanguage is one that it cannot run, and how to get it.
type MissingLanguage struct {
	Name string `json:"name"`
	Hint string `json:"hint"`
}

// List makes the listing of an environment, in the order of the table of languages.
func List(e Environment) Listing {
	l := Listing{ID: e.ID, Provider: e.Provider, Languages: []ListedLanguage{}, Path: e.Path}
	for _, lang := range Languages {
		if interp, ok := e.Interpreters[lang.Name]; ok {
			l.Languages = append(l.Languages, ListedLanguage{Name: lang.Name, Aliases: lang.Aliases,
				Version: interp.Version, Program: interp.Program, Via: interp.Via})
		}
	}
	for _, m := range e.Missing {
		l.Missing = append(l.Missing, MissingLanguage{m.Language.Name, m.Hint})
	}
	return l
}

// Text lists an environment for people: what it can run, and what is missing with how to get it.
func Text(e Environment) string {
	l := List(e)
	var text strings.Builder
	fmt.Fprintf(&text, "environment %s (provider %s)\n", l.ID, l.Provider)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, lang := range l.Languages {
		_, _ = fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", lang.Name, orDash(lang.Version), lang.Program, lang.Via)
	}
	_ = w.Flush()
	if len(l.Missing) > 0 {
		text.WriteString("missing\n")
	}
	for _, m := range l.Missing {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", m.Name, m.Hint)
	}
	_ = w.Flush()
	return text.String()
}

// orDash fills an empty cell.
func orDash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}
