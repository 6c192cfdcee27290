package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// variables is a Getenv.
func variables(pairs ...string) func(string) string {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return values[name] }
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"}`

func TestOrderOfSources(t *testing.T) {
	base := t.TempDir()
	folders := map[string]string{}
	for _, name := range []string{"flag", "sidecar", "project", "root", "claude", "cursor", "codex", "dir"} {
		folders[name] = mkdir(t, filepath.Join(base, name))
	}
	// Each row takes away the source that won in the row before.
	gone := map[string]bool{}
	for _, test := range []struct{ without, want, source string }{
		{"", "flag", "--workspace"},
		{"flag", "sidecar", "SIDECAR_WORKSPACE"},
		{"sidecar", "project", "PROJECT_DIR"},
		{"project", "root", "roots"},
		{"root", "claude", "CLAUDE_PROJECT_DIR"},
		{"claude", "cursor", "WORKSPACE_FOLDER_PATHS"},
		{"cursor", "codex", "codex"},
		{"codex", "dir", "working folder"},
	} {
		t.Run(test.want, func(t *testing.T) {
			gone[test.without] = true
			at := func(name string) string {
				if gone[name] {
					return ""
				}
				return folders[name]
			}
			o := options(t, quick)
			o.Dir, o.Flag = at("dir"), at("flag")
			o.Getenv = variables("SIDECAR_WORKSPACE", at("sidecar"), "PROJECT_DIR", at("project"),
				"CLAUDE_PROJECT_DIR", at("claude"), "WORKSPACE_FOLDER_PATHS", at("cursor"))
			roots := rootsOf()
			if !gone["root"] {
				roots = rootsOf(folders["root"])
			}
			c := initialized(t, o, roots)
			meta := fmt.Sprintf(`,"_meta":{"codex/sandbox-state-meta":{"sandboxCwd":%q}}`, at("codex"))
			r := c.result(c.call("run_code", `{"language":"python","code":"x"}`, meta))
			if r.Structured.Workspace != folders[test.want] || r.Structured.WorkspaceSource != test.source {
				t.Errorf("ran in %s from %s", r.Structured.Workspace, r.Structured.WorkspaceSource)
			}
		})
	}
}

// A working folder that was deleted is not taken for the one that stands in for it.
func TestNoWorkingFolder(t *testing.T) {
	o := options(t, quick)
	o.Dir, o.NoDir = "/", os.ErrNotExist
	c := initialized(t, o, nil)
	if e := c.failed(c.python("x", "")); !strings.Contains(e.Message, "working folder: it is gone (file does not exist)") || strings.Contains(e.Message, "too wide") {
		t.Errorf("%v", e)
	}
}

func TestNoWorkspace(t *testing.T) {
	for _, dir := range []string{"/", "/home/nobody", ""} {
		o := options(t, quick)
		o.Dir = dir
		c := initialized(t, o, nil)
		for _, id := range []string{c.python("x", ""), c.call("list_envs", `{}`, "")} {
			e := c.failed(id)
			if e.Kind != protocol.BadRequest || !strings.Contains(e.Hint, "--workspace") || !strings.Contains(e.Hint, "SIDECAR_WORKSPACE") {
				t.Errorf("in %q: %v", dir, e)
			}
		}
	}
}

func TestUsersFolderIsTakenAsItIs(t *testing.T) {
	o := options(t, quick)
	o.Home = mkdir(t, o.Dir+"/home")
	o.Flag = "home"
	if r := initializedResult(t, o); r.Structured.Workspace != o.Home {
		t.Errorf("got %+v", r.Structured)
	}
	o.Flag = "nosuch"
	c := initialized(t, o, rootsOf(o.Dir))
	if e := c.failed(c.python("x", "")); !strings.Contains(e.Message, "nosuch does not exist") {
		t.Errorf("got %v", e)
	}
}

func initializedResult(t *testing.T, o Options) toolResult {
	t.Helper()
	c := initialized(t, o, nil)
	return c.result(c.python("x", ""))
}

func TestListsOfFolders(t *testing.T) {
	base := t.TempDir()
	one, two, comma := mkdir(t, base+"/one"), mkdir(t, base+"/two"), mkdir(t, base+"/a,b:c")
	for _, test := range []struct{ value, want string }{
		{one, one}, {one + "," + two, one}, {one + ":" + two, one}, {" " + two + " , " + one, two}, {comma, comma}, {"/no/such:" + two, two},
	} {
		o := options(t, quick)
		o.Getenv = variables("WORKSPACE_FOLDER_PATHS", test.value)
		if r := initializedResult(t, o); r.Structured.Workspace != test.want {
			t.Errorf("%q gives %s", test.value, r.Structured.Workspace)
		}
	}
}

func TestCodexWithAURI(t *testing.T) {
	root := mkdir(t, t.TempDir()+"/a b")
	c := initialized(t, options(t, quick), nil)
	for _, state := range []string{fmt.Sprintf(`{"sandboxCwd":%q}`, root), fmt.Sprintf(`{"sandboxCwd":"file://%s"}`, strings.ReplaceAll(root, " ", "%20"))} {
		if r := c.result(c.call("run_code", `{"language":"python","code":"x"}`, `,"_meta":{"codex/sandbox-state-meta":`+state+`}`)); r.Structured.Workspace != root {
			t.Errorf("%s gives %+v", state, r.Structured)
		}
	}
	for _, state := range []string{`7`, `{}`, `{"sandboxCwd":7}`, `{"sandboxCwd":"relative"}`, `{"sandboxCwd":"/"}`, `null`} {
		if r := c.result(c.call("run_code", `{"language":"python","code":"x"}`, `,"_meta":{"codex/sandbox-state-meta":`+state+`}`)); r.Structured.WorkspaceSource != fromDir {
			t.Errorf("%s gives %+v", state, r.Structured)
		}
	}
}
