package rpc

import (
	"bytes"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	lsp "go.lsp.dev/protocol"
)

// codec writes LSP's types with go.lsp.dev's own encoders, which know their unions, and ours with encoding/json,
// whose tags (omitempty) they were declared with.
type codec struct{}

// Marshal is v as JSON.
func (codec) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return []byte("null"), nil
	case jsonrpc2.RawMessage:
		return v, nil
	case json.RawMessage:
		return v, nil
	case *lsp.InitializeParams, *lsp.InitializeResult, *lsp.CancelParams, *lsp.InitializedParams:
		return lsp.Marshal(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Unmarshal reads JSON into v.
func (codec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case *jsonrpc2.RawMessage:
		*v = append((*v)[:0], data...)
		return nil
	case *lsp.InitializeParams, *lsp.InitializeResult, *lsp.CancelParams, *lsp.InitializedParams:
		return lsp.Unmarshal(data, v)
	}
	return json.Unmarshal(data, v)
}
