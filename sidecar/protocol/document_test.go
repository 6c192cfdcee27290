package protocol

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/protocol.md and the types of editors anew")

// The document is made of the table of methods; this fails when it is stale.
func TestProtocolDocument(t *testing.T) {
	const path = "../../docs/protocol.md"
	want := document(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != want {
		t.Errorf("%s is stale (%v): go generate ./sidecar/protocol", path, err)
	}
}

const preface = `<!-- Made by go generate ./sidecar/protocol; do not edit. -->

# The channel between clients and a sidecar

JSON-RPC 2.0 with the base protocol and the lifecycle of LSP (` + "`Content-Length`" + ` headers; ` + "`initialize`, `initialized`,\n`shutdown`, `exit`, `$/cancelRequest`" + `), over a unix socket. ` + "`sidecar status --json`" + ` names the socket of each sidecar that
lives. Sockets lie in ` + "`/run/user/UID/sidecar`" + ` where the session has that folder, else in the state folder
(` + "`~/.local/state/sidecar/run`" + `); the name follows from the workspace's root. Only the same user is served.

A client says who it is in ` + "`initialize`" + ` (` + "`clientInfo`" + `), and what it wants in ` + "`initializationOptions`" + `, all of it optional:

%s
The answer has, under ` + "`capabilities.experimental.sidecar`" + `:

%s
## Through ` + "`sidecar lsp`" + `

An editor starts ` + "`sidecar lsp`" + ` and speaks with it on standard input and output. It is a language server, and hands the methods
below on to the sidecars of the editor's folders, and what these say to the editor. ` + "`initializationOptions`" + ` are the same; who
says any of ` + "`protocol`, `output`, `events` and `approvals`" + ` there is a plugin. Left out is the most: ` + "`output`" + ` "all", ` + "`events`" + `, and ` + "`environment`" + ` and
` + "`configFile`" + ` of the process. Other editors are told nothing that LSP does not have. The parameters of a request may have ` + "`workspace`" + `
(a folder by path, URI or name) or ` + "`uri`" + ` (a document) beside their own; else the run decides that they name by id or token, else
the first folder is meant. All that a sidecar says has ` + "`workspace`" + `, the project's root.

## Values

Times are RFC 3339, durations milliseconds, sizes bytes. Fields that are empty are left out. Unknown fields are ignored,
unknown notifications too; unknown methods are answered with -32601.

## Errors

` + "`error.data`" + ` has ` + "`kind`" + `, and ` + "`hint`" + `: what to do.

| kind | code | exit status of commands |
| --- | --- | --- |
%s
## Methods
`

func document(t *testing.T) string {
	t.Helper()
	off := false
	options := InitializeOptions{Protocol: Version, Output: OwnOutput, Events: &off, Environment: map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/me"}, ConfigFile: "/home/me/.config/sidecar/config.yaml"}
	about := About{Protocol: Version, Build: Build{Version: "v0.2.0", Time: time.Date(2026, 11, 19, 20, 15, 1, 0, time.UTC)}, Workspace: "/home/me/project", PID: 4711, State: "/home/me/.local/state/sidecar"}
	var kinds strings.Builder
	for _, k := range Kinds() {
		fmt.Fprintf(&kinds, "| `%s` | %d | %d |\n", k, k.Code(), k.ExitStatus())
	}
	var b strings.Builder
	fmt.Fprintf(&b, preface, fenced(t, options), fenced(t, about), kinds.String())
	for _, m := range Methods() {
		fmt.Fprintf(&b, "\n### `%s`\n\n%s. %s\n\n%s", m.Name, direction(m), m.About, fenced(t, m.Params))
		if m.Request {
			fmt.Fprintf(&b, "\nAnswer:\n\n%s", fenced(t, m.Result))
		}
	}
	return b.String()
}

func direction(m Method) string {
	switch {
	case m.Editor && m.FromSidecar:
		return "Notification, from `sidecar lsp`"
	case m.Editor:
		return "Request, to `sidecar lsp`"
	case m.FromSidecar && m.Request:
		return "Request, from the sidecar"
	case m.FromSidecar:
		return "Notification, from the sidecar"
	case m.Request:
		return "Request, from a client"
	}
	return "Notification, from a client"
}

func fenced(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return "```json\n" + string(text) + "\n```\n"
}

// What a client writes, a sidecar reads as it was meant, and back.
func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "1500": 1500 * time.Millisecond, "0.5": 500 * time.Microsecond, "1e3": time.Second} {
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
		again, err := json.Marshal(d)
		var back Duration
		if err != nil || json.Unmarshal(again, &back) != nil || back != d {
			t.Errorf("%s became %s", text, again)
		}
	}
	for _, text := range []string{`"1s"`, "1e300", "-1e300", "[]", "true"} {
		var d Duration
		if json.Unmarshal([]byte(text), &d) == nil {
			t.Errorf("%s was read as %v", text, d)
		}
	}
}

// Each kind has a code of its own, which is none of JSON-RPC's or LSP's with another meaning.
func TestCodesAreDistinct(t *testing.T) {
	seen := map[int]ErrorKind{}
	for _, k := range Kinds() {
		if other, ok := seen[k.Code()]; ok {
			t.Errorf("%s and %s are both %d", k, other, k.Code())
		}
		seen[k.Code()] = k
	}
}
