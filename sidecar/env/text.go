package env

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"code.sidecar.dev/sidecar/protocol"
)

// List makes the listing of an environment, in the order of the table of languages.
func List(e Environment) protocol.Environment {
	l := protocol.Environment{ID: e.ID, Provider: e.Provider, Languages: []protocol.Language{}, Path: e.Path}
	for _, lang := range Languages {
		if interp, ok := e.Interpreters[lang.Name]; ok {
			l.Languages = append(l.Languages, protocol.Language{Name: lang.Name, Aliases: lang.Aliases,
				Version: interp.Version, Program: interp.Program, Via: interp.Via})
		}
	}
	for _, m := range e.Missing {
		l.Missing = append(l.Missing, protocol.MissingLanguage{Name: m.Language.Name, Hint: m.Hint})
	}
	return l
}

// Text lists an environment for people: what it can run, and what is missing with how to get it.
func Text(l protocol.Environment) string {
	var text strings.Builder
	fmt.Fprintf(&text, "environment %s (provider %s%s)\n", l.ID, l.Provider, about(l))
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

// about is what else there is to say of an environment.
func about(l protocol.Environment) string {
	text := ""
	if l.Summary != "" {
		text += ": " + l.Summary
	}
	if len(l.Packages) > 0 {
		text += ", with " + strings.Join(l.Packages, ", ")
	}
	if l.NotBuilt {
		text += "; built at its first use"
	}
	return text
}
