package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"code.sidecar.dev/sidecar/lsp/pieces"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// document is an open one, as the editor has it, saved or not.
type document struct {
	uri, language string
	text          string
	// lost says that a change could not be read, so that text is no longer the editor's.
	lost bool
}

// identifier is LSP's TextDocumentIdentifier, and what is read of its larger relatives.
type identifier struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Text       string `json:"text"`
}

type documentParams struct {
	TextDocument identifier `json:"textDocument"`
}

// didOpen is textDocument/didOpen.
func (e *editor) didOpen(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[documentParams]("textDocument/didOpen", raw)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.documents[p.TextDocument.URI] = document{uri: p.TextDocument.URI, language: p.TextDocument.LanguageID, text: p.TextDocument.Text}
	return nil, nil
}

// didClose is textDocument/didClose.
func (e *editor) didClose(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[documentParams]("textDocument/didClose", raw)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	delete(e.documents, p.TextDocument.URI)
	e.mu.Unlock()
	e.clear(p.TextDocument.URI)
	return nil, nil
}

// didChange is textDocument/didChange. A change that cannot be read leaves the document lost until it is opened anew, or
// sent as a whole: better no run than one of another text than the person sees.
func (e *editor) didChange(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[struct {
		documentParams
		Changes []change `json:"contentChanges"`
	}]("textDocument/didChange", raw)
	if err != nil {
		p.documentParams, _ = rpc.Params[documentParams]("textDocument/didChange", raw)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d, ok := e.documents[p.TextDocument.URI]
	if !ok {
		return nil, err
	}
	d.lost = d.lost || err != nil
	for _, c := range p.Changes {
		d.change(c, e.encoding)
	}
	e.documents[d.uri] = d
	return nil, err
}

// change is LSP's TextDocumentContentChangeEvent: text for a range, or for the whole.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

func (d *document) change(c change, encoding string) {
	if c.Range == nil {
		d.text, d.lost = c.Text, false
		return
	}
	from, to := offset(d.text, c.Range.Start, encoding), offset(d.text, c.Range.End, encoding)
	d.text = d.text[:from] + c.Text + d.text[max(from, to):]
}

// piecewise is the document as package pieces wants it.
func (d document) piecewise() pieces.Document {
	path, err := pathOf(d.uri)
	if err != nil {
		path = d.uri
	}
	return pieces.Document{Path: path, Language: d.language, Text: d.text}
}

// mostText is how large a file may be that is not open and is to run.
const mostText = 8 << 20

// document is the open document, or the file of that name.
func (e *editor) document(uri string) (document, error) {
	e.mu.Lock()
	d, ok := e.documents[uri]
	e.mu.Unlock()
	switch {
	case d.lost:
		return d, &protocol.Error{Kind: protocol.BadRequest, Message: "a change to " + uri + " could not be read, so what runs would not be what you see", Hint: "close the document and open it again"}
	case ok:
		return d, nil
	}
	path, err := pathOf(uri)
	if err != nil {
		return d, &protocol.Error{Kind: protocol.BadRequest, Message: "no document " + uri + " is open", Hint: "open it first"}
	}
	root, _ := e.rootFor(uri) // where there is none, a run is refused for that
	text, err := e.read(path, root)
	if err != nil {
		return d, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the document is not open, and its file: %v", err), Hint: "open it first", Err: err}
	}
	return document{uri: uri, text: text}, nil
}

// read reads a file that runs of the project at root may have put there.
func (e *editor) read(path, root string) (string, error) {
	f, err := e.o.Open(path, root)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostText+1))
	if len(b) > mostText {
		return "", fmt.Errorf("%s has more than %d bytes", path, mostText)
	}
	return protocol.Text(b), err
}
