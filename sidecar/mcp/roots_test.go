package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

func TestRunInTheRootOfTheClient(t *testing.T) {
	one, two := mkdir(t, t.TempDir()+"/one and a half"), mkdir(t, t.TempDir()+"/two")
	c := initialized(t, options(t, quick), rootsOf(one, two))
	if r := c.result(c.python("x", "")); r.Structured.Workspace != one || r.Structured.WorkspaceSource != "roots" {
		t.Errorf("got %+v", r.Structured)
	}
	for _, want := range []string{two, "two", two + "/", "file://" + two, filepath.Dir(two) + "/./two"} {
		if r := c.result(c.call("run_code", fmt.Sprintf(`{"language":"python","code":"x","workspace":%q}`, want), "")); r.Structured.Workspace != two {
			t.Errorf("workspace %q gives %+v", want, r)
		}
	}
	for _, wide := range []string{filepath.Dir(two), "/", "..", two + "/..", "three", "/etc"} {
		e := c.failed(c.call("run_code", fmt.Sprintf(`{"language":"python","code":"x","workspace":%q}`, wide), ""))
		if e.Kind != protocol.BadRequest || !strings.Contains(e.Message, one+", "+two) {
			t.Errorf("workspace %q gives %v", wide, e)
		}
	}
	if c.asked != 1 {
		t.Errorf("asked for roots %d times", c.asked)
	}
}

// The call comes right behind the notification, and must still see the new roots.
func TestRootsChange(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	var mu sync.Mutex
	now := one
	c := initialized(t, options(t, quick), func() any {
		mu.Lock()
		defer mu.Unlock()
		return rootsOf(now)()
	})
	for i := range 20 {
		want := []string{one, two}[i%2]
		mu.Lock()
		now = want
		mu.Unlock()
		c.notify("notifications/roots/list_changed", `{}`)
		if r := c.result(c.python("x", "")); r.Structured.Workspace != want {
			t.Fatalf("change %d: ran in %s, want %s", i, r.Structured.Workspace, want)
		}
	}
}

func TestRootsAreAwaited(t *testing.T) {
	root := t.TempDir()
	asked := make(chan struct{})
	c := initialized(t, options(t, quick), func() any {
		<-asked
		return rootsOf(root)()
	})
	id := c.python("x", "")
	c.settle() // other requests do not wait for roots
	close(asked)
	if r := c.result(id); r.Structured.Workspace != root {
		t.Errorf("got %+v", r.Structured)
	}
}

func TestUnknownRoots(t *testing.T) {
	for name, roots := range map[string]func() any{
		"empty":           rootsOf(),
		"no list":         func() any { return map[string]any{"roots": 7} },
		"nothing":         func() any { return "x" },
		"not files":       func() any { return map[string]any{"roots": []map[string]string{{"uri": "https://example.org/x"}}} },
		"elsewhere":       func() any { return map[string]any{"roots": []map[string]string{{"uri": "file://server/share"}}} },
		"too wide":        rootsOf("/"),
		"home":            rootsOf("/home/nobody"),
		"home in detours": rootsOf("/home/nobody/x/.."),
		"relative":        func() any { return map[string]any{"roots": []map[string]string{{"uri": "file:x"}, {"uri": "src"}}} },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, quick)
			c := initialized(t, o, roots)
			r := c.result(c.python("x", ""))
			if r.Structured.Workspace != o.Dir || r.Structured.WorkspaceSource != fromDir {
				t.Errorf("got %+v", r.Structured)
			}
			if name != "empty" && len(r.Structured.Notes) == 0 {
				t.Error("no note says why the roots were not used")
			}
		})
	}
}

func TestRootsThatFail(t *testing.T) {
	o := options(t, quick)
	c := connect(t, o)
	// The client declares roots and answers with an error.
	c.answer(c.send("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"fake","version":"1"}}`))
	c.roots = func() any {
		c.raw(`{"jsonrpc":"2.0","id":"sidecar-1","error":{"code":-32601,"message":"what?"}}`)
		return nil
	}
	c.notify("notifications/initialized", `{}`)
	if r := c.result(c.python("x", "")); r.Structured.WorkspaceSource != fromDir || !strings.Contains(fmt.Sprint(r.Structured.Notes), "what?") {
		t.Errorf("got %+v", r.Structured)
	}
}

func TestRootsThatNeverCome(t *testing.T) {
	c := initialized(t, options(t, quick), func() any { return nil })
	start := time.Now()
	r := c.result(c.python("x", ""))
	if took := time.Since(start); took < rootsPatience-time.Second || took > rootsPatience+20*time.Second {
		t.Errorf("waited %v", took)
	}
	if r.Structured.WorkspaceSource != fromDir {
		t.Errorf("got %+v", r.Structured)
	}
}

func TestMissingRoots(t *testing.T) {
	there, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := initialized(t, options(t, quick), rootsOf("/no/such", file))
	if e := c.failed(c.python("x", "")); !strings.Contains(e.Message, "/no/such does not exist") {
		t.Errorf("got %v", e)
	}
	if e := c.failed(c.call("run_code", fmt.Sprintf(`{"language":"python","code":"x","workspace":%q}`, file), "")); !strings.Contains(e.Message, "is no folder") {
		t.Errorf("got %v", e)
	}
	c = initialized(t, options(t, quick), rootsOf("/no/such", there))
	if r := c.result(c.python("x", "")); r.Structured.Workspace != there || !strings.Contains(fmt.Sprint(r.Structured.Notes), "/no/such does not exist") {
		t.Errorf("got %+v", r.Structured)
	}
}

func TestRootPath(t *testing.T) {
	for _, test := range []struct{ uri, path, err string }{
		{"file:///tmp/a%20b", "/tmp/a b", ""},
		{"file:///tmp/a b", "/tmp/a b", ""},
		{"file:///tmp/%C3%BC%25", "/tmp/ü%", ""},
		{"file:///tmp/a%2Fb/", "/tmp/a/b", ""},
		{"file:///tmp/x#frag?", "/tmp/x", ""},
		{"file:///tmp/x/../y/", "/tmp/y", ""},
		{"file://localhost/tmp", "/tmp", ""},
		{"FILE:///tmp", "/tmp", ""},
		{"file:/tmp", "/tmp", ""},
		{"file:///", "/", ""},
		{"file:///tmp/%00", "", "absolute"},
		{"file://server/tmp", "", "another machine"},
		{"http://localhost/tmp", "", "no file://"},
		{"/tmp", "", "no file://"},
		{"", "", "no file://"},
		{"file:", "", "no file://"},
	} {
		path, err := rootPath(test.uri)
		if path != test.path || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: %q, %v; want %q, %q", test.uri, path, err, test.path, test.err)
		}
	}
}
