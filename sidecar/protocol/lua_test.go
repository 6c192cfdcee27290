package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// The plugin's annotations are made of this package; this fails when they are stale.
func TestLua(t *testing.T) {
	current(t, "../../editors/nvim/lua/sidecar/protocol.lua", lua(theWire(t)))
}

const luaPreface = `-- Made by go generate ./sidecar/protocol; do not edit. What each method is for is in docs/protocol.md.

local M = {}

--- The version of the protocol, for init_options.
M.version = %d
`

// prefix is before the names of classes, which are the same for all of a Neovim.
const prefix = "sidecar."

func lua(w *wire) string {
	var b strings.Builder
	fmt.Fprintf(&b, luaPreface, Version)
	for _, u := range w.unions {
		fmt.Fprintf(&b, "\n%s---@alias %s%s\n", luaComment(u.doc), prefix, u.name)
		for _, v := range u.values {
			fmt.Fprintf(&b, "---| %s\n", strconv.Quote(v))
		}
	}
	own := map[string]bool{}
	for _, r := range w.records {
		own[r.name] = true
	}
	for _, u := range w.unions {
		own[u.name] = true
	}
	placed := params()
	for _, r := range w.records {
		luaClass(&b, r, own, placed[r.name])
	}
	luaMethods(&b)
	return b.String()
}

// params are the types that are parameters, which have a workspace beside their own fields.
func params() map[string]bool {
	out := map[string]bool{}
	for _, m := range Methods() {
		out[fmt.Sprintf("%T", m.Params)[len("protocol."):]] = true
	}
	return out
}

func luaClass(b *strings.Builder, r record, own map[string]bool, isParams bool) {
	base := ""
	if r.base != "" {
		base = " : " + prefix + r.base
	}
	fmt.Fprintf(b, "\n%s---@class %s%s%s\n", luaComment(r.doc), prefix, r.name, base)
	hasWorkspace := false
	for _, f := range r.fields {
		hasWorkspace = hasWorkspace || f.name == "workspace"
		mark := ""
		if f.optional {
			mark = "?"
		}
		kind := typeIn(f.kind, "number", "T[]", "table<string, T>")
		if name := strings.TrimRight(kind, "[]"); own[name] {
			kind = prefix + kind
		}
		fmt.Fprintf(b, "---@field %s%s %s%s\n", f.name, mark, kind, spaced(f.doc))
	}
	if isParams && !hasWorkspace {
		b.WriteString("---@field workspace? string the project's root, as `sidecar lsp` adds it and takes it with requests\n")
	}
}

func spaced(doc string) string {
	if doc == "" {
		return ""
	}
	return " " + doc
}

func luaComment(doc string) string {
	if doc == "" {
		return ""
	}
	return "--- " + doc + "\n"
}

func luaMethods(b *strings.Builder) {
	b.WriteString("\n--- The JSON-RPC codes of the kinds of errors; an error's data has kind and hint.\n---@type table<sidecar.ErrorKind, integer>\nM.codes = {\n")
	for _, c := range codes() {
		fmt.Fprintf(b, "  %s = %d,\n", c.kind, c.code)
	}
	b.WriteString("}\n\n--- The methods' names.\nM.methods = {\n")
	for _, m := range Methods() {
		takes := fmt.Sprintf("%T", m.Params)[len("protocol."):]
		gives := ""
		if m.Result != nil && m.Request {
			gives = ", gives " + prefix + fmt.Sprintf("%T", m.Result)[len("protocol."):]
		}
		fmt.Fprintf(b, "  --- %s Takes %s%s%s.\n  %s = %q,\n", m.About, prefix, takes, gives, strings.TrimPrefix(m.Name, "sidecar/"), m.Name)
	}
	b.WriteString("}\n\nreturn M\n")
}
