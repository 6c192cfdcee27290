package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// The extension's types are made of this package; this fails when they are stale.
func TestTypeScript(t *testing.T) {
	current(t, "../../editors/vscode/src/protocol.ts", typeScript(theWire(t)))
}

const typeScriptPreface = `// Made by go generate ./sidecar/protocol; do not edit. What each method is for is in docs/protocol.md.

/** The version of the protocol, for initializationOptions. */
export const protocolVersion = %d;

/** What ` + "`sidecar lsp`" + ` adds to what a sidecar says, and takes with a request: the project's root; with a request also a folder, by path, URI or name. */
export interface Placed {
  workspace?: string;
}

/** What a request may say instead: the document that it is about. */
export interface Placing extends Placed {
  uri?: string;
}
`

func typeScript(w *wire) string {
	var b strings.Builder
	fmt.Fprintf(&b, typeScriptPreface, Version)
	for _, u := range w.unions {
		values := make([]string, len(u.values))
		for i, v := range u.values {
			values[i] = strconv.Quote(v)
		}
		fmt.Fprintf(&b, "\n%sexport type %s = %s;\n", comment("", u.doc), u.name, strings.Join(values, " | "))
	}
	for _, r := range w.records {
		extends := ""
		if r.base != "" {
			extends = " extends " + r.base
		}
		if len(r.fields) == 0 && r.base == "" {
			fmt.Fprintf(&b, "\n%sexport type %s = Record<string, never>;\n", comment("", r.doc), r.name)
			continue
		}
		fmt.Fprintf(&b, "\n%sexport interface %s%s {\n", comment("", r.doc), r.name, extends)
		for _, f := range r.fields {
			mark := ""
			if f.optional {
				mark = "?"
			}
			fmt.Fprintf(&b, "%s  %s%s: %s;\n", comment("  ", f.doc), f.name, mark, typeIn(f.kind, "number", "T[]", "Record<string, T>"))
		}
		b.WriteString("}\n")
	}
	typeScriptMethods(&b)
	return b.String()
}

// comment is a doc comment; none is nothing.
func comment(indent, doc string) string {
	if doc == "" {
		return ""
	}
	return indent + "/** " + strings.ReplaceAll(doc, "*/", "* /") + " */\n"
}

func typeScriptMethods(b *strings.Builder) {
	b.WriteString("\n/** The JSON-RPC codes of the kinds of errors; an error's data has kind and hint. */\nexport const errorCodes: Record<ErrorKind, number> = {\n")
	for _, c := range codes() {
		fmt.Fprintf(b, "  %s: %d,\n", c.kind, c.code)
	}
	b.WriteString("};\n\n/** The methods' names. */\nexport const methods = {\n")
	for _, m := range Methods() {
		fmt.Fprintf(b, "%s  %s: %q,\n", comment("  ", m.About), strings.TrimPrefix(m.Name, "sidecar/"), m.Name)
	}
	b.WriteString("} as const;\n")
	for _, group := range []struct {
		name, about string
		has         func(Method) bool
	}{
		{"Requests", "What an editor asks.", func(m Method) bool { return m.Request && !m.FromSidecar }},
		{"Questions", "What an editor is asked.", func(m Method) bool { return m.Request && m.FromSidecar }},
		{"Notifications", "What an editor is told.", func(m Method) bool { return !m.Request && m.FromSidecar }},
	} {
		fmt.Fprintf(b, "\n/** %s */\nexport interface %s {\n", group.about, group.name)
		for _, m := range Methods() {
			if !group.has(m) {
				continue
			}
			params := fmt.Sprintf("%T", m.Params)[len("protocol."):]
			switch {
			case params == "Empty":
				params = "Placing"
			case m.FromSidecar:
				params += " & Placed"
			default:
				params += " & Placing"
			}
			if m.Request {
				fmt.Fprintf(b, "  %q: { params: %s; result: %s };\n", m.Name, params, fmt.Sprintf("%T", m.Result)[len("protocol."):])
			} else {
				fmt.Fprintf(b, "  %q: %s;\n", m.Name, params)
			}
		}
		b.WriteString("}\n")
	}
}
