package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

// errorBusy is the JSON-RPC code of a request that was not taken in; the range is the implementation's own.
const errorBusy = -32000

// message is what tells requests, notifications and answers apart; the rest stays unread.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// reply is an answer to a request; ID null is an answer to something that had none to read.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// notice is a request or a notification of ours.
type notice struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  any             `json:"params,omitempty"`
}

var null = json.RawMessage("null")

// refuse is an error reply that mcp-go has no part in.
func refuse(id json.RawMessage, code int, text string) reply {
	if id == nil {
		id = null
	}
	return reply{JSONRPC: mcp.JSONRPC_VERSION, ID: id, Error: mcp.JSONRPCErrorDetails{Code: code, Message: text}}
}

// withID puts the request's own id, to the byte, on mcp-go's answer: it reads ids as float64, which changes large ones.
func withID(id json.RawMessage, answer mcp.JSONRPCMessage) (reply, bool) {
	switch a := answer.(type) {
	case mcp.JSONRPCResponse:
		return reply{JSONRPC: mcp.JSONRPC_VERSION, ID: id, Result: a.Result}, true
	case mcp.JSONRPCError:
		a.Error.Message = protocol.WithoutGo(a.Error.Message)
		return reply{JSONRPC: mcp.JSONRPC_VERSION, ID: id, Error: a.Error}, true
	}
	return reply{}, false
}

// parse reads the envelope. When it fails, the reply is what to answer.
func parse(line []byte) (message, *reply) {
	var m message
	err := json.Unmarshal(line, &m)
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &broken):
		return m, answer(refuse(nil, mcp.PARSE_ERROR, "message is no JSON: "+broken.Error()))
	case line[0] == '[':
		return m, answer(refuse(nil, mcp.INVALID_REQUEST, "batches of messages are not taken; send one message a line"))
	case err != nil:
		return m, answer(refuse(nil, mcp.INVALID_REQUEST, "message is no JSON-RPC request: "+protocol.WithoutGo(err.Error())))
	case m.JSONRPC != mcp.JSONRPC_VERSION:
		return m, answer(refuse(usableID(m.ID), mcp.INVALID_REQUEST, `message has no "jsonrpc": "2.0"`))
	case m.ID != nil && usableID(m.ID) == nil && m.Method != "":
		return m, answer(refuse(nil, mcp.INVALID_REQUEST, "id is neither a string nor a whole number"))
	}
	return m, nil
}

func answer(r reply) *reply { return &r }

// usableID is id if it is a string or a whole number, else nil. MCP allows no other ids, not even null.
func usableID(id json.RawMessage) json.RawMessage {
	if len(id) == 0 || id[0] != '"' && bytes.ContainsAny(id, "ntf{[.eE") {
		return nil
	}
	return id
}

// read finds, in a tool call, what mcp-go is not to see or would change: the token for progress, which it reads
// as float64, and the arguments, which it would read and copy five times: for 8 MiB of code that takes a second. The
// line it gets instead has no arguments; the handler finds them in its call.
func (c *call) read(m message, line []byte) (short json.RawMessage) {
	var params map[string]json.RawMessage
	if m.Method != string(mcp.MethodToolsCall) || json.Unmarshal(m.Params, &params) != nil || params == nil {
		return line
	}
	c.arguments = params["arguments"]
	c.readMeta(params["_meta"])
	delete(params, "arguments")
	short, err := json.Marshal(notice{JSONRPC: m.JSONRPC, ID: m.ID, Method: m.Method, Params: params})
	if err != nil {
		return line
	}
	return short
}

// readMeta reads a call's _meta: the token for progress, if it is a string or a whole number, and the trace that the call is
// part of (SEP-414: traceparent and tracestate, as W3C Trace Context has them). The baggage beside them is nobody's here.
func (c *call) readMeta(raw json.RawMessage) {
	var meta struct {
		Token json.RawMessage `json:"progressToken"`
	}
	var trace struct {
		Parent string `json:"traceparent"`
		State  string `json:"tracestate"`
	}
	if len(raw) == 0 {
		return
	}
	if json.Unmarshal(raw, &meta) == nil {
		c.token = usableID(meta.Token)
	}
	if json.Unmarshal(raw, &trace) == nil {
		c.traceParent, c.traceState = trace.Parent, trace.State
	}
}
