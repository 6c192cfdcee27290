package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesThatAgentsName: what run_code answers about a path that nobody allowed is the same for all that a path can be, with
// and without a person who can be asked, and says nothing of their variables.
func TestFilesThatAgentsName(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.env = append(d.env, "SECRET=hunter2")
	at := func(name string) string { return filepath.Join(d.home, name) }
	for _, err := range []error{os.WriteFile(at("file"), []byte("text"), 0o600), os.Mkdir(at("dir"), 0o700), os.Symlink("hunter2", at("link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, can := range []string{`{}`, `{"elicitation":{}}`} {
		ask := d.agent(t, can)
		for _, name := range []string{"file", "dir", "link", "missing", "file/below"} {
			got := strings.ReplaceAll(ask(fmt.Sprintf(`{"files":[%q]}`, at(name))), at(name), "PATH")
			want := "denied_by_policy: the run may not read PATH, which lies outside of the workspace\na person allows it in the settings: files.ro_files: [PATH], or files.ro_dirs where it is a folder"
			if got != want {
				t.Errorf("%s: %s: %s", can, name, got)
			}
		}
		for _, path := range []string{"$SECRET", "${SECRET}/x", "~/file", ""} {
			for _, key := range []string{"files", "writable_files"} {
				if got := ask(fmt.Sprintf(`{%q:[%q]}`, key, path)); !strings.HasPrefix(got, "bad_request: ") || strings.Contains(got, "hunter2") || strings.Contains(got, d.home) {
					t.Errorf("%s: %q: %s", key, path, got)
				}
			}
		}
	}
}

// agent is a client of sidecar mcp, with what it can do, whose person says no to everything. It asks for runs with arguments,
// and gives the texts of the answers.
func (d *desk) agent(t *testing.T, can string) func(arguments string) string {
	t.Helper()
	c := d.command("sidecar", "mcp", "--workspace", d.project)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	lines := bufio.NewReader(out)
	id := 0
	answer := func(method, params string) string {
		id++
		_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			line, err := lines.ReadBytes('\n')
			var m struct {
				ID     json.RawMessage
				Method string
				Result struct{ Content []struct{ Text string } }
			}
			switch {
			case err != nil || json.Unmarshal(line, &m) != nil:
				t.Fatalf("%v: %q", err, line)
			case m.Method == "elicitation/create":
				_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"no"}}}`+"\n", m.ID)
			case string(m.ID) == fmt.Sprint(id) && len(m.Result.Content) > 0:
				return m.Result.Content[0].Text
			case string(m.ID) == fmt.Sprint(id):
				return ""
			}
		}
	}
	answer("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+can+`,"clientInfo":{"name":"test","version":"1"}}`)
	return func(arguments string) string {
		return answer("tools/call", `{"name":"run_code","arguments":{"language":"bash","code":"true",`+arguments[1:]+`}`)
	}
}
