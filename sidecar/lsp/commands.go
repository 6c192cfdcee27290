package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/lsp/pieces"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// The commands of workspace/executeCommand.
const (
	commandRun        = "sidecar.run"
	commandCancel     = "sidecar.cancel"
	commandShowOutput = "sidecar.showOutput"
	commandOutput     = "sidecar.output"
	commandResult     = "sidecar.result"
)

// commands are what workspace/executeCommand does. Each takes one argument, an object.
var commands = map[string]func(*editor, context.Context, json.RawMessage) (any, error){
	commandRun:        (*editor).runCommand,
	commandCancel:     (*editor).cancelCommand,
	commandShowOutput: (*editor).showCommand,
	commandOutput:     (*editor).outputCommand,
	commandResult:     (*editor).resultCommand,
}

// execute is workspace/executeCommand. It does not wait for runs, but where that is what was asked for: editors wait for
// it, some of them seconds only.
func (e *editor) execute(ctx context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[struct {
		Command   string            `json:"command"`
		Arguments []json.RawMessage `json:"arguments"`
	}]("workspace/executeCommand", raw)
	if err != nil {
		return nil, err
	}
	do, ok := commands[p.Command]
	if !ok {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("unknown command %.100q", p.Command), Hint: "there are sidecar.run, sidecar.cancel, sidecar.showOutput, sidecar.output and sidecar.result"}
	}
	if len(p.Arguments) == 0 {
		p.Arguments = []json.RawMessage{nil}
	}
	return do(e, ctx, p.Arguments[0])
}

// what is the argument of sidecar.run: what of which document to run.
type what struct {
	URI string `json:"uri"`
	// Line is one of a piece's lines, Range a selection; neither is the whole document.
	Line  *int  `json:"line,omitempty"`
	Range *span `json:"range,omitempty"`
	// Above adds the cells above.
	Above bool `json:"above,omitempty"`
	// Language takes the place of what the document says.
	Language string `json:"language,omitempty"`
	// Token is the run's, in the place of one that is made up.
	Token string `json:"token,omitempty"`
}

// asked is the answer to sidecar.run: the run's token, and what runs, so that a plugin can show it and ask for it again.
type asked struct {
	Token    string `json:"token"`
	Language string `json:"language"`
	Code     string `json:"code"`
	Cwd      string `json:"cwd"`
}

// runCommand is sidecar.run.
func (e *editor) runCommand(_ context.Context, raw json.RawMessage) (any, error) {
	w, err := rpc.Params[what](commandRun, raw)
	if err != nil {
		return nil, err
	}
	if w.URI == "" {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: commandRun + ": its argument names no document", Hint: `give {"uri": URI}, and with it "line" or "range" for a part of the document`}
	}
	d, err := e.document(w.URI)
	if err != nil {
		return nil, err
	}
	p, err := w.piece(d, e.encoding)
	if err != nil {
		return nil, err
	}
	r, err := e.startRun(d, p, w.Token)
	if err != nil {
		return nil, err
	}
	return asked{Token: r.token, Language: p.Language, Code: p.Code, Cwd: cwd(d.uri, r.root)}, nil
}

// piece is what of the document is meant.
func (w what) piece(d document, encoding string) (pieces.Piece, error) {
	doc := d.piecewise()
	all := pieces.Of(doc)
	p := pieces.Piece{Kind: pieces.File, Language: pieces.LanguageOf(doc), End: len(pieces.Lines(d.text)), Code: d.text}
	switch {
	case w.Range != nil && w.Range.Start != w.Range.End:
		p = selection(d, *w.Range, all, encoding)
	case w.Range != nil:
		w.Line = &w.Range.Start.Line
		fallthrough
	case w.Line != nil:
		at := pieces.At(all, *w.Line, *w.Line)
		if len(at) == 0 {
			return p, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("nothing that can run is in line %d of %s", *w.Line+1, d.uri), Hint: "go to a code fence of a known language, a cell or a script; known are " + strings.Join(env.Names(), ", ")}
		}
		p = at[0]
		if w.Above {
			p = withAbove(all, p)
		}
	}
	return p, w.name(&p, d)
}

// name settles a piece's language.
func (w what) name(p *pieces.Piece, d document) error {
	if w.Language != "" {
		p.Word = w.Language
	} else if p.Language != "" {
		return nil
	}
	lang, err := env.Lookup(p.Word)
	if err == nil {
		p.Language = lang.Name
		return nil
	}
	if p.Word == "" {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the language of %s is not known", d.uri), Hint: "known are " + strings.Join(env.Names(), ", ")}
	}
	return &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
}

// selection is the selected text as a piece, without what its fence has before each line, and without indentation. Where
// only that stands before it in its first line, it begins with the line.
func selection(d document, s span, all []pieces.Piece, encoding string) pieces.Piece {
	line := offset(d.text, position{Line: s.Start.Line}, encoding)
	from, to := offset(d.text, s.Start, encoding), offset(d.text, s.End, encoding)
	if strings.Trim(d.text[line:from], " \t>") == "" {
		from = line
	}
	p := pieces.Piece{Kind: pieces.Cell, Language: languageAt(d.piecewise(), all, s.Start.Line), Head: s.Start.Line, First: s.Start.Line, Code: d.text[from:max(from, to)]}
	if at := pieces.At(all, s.Start.Line, s.Start.Line); len(at) > 0 {
		p.Word = at[0].Word
		p.Code = at[0].Strip(p.Code, s.Start.Line, from == line)
	}
	p.Code = pieces.Dedented(p.Code)
	p.End = p.First + len(pieces.Lines(p.Code))
	return p
}

// withAbove is a cell with all that are before it. Lines between them are left empty, so that the numbers stay right.
func withAbove(all []pieces.Piece, last pieces.Piece) pieces.Piece {
	var b strings.Builder
	line, first := 0, -1
	for _, p := range all {
		if p.First > last.First {
			break
		}
		if first < 0 {
			first, line = p.First, p.First
		}
		b.WriteString(strings.Repeat("\n", p.First-line))
		b.WriteString(p.Code)
		line = p.End
	}
	last.First, last.Code, last.Margins = max(first, 0), b.String(), nil
	return last
}
