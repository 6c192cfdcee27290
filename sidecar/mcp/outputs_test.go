package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// A long output is a resource as a whole; no other file and no other connection's run is.
func TestLongOutputIsAResource(t *testing.T) {
	text := strings.Repeat("a line of output\n", 10_000)
	file := filepath.Join(t.TempDir(), "r1.stdout")
	if err := os.WriteFile(file, []byte(text+"\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := func(context.Context, string, protocol.RunParams, func(protocol.Stream, []byte)) (protocol.RunResult, error) {
		return protocol.RunResult{ID: "r1", Environment: "host", Stdout: protocol.Output{Text: text, Bytes: int64(len(text) + 1), File: file}}, nil
	}
	c := initialized(t, options(t, long), nil)
	r := c.result(c.python("x", ""))
	uri := "sidecar://runs/r1/stdout"
	if !strings.Contains(r.Content[0].Text, file+" (resource "+uri+")") {
		t.Errorf("the text does not name the resource: %s", r.Content[0].Text)
	}
	if got := c.resource(t, uri); got != text+"\uFFFD" {
		t.Errorf("got %d bytes", len(got))
	}
	for _, other := range []string{"sidecar://runs/r2/stdout", "sidecar://runs/r1/stdin", "file://" + file, "sidecar://runs/../r1/stdout"} {
		id := c.send("resources/read", fmt.Sprintf(`{"uri":%q}`, other))
		if g := c.answer(id); g.Error == nil || g.Error.Code != -32002 {
			t.Errorf("%s could be read: %s, or has another error: %+v", other, g.Result, g.Error)
		}
	}
}

// An output too long for an answer has its head and its tail.
func TestVeryLongOutputIsCut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r1.stdout")
	if err := os.WriteFile(file, []byte("head"+strings.Repeat("x", 3*largestResource)+"tail"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := contents(file)
	if err != nil || len(got) > largestResource+300 || !strings.HasPrefix(got, "head") || !strings.HasSuffix(got, "tail") || !strings.Contains(got, file) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func (c *client) resource(t *testing.T, uri string) string {
	t.Helper()
	var r struct{ Contents []struct{ Text string } }
	g := c.answer(c.send("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)))
	if err := json.Unmarshal(g.Result, &r); err != nil || len(r.Contents) != 1 {
		t.Fatalf("%s: %v", g.Result, err)
	}
	return r.Contents[0].Text
}
