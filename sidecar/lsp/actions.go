package lsp

import (
	"context"
	"encoding/json"
	"slices"

	"code.sidecar.dev/sidecar/lsp/pieces"
	"code.sidecar.dev/sidecar/rpc"
)

// command is LSP's Command.
type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

// lens is LSP's CodeLens.
type lens struct {
	Range   span    `json:"range"`
	Command command `json:"command"`
}

// action is LSP's CodeAction. It has no kind, since it changes nothing.
type action struct {
	Title   string  `json:"title"`
	Command command `json:"command"`
}

// codeLens is textDocument/codeLens: one above each piece that can run.
func (e *editor) codeLens(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[documentParams]("textDocument/codeLens", raw)
	if err != nil {
		return nil, err
	}
	out := []lens{}
	d, err := e.document(p.TextDocument.URI)
	if err != nil || e.options.Lenses != nil && !*e.options.Lenses {
		return out, nil //nolint:nilerr // a document that cannot run has no lens
	}
	for i, piece := range pieces.Of(d.piecewise()) {
		if piece.Language == "" {
			continue
		}
		at := span{position{piece.Head, 0}, position{piece.Head, 0}}
		for _, c := range runs(d.uri, piece, i > 0) {
			out = append(out, lens{at, c})
		}
	}
	return out, nil
}

// runs are the ways to run a piece.
func runs(uri string, p pieces.Piece, isLater bool) []command {
	title := "Run in sandbox"
	if p.Language == "" {
		title += ": " + p.Word + " is not known"
	}
	line := p.Head
	out := []command{{title, commandRun, []any{what{URI: uri, Line: &line}}}}
	if p.Kind == pieces.Cell && isLater {
		out = append(out, command{"Run with the cells above", commandRun, []any{what{URI: uri, Line: &line, Above: true}}})
	}
	return out
}

// codeAction is textDocument/codeAction: what can be run where the cursor or the selection is, and what to do about the
// document's last run.
func (e *editor) codeAction(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[struct {
		documentParams
		Range   span `json:"range"`
		Context struct {
			Only []string `json:"only"`
		} `json:"context"`
	}]("textDocument/codeAction", raw)
	if err != nil {
		return nil, err
	}
	out := []any{}
	d, err := e.document(p.TextDocument.URI)
	if err != nil || len(p.Context.Only) > 0 && !slices.Contains(p.Context.Only, "") {
		return out, nil //nolint:nilerr // as above
	}
	for _, c := range append(e.offers(d, p.Range), e.followUps(d.uri)...) {
		if e.can.TextDocument.CodeAction.Literals != nil {
			out = append(out, action{c.Title, c})
		} else {
			out = append(out, c)
		}
	}
	return out, nil
}

// offers are what can be run at a place.
func (e *editor) offers(d document, at span) []command {
	var out []command
	doc := d.piecewise()
	all := pieces.Of(doc)
	if at.Start != at.End && languageAt(doc, all, at.Start.Line) != "" {
		out = append(out, command{"Run selection in sandbox", commandRun, []any{what{URI: d.uri, Range: &at}}})
	}
	isFile := false
	for i, p := range all {
		if slices.ContainsFunc(pieces.At([]pieces.Piece{p}, at.Start.Line, at.End.Line), func(pieces.Piece) bool { return true }) {
			out = append(out, runs(d.uri, p, i > 0)...)
		}
		isFile = isFile || p.Kind == pieces.Cell
	}
	if isFile {
		out = append(out, command{"Run file in sandbox", commandRun, []any{what{URI: d.uri}}})
	}
	return out
}

// languageAt is the language of a line: that of its fence, or the document's.
func languageAt(d pieces.Document, all []pieces.Piece, line int) string {
	if at := pieces.At(all, line, line); len(at) > 0 {
		return at[0].Language
	}
	return pieces.LanguageOf(d)
}

// followUps are what can be done about the last run of a document.
func (e *editor) followUps(uri string) []command {
	r := e.lastOf(which{URI: uri})
	switch {
	case r == nil:
		return nil
	case r.isLive():
		return []command{{"Cancel the run in sandbox", commandCancel, []any{which{Token: r.token}}}}
	}
	return []command{{"Show output of the last run", commandShowOutput, []any{which{Token: r.token}}}}
}
