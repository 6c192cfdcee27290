package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// modern sends a tool call in the revision 2026-07-28.
func (c *client) modern(arguments, capabilities, further string) string {
	return c.call("run_code", arguments, fmt.Sprintf(`,"_meta":{%s,"io.modelcontextprotocol/clientCapabilities":%s}%s`, modernMeta, capabilities, further))
}

const python = `{"language":"python","code":"x"}`

func TestDiscover(t *testing.T) {
	c := connect(t, options(t, quick))
	g := c.answer(c.send("server/discover", `{"_meta":{`+modernMeta+`,"io.modelcontextprotocol/clientCapabilities":{}}}`))
	for _, want := range []string{`"2026-07-28"`, `"2025-11-25"`, `"resultType":"complete"`, `"ttlMs"`, `"cacheScope"`, `"codex/sandbox-state-meta":{}`, `"instructions"`} {
		if !strings.Contains(string(g.Result), want) {
			t.Errorf("no %s in %s", want, g.Result)
		}
	}
	g = c.answer(c.send("tools/list", `{"_meta":{`+modernMeta+`,"io.modelcontextprotocol/clientCapabilities":{}}}`))
	var list struct {
		ResultType, CacheScope string
		TTLMs                  int
		Tools                  []struct{ Name string }
	}
	if err := json.Unmarshal(g.Result, &list); err != nil || list.ResultType != "complete" || list.TTLMs != cacheTools || list.CacheScope != "private" || len(list.Tools) != 4 {
		t.Errorf("%v in %.300s", err, g.Result)
	}
}

func TestRootsByInputRequired(t *testing.T) {
	root := t.TempDir()
	c := connect(t, options(t, quick))
	r := c.result(c.modern(python, `{"roots":{}}`, ""))
	if r.ResultType != "input_required" || r.RequestState != rootsKey || fmt.Sprint(r.InputRequests[rootsKey]) != "map[method:roots/list]" {
		t.Fatalf("got %+v", r)
	}
	answer := fmt.Sprintf(`,"requestState":"roots","inputResponses":{"roots":{"roots":[{"uri":"file://%s","name":"mine"}]}}`, root)
	if r = c.result(c.modern(python, `{"roots":{}}`, answer)); r.Structured.Workspace != root || r.Structured.WorkspaceSource != "roots" || r.ResultType != "complete" {
		t.Errorf("got %+v", r)
	}
	// Kept for a while.
	if r = c.result(c.modern(python, `{"roots":{}}`, "")); r.Structured.Workspace != root {
		t.Errorf("got %+v", r)
	}
	if r = c.result(c.modern(`{"language":"python","code":"x","workspace":"mine"}`, `{"roots":{}}`, "")); r.Structured.Workspace != root {
		t.Errorf("got %+v", r)
	}
}

func TestRootsThatTheNewRevisionDoesNotBring(t *testing.T) {
	o := options(t, quick)
	for name, test := range map[string]struct{ capabilities, further string }{
		"no roots":        {`{}`, ""},
		"none brought":    {`{"roots":{}}`, `,"requestState":"roots"`},
		"other brought":   {`{"roots":{}}`, `,"requestState":"roots","inputResponses":{"x":{}}`},
		"empty":           {`{"roots":{}}`, `,"requestState":"roots","inputResponses":{"roots":{"roots":[]}}`},
		"no list":         {`{"roots":{}}`, `,"inputResponses":{"roots":7}`},
		"null":            {`{"roots":{}}`, `,"inputResponses":{"roots":null}`},
		"an error inside": {`{"roots":{}}`, `,"inputResponses":{"roots":{"code":-1,"message":"no"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, o)
			if r := c.result(c.modern(python, test.capabilities, test.further)); r.Structured.WorkspaceSource != fromDir {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestUsersFolderNeedsNoRoots(t *testing.T) {
	o := options(t, quick)
	o.Flag = o.Dir
	c := connect(t, o)
	if r := c.result(c.modern(python, `{"roots":{}}`, "")); r.Structured.WorkspaceSource != fromFlag {
		t.Errorf("got %+v", r)
	}
}

func TestBothRevisionsOnOneConnection(t *testing.T) {
	old, brought := t.TempDir(), t.TempDir()
	c := initialized(t, options(t, quick), rootsOf(old))
	answer := fmt.Sprintf(`,"inputResponses":{"roots":{"roots":[{"uri":"file://%s"}]}}`, brought)
	if r := c.result(c.modern(python, `{"roots":{}}`, answer)); r.Structured.Workspace != brought {
		t.Errorf("new: %+v", r)
	}
	r := c.result(c.python("x", ""))
	if r.Structured.Workspace != old || r.ResultType != "" {
		t.Errorf("old: %+v", r)
	}
}

// The reader's filter is empty here, so the stream closes at once; the acknowledgement comes before its result.
func TestSubscription(t *testing.T) {
	c := connect(t, options(t, quick))
	c.answer(c.send("subscriptions/listen", `{"notifications":{"toolsListChanged":true},"_meta":{`+modernMeta+`,"io.modelcontextprotocol/clientCapabilities":{}}}`))
	all := c.seen()
	if len(all) != 2 || all[0].Method != "notifications/subscriptions/acknowledged" {
		t.Errorf("got %+v", all)
	}
}
