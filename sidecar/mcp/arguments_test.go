package mcp

import (
	"encoding/json"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	got, err := readArguments(json.RawMessage(`{"language":"py","code":"print(1)","args":["-v",""],"stdin":"in","cwd":"src","env":{"A":"1","B":""},
		"timeout":1.5,"environment":"host","packages":[],"files":["~/x"],"writable_files":null,"workspace":"two"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := protocol.RunParams{Language: "py", Code: "print(1)", Environment: "host", Packages: []string{}, Files: []string{"~/x"}, Args: []string{"-v", ""}, Stdin: "in", Cwd: "src",
		Env: map[string]string{"A": "1", "B": ""}, Timeout: protocol.Duration(1500 * time.Millisecond)}
	if diff := cmp.Diff(want, got.params); diff != "" || got.workspace != "two" {
		t.Errorf("-want +got:\n%s\nworkspace %q", diff, got.workspace)
	}
}

func TestBadArguments(t *testing.T) {
	for _, test := range []struct {
		arguments string
		kind      protocol.ErrorKind
		message   string
	}{
		{``, protocol.BadRequest, `argument "language" is missing`},
		{`null`, protocol.BadRequest, `argument "language" is missing`},
		{`{"language":"python"}`, protocol.BadRequest, `argument "code" is missing`},
		{`{"language":"python","code":null}`, protocol.BadRequest, `argument "code" is missing`},
		{`[]`, protocol.BadRequest, "the arguments must be an object"},
		{`"x"`, protocol.BadRequest, "the arguments must be an object"},
		{`{"langauge":"python","code":"x"}`, protocol.BadRequest, `unknown argument "langauge" (did you mean "language"?)`},
		{`{"lang":"python","code":"x"}`, protocol.BadRequest, `unknown argument "lang" (did you mean "language"?)`},
		{`{"script":"x"}`, protocol.BadRequest, `unknown argument "script" (did you mean "code"?)`},
		{`{"readonly_files":[]}`, protocol.BadRequest, `unknown argument "readonly_files"`},
		{`{"language":7,"code":"x"}`, protocol.BadRequest, `argument "language" must be a string`},
		{`{"language":"python","code":["x"]}`, protocol.BadRequest, `argument "code" must be a string`},
		{`{"language":"python","code":"x","args":"-v"}`, protocol.BadRequest, `argument "args" must be an array of strings`},
		{`{"language":"python","code":"x","args":["-v",null]}`, protocol.BadRequest, `argument "args" must be an array of strings`},
		{`{"language":"python","code":"x","args":[1]}`, protocol.BadRequest, `argument "args" must be an array of strings`},
		{`{"language":"python","code":"x","env":["A=1"]}`, protocol.BadRequest, `argument "env" must be an object whose values are strings`},
		{`{"language":"python","code":"x","env":{"A":"1","PORT":80}}`, protocol.BadRequest, `argument "env" must have strings as values; that of "PORT" is 80`},
		{`{"language":"python","code":"x","env":{"A":null}}`, protocol.BadRequest, `argument "env" must have strings as values; that of "A" is null`},
		{`{"language":"python","code":"x","stdin":{}}`, protocol.BadRequest, `argument "stdin" must be a string`},
		{`{"language":"python","code":"x","timeout":"5"}`, protocol.BadRequest, `argument "timeout" must be a number of seconds`},
		{`{"language":"python","code":"x","timeout":0}`, protocol.BadRequest, `argument "timeout" must be more than 0 and at most 31536000 seconds; it is 0`},
		{`{"language":"python","code":"x","timeout":-1}`, protocol.BadRequest, `argument "timeout" must be more than 0 and at most 31536000 seconds; it is -1`},
		{`{"language":"python","code":"x","timeout":1e300}`, protocol.BadRequest, `argument "timeout" must be more than 0 and at most 31536000 seconds; it is 1e300`},
	} {
		_, err := readArguments(json.RawMessage(test.arguments))
		if err == nil {
			t.Errorf("%s is taken", test.arguments)
			continue
		}
		if e := asError(err); e.Kind != test.kind || e.Message != test.message {
			t.Errorf("%s:\n got %s: %s\nwant %s: %s", test.arguments, e.Kind, e.Message, test.kind, test.message)
		}
	}
}

func TestFilesOutsideTheWorkspace(t *testing.T) {
	inside := []string{"a", "./b", "/w/c", "/w", "d/../e", "/w/x/../y", "a$b", "a~"}
	got := outside("/w", append(inside, "/w/../etc/passwd", "../x", "/wx", "/home/me/.ssh", "~/.netrc", "$HOME/x", "", "."))
	want := []string{"/w/../etc/passwd", "/x", "/wx", "/home/me/.ssh", "~/.netrc", "$HOME/x", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
