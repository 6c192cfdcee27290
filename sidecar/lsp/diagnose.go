package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/lsp/pieces"
	"code.sidecar.dev/sidecar/lsp/traces"
)

// diagnostic is LSP's Diagnostic.
type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

// Severities of diagnostics (LSP, DiagnosticSeverity).
const (
	isFault  = 1
	isCaller = 3
)

// codeFolder is where the code of a run lies in its sandbox.
const codeFolder = "/run/sidecar/code/"

// diagnose shows where in open documents a run failed.
func (e *editor) diagnose(r *ownRun, frames []traces.Frame) {
	found := map[string][]diagnostic{}
	for _, f := range frames {
		if uri, d, ok := e.locate(r, f); ok {
			found[uri] = append(found[uri], d)
		}
	}
	e.mu.Lock()
	for uri := range found {
		if !slices.Contains(e.diagnosed[r.doc.uri], uri) {
			e.diagnosed[r.doc.uri] = append(e.diagnosed[r.doc.uri], uri)
		}
	}
	e.mu.Unlock()
	for uri, list := range found {
		e.publish(uri, list)
	}
}

// clear takes away what the last run of a document had shown.
func (e *editor) clear(uri string) {
	e.mu.Lock()
	all := e.diagnosed[uri]
	delete(e.diagnosed, uri)
	e.mu.Unlock()
	for _, shown := range all {
		e.publish(shown, []diagnostic{})
	}
}

func (e *editor) publish(uri string, list []diagnostic) {
	e.push(lsp.MethodTextDocumentPublishDiagnostics, map[string]any{"uri": uri, "diagnostics": list})
}

// locate finds the line of an open document that a frame names; not ok is one that is nowhere, or is another line by now.
func (e *editor) locate(r *ownRun, f traces.Frame) (uri string, out diagnostic, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	line, want := f.Line-1, ""
	if strings.HasPrefix(f.File, codeFolder) {
		uri = r.doc.uri
		code := pieces.Lines(r.piece.Code)
		if line >= len(code) {
			return "", out, false
		}
		want = strings.TrimSpace(code[line])
		line += r.piece.First
	} else if uri = e.opened(f.File, cwd(r.doc.uri, r.root)); uri == "" {
		return "", out, false
	}
	d, open := e.documents[uri]
	lines := pieces.Lines(d.text)
	if !open || line >= len(lines) || !strings.HasSuffix(strings.TrimSpace(lines[line]), want) {
		return "", out, false
	}
	return uri, e.mark(f, lines[line], line, want), true
}

// mark is a diagnostic over a line, from its column on, or from its first character.
func (e *editor) mark(f traces.Frame, text string, line int, want string) diagnostic {
	from := len(text) - len(strings.TrimLeft(text, " \t"))
	if want != "" {
		from = strings.LastIndex(strings.TrimRight(text, " \t"), want)
	}
	if want == "" && f.Column > 1 {
		from = within(text, f.Column-1, utf16Units) // interpreters count differently; no harm is in it
	}
	d := diagnostic{Severity: isFault, Source: "sidecar", Message: f.Message}
	if f.Caller {
		d.Severity = isCaller
	}
	if d.Message == "" {
		d.Message = "the run failed here"
	}
	d.Range = span{position{line, units(text[:from], e.encoding)}, position{line, units(text, e.encoding)}}
	return d
}

// opened is the URI of the open document with this file; "" if none is. e.mu is held.
func (e *editor) opened(file, dir string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	file = filepath.Clean(file)
	for uri := range e.documents {
		if path, err := pathOf(uri); err == nil && (path == file || resolved(path) == file) {
			return uri
		}
	}
	return ""
}
