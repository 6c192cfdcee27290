package setup

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var mcp = Command{Program: "/opt/sidecar", Args: []string{"mcp"}}

func client(t *testing.T, name string) Client {
	t.Helper()
	c, ok := Named(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c
}

// Each text gets the entry, and gives it back: what comes out is what went in.
func TestAddAndRemove(t *testing.T) {
	for _, test := range []struct{ name, client, before, after string }{
		{"no file", "cursor", "", "{\n  \"mcpServers\": {\n    \"sidecar\": {\n      \"command\": \"/opt/sidecar\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"},
		{
			"comments, tabs and a comma at the end", "zed",
			"// Zed settings\n{\n\t\"theme\": \"One\", // mine\n\t\"context_servers\": {\n\t\t// others\n\t\t\"other\": {\n\t\t\t\"command\": \"x\", // why\n\t\t}, // and this\n\t\t/* the end */\n\t},\n}\n",
			"// Zed settings\n{\n\t\"theme\": \"One\", // mine\n\t\"context_servers\": {\n\t\t// others\n\t\t\"other\": {\n\t\t\t\"command\": \"x\", // why\n\t\t}, // and this\n\t\t/* the end */\n\t\t\"sidecar\": {\n\t\t\t\"command\": \"/opt/sidecar\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t},\n\t},\n}\n",
		},
		{
			"no comma at the end, four spaces, a comment behind the last", "gemini",
			"{\n    \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n    \"ui\": 1 // last\n}",
			"{\n    \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n    \"ui\": 1, // last\n    \"mcpServers\": {\n        \"sidecar\": {\n            \"command\": \"/opt/sidecar\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}",
		},
		{
			"one line", "claude", `{"a": {"b": "}"}, "mcpServers": {"x": {"command": "y"}}, "n": 12345678901234567890}`,
			`{"a": {"b": "}"}, "mcpServers": {"x": {"command": "y"}, "sidecar": { "type": "stdio", "command": "/opt/sidecar", "args": ["mcp"] }}, "n": 12345678901234567890}`,
		},
		{
			"one line with a comma at its end", "opencode", `{ "mcp": { "x": {}, }, }`,
			`{ "mcp": { "x": {}, "sidecar": { "type": "local", "command": ["/opt/sidecar", "mcp"] }, }, }`,
		},
		{
			"Windows' lines, a byte order mark", "vscode",
			"\xef\xbb\xbf{\r\n  \"servers\": {\r\n    \"x\": {}\r\n  },\r\n  \"inputs\": []\r\n}\r\n",
			"\xef\xbb\xbf{\r\n  \"servers\": {\r\n    \"x\": {},\r\n    \"sidecar\": {\r\n      \"type\": \"stdio\",\r\n      \"command\": \"/opt/sidecar\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n  },\r\n  \"inputs\": []\r\n}\r\n",
		},
		{
			"an object with nothing but a comment", "claude",
			"{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    // none yet\n    \"sidecar\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/sidecar\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
		},
		{
			"names and closing braces on other lines", "cursor",
			"{ \"mcpServers\":\n  { \"a\": {},\n    \"b\": {} } }\n",
			"{ \"mcpServers\":\n  { \"a\": {},\n    \"b\": {},\n    \"sidecar\": {\n        \"command\": \"/opt/sidecar\",\n        \"args\": [\"mcp\"]\n    }\n   } }\n",
		},
		{"TOML: no file", "codex", "", "[mcp_servers.sidecar]\ncommand = \"/opt/sidecar\"\nargs = [\"mcp\"]\n"},
		{
			"TOML: comments, other tables, no newline at the end", "codex",
			"# mine\nmodel = 'm1' # this\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[[profiles]]\nwhen = 2026-11-30T10:00:00Z # then\n",
			"# mine\nmodel = 'm1' # this\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[[profiles]]\nwhen = 2026-11-30T10:00:00Z # then\n\n[mcp_servers.sidecar]\ncommand = \"/opt/sidecar\"\nargs = [\"mcp\"]\n",
		},
		{
			"TOML: servers as dotted keys", "codex", "mcp_servers.a.command = \"x\"\r\n",
			"mcp_servers.a.command = \"x\"\r\n\r\n[mcp_servers.sidecar]\r\ncommand = \"/opt/sidecar\"\r\nargs = [\"mcp\"]\r\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := client(t, test.client)
			added, err := c.Add([]byte(test.before), mcp, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(added.Text)); diff != "" || added.State != Absent || !added.Changed {
				t.Fatalf("added to what was %s: %s", added.State, diff)
			}
			again, err := c.Add(added.Text, mcp, false)
			if diff := cmp.Diff(Change{State: There, Text: added.Text}, again); err != nil || diff != "" {
				t.Fatalf("a second time: %v %s", err, diff)
			}
			removed, err := c.Remove(added.Text, mcp)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(removed.Text); !alike(test.before, got) {
				t.Errorf("removed: %s", cmp.Diff(test.before, got))
			}
		})
	}
}

// alike compares what an entry went into with what it left: an empty text became an empty object, and a closing brace
// may have got a line of its own.
func alike(before, after string) bool {
	if before == "" {
		return strings.TrimSpace(after) == "" || after == "{\n}\n"
	}
	return before == after || strings.Join(strings.Fields(before), " ") == strings.Join(strings.Fields(after), " ")
}

func TestRemoveLeavesOthersComments(t *testing.T) {
	for _, test := range []struct{ name, client, before, after string }{
		{
			"the first", "cursor",
			"{\n  \"mcpServers\": {\n    // of ours\n    \"sidecar\": {\"command\": \"x\"}, // behind\n    \"b\": {} // of b\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    // of ours\n    // behind\n    \"b\": {} // of b\n  }\n}\n",
		},
		{
			"the last", "cursor",
			"{\n  \"mcpServers\": {\n    \"b\": {}, // of b\n    \"sidecar\": {\n      \"command\": \"x\"\n    }\n    // the end\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"b\": {} // of b\n    // the end\n  }\n}\n",
		},
		{"in one line, the first", "cursor", `{"mcpServers": { "sidecar": {}, "b": {} }}`, `{"mcpServers": { "b": {} }}`},
		{"in one line, the only", "cursor", `{"mcpServers": {"sidecar": {}}, "z": 1}`, `{ "z": 1}`},
		{
			"TOML: with its subtables, and no comment of the next", "codex",
			"a = 1\n\n[mcp_servers.\"sidecar\"] # ours\ncommand = \"x\"\n# inner\nargs = [\n  \"mcp\", # one\n]\n\n[mcp_servers.sidecar.env]\nX = \"1\"\n\n# about b\n[mcp_servers.b]\ncommand = \"y\"\n",
			"a = 1\n\n# about b\n[mcp_servers.b]\ncommand = \"y\"\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client(t, test.client).Remove([]byte(test.before), mcp)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(got.Text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsThereIsLeft(t *testing.T) {
	same := mcp
	same.Same = func(program string) bool { return program == "sidecar" }
	for _, test := range []struct {
		name, client, text string
		command            Command
		want               State
	}{
		{"the same with more", "claude", `{"mcpServers": {"sidecar": {"command": "/opt/sidecar", "args": ["mcp"], "env": {"A": "b"}}}}`, mcp, There},
		{"by another name", "claude", `{"mcpServers": {"sidecar": {"command": "sidecar", "args": ["mcp"]}}}`, same, There},
		{"by another name, in a list", "opencode", `{"mcp": {"sidecar": {"type": "local", "command": ["sidecar", "mcp"], "enabled": true}}}`, same, There},
		{"off", "opencode", `{"mcp": {"sidecar": {"type": "local", "command": ["/opt/sidecar", "mcp"], "enabled": false}}}`, mcp, Off},
		{"another program", "claude", `{"mcpServers": {"sidecar": {"command": "sidecar", "args": ["mcp"]}}}`, mcp, Other},
		{"other arguments", "codex", "[mcp_servers]\nsidecar = { command = \"/opt/sidecar\", args = [] }", mcp, Other},
		{"no entry at all", "cursor", `{"mcpServers": {"sidecar": "x"}}`, mcp, Other},
		{"another kind", "vscode", `{"servers": {"sidecar": {"type": "http", "command": "/opt/sidecar", "args": ["mcp"]}}}`, mcp, Other},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client(t, test.client).Add([]byte(test.text), test.command, false)
			if (test.want == Other) != errors.Is(err, ErrOther) || test.want != Other && err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Change{State: test.want, Text: []byte(test.text)}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForceReplaces(t *testing.T) {
	for _, test := range []struct{ name, client, before, after string }{
		{
			"JSON", "cursor", "{\n  \"mcpServers\": {\n    \"sidecar\": {\"url\": \"x\"}, // old\n    \"b\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"sidecar\": {\n      \"command\": \"/opt/sidecar\",\n      \"args\": [\"mcp\"]\n    }, // old\n    \"b\": {}\n  }\n}\n",
		},
		{"TOML", "codex", "[mcp_servers.sidecar]\nurl = \"x\"\n\n[b]\n", "\n[b]\n\n[mcp_servers.sidecar]\ncommand = \"/opt/sidecar\"\nargs = [\"mcp\"]\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client(t, test.client).Add([]byte(test.before), mcp, true)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Change{State: Other, Text: []byte(test.after), Changed: true}, got, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenTextsAreRefused(t *testing.T) {
	for _, test := range []struct{ name, client, text, want string }{
		{"JSON", "cursor", "{\n  \"a\": 1\n  \"b\": 2\n}", `3:3: invalid character '"' after object value (expecting ',' or '}')`},
		{"JSON cut off", "cursor", "{\"a\":", "1:6: parsing value: unexpected EOF"},
		{"a list", "cursor", "[1]", "1:1: an object was expected"},
		{"servers that are none", "cursor", "{\n \"mcpServers\": []}", "2:16: an object was expected"},
		{"servers twice", "cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}", `2:1: "mcpServers" is there twice`},
		{"TOML", "codex", "a = 1\nb = = 2\n", "2:5: unexpected character U+003D '=' at start of value"},
		{"TOML: servers in one line", "codex", "mcp_servers = { a = { command = \"x\" } }\n", "mcp_servers.sidecar is written in a way that sidecar cannot change: changed, it could not be read: 3:2: key mcp_servers already exists as a value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client(t, test.client).Add([]byte(test.text), mcp, false)
			if err == nil {
				t.Fatalf("changed to %s", got.Text)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" || got.Changed {
				t.Error(diff)
			}
		})
	}
}

func TestStarts(t *testing.T) {
	for _, test := range []struct {
		client, text string
		want         State
	}{
		{"cursor", "", Absent},
		{"cursor", `{"mcpServers": {"sidecar": {"command": "/x/sidecar", "args": ["mcp", "--workspace", "/p"]}}}`, There},
		{"cursor", `{"mcpServers": {"sidecar": {"command": "/x/sidecar", "args": ["mcp"], "disabled": true}}}`, Off},
		{"cursor", `{"mcpServers": {"sidecar": {"url": "http://x"}}}`, Other},
		{"opencode", `{"mcp": {"sidecar": {"command": ["sidecar", "mcp"]}}}`, There},
		{"opencode", `{"mcp": {"sidecar": {"command": []}}}`, Other},
		{"codex", "[mcp_servers.sidecar]\ncommand = 'sidecar'\nargs = ['mcp']", There},
	} {
		got, err := client(t, test.client).Starts([]byte(test.text))
		if err != nil || got != test.want {
			t.Errorf("%s: %s, not %s (%v)", test.text, got, test.want, err)
		}
	}
}
