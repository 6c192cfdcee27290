package setup

import (
	"bytes"
	"testing"
)

// Whatever a file holds: it is refused, or it gets the entry, keeps all else (Add verifies that) and gives it back.
func FuzzAdd(f *testing.F) {
	for _, seed := range []string{"", "{}", "{/*a*/}", `{"mcpServers": {"a": 1,},}`, "{\n\t\"mcpServers\": {\n\t\t\"sidecar\": 1 // x\n\t}\n}", "a = 1 # b\n", "[mcp_servers.sidecar]\nx = '''\n[a]\n'''\n", "[mcp_servers]\n\"sidecar\".command = 1"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, force bool) {
		for _, name := range []string{"cursor", "codex"} {
			c, _ := Named(name)
			before := bytes.Clone(text)
			added, err := c.Add(text, mcp, force)
			if !bytes.Equal(before, text) {
				t.Fatalf("%s: the text that was given changed: %q", name, text)
			}
			if err != nil {
				continue
			}
			// Beside the entry nothing changes: of a text that had none, all is left, in its order; and what is taken out
			// again takes nothing else with it.
			if added.State == Absent && !isWithin(text, added.Text) {
				t.Fatalf("%s: of %q there is left %q", name, text, added.Text)
			}
			if added.State == Other && !force {
				t.Fatalf("%s: another entry was replaced", name)
			}
			removed, err := c.Remove(added.Text, mcp)
			if err != nil {
				t.Fatalf("%s: %q cannot be taken out of %q: %v", name, Name, added.Text, err)
			}
			if !isWithin(removed.Text, added.Text) {
				t.Fatalf("%s: %q has more than %q", name, removed.Text, added.Text)
			}
			if state, err := c.State(removed.Text, mcp); state != Absent || err != nil {
				t.Fatalf("%s: %q still has it: %v", name, removed.Text, err)
			}
		}
	})
}

// isWithin says that all bytes of a text but blanks are in another one, in the same order.
func isWithin(text, all []byte) bool {
	for _, b := range text {
		if bytes.IndexByte([]byte(" \t\r\n"), b) >= 0 {
			continue
		}
		at := bytes.IndexByte(all, b)
		if at < 0 {
			return false
		}
		all = all[at+1:]
	}
	return true
}
