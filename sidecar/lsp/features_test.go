package lsp_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"code.sidecar.dev/sidecar/protocol"
)

// plain is an editor without a plugin, which can do all that counts.
const plain = `,"capabilities":{"window":{"workDoneProgress":true,"showMessage":{},"showDocument":{"support":true}},"general":{"positionEncodings":["utf-16"]},"textDocument":{"codeAction":{"codeActionLiteralSupport":{}}}}`

// opened is an editor with a document; it gives the document's URI.
func opened(t *testing.T, mode, dir, name, language, text string) (*fake, string) {
	t.Helper()
	f := greeted(t, mode, plain, dir)
	u := uri(filepath.Join(dir, name))
	f.open(u, language, text)
	return f, u
}

func (f *fake) open(u, language, text string) {
	f.tell("textDocument/didOpen", `{"textDocument":{"uri":`+asJSON(u)+`,"languageId":`+asJSON(language)+`,"version":1,"text":`+asJSON(text)+`}}`)
}

// offered is a lens or an action.
type offered struct {
	Title   string
	Range   struct{ Start struct{ Line int } }
	Command struct {
		Title, Command string
		Arguments      []json.RawMessage
	}
}

func (f *fake) lenses(u string) []offered {
	f.t.Helper()
	return decoded[[]offered](f.t, f.ask("textDocument/codeLens", `{"textDocument":{"uri":`+asJSON(u)+`}}`).Result)
}

// actions are those for a range, given as "line:character-line:character".
func (f *fake) actions(u, at string) []offered {
	f.t.Helper()
	return decoded[[]offered](f.t, f.ask("textDocument/codeAction", `{"textDocument":{"uri":`+asJSON(u)+`},"range":`+rangeOf(at)+`,"context":{"diagnostics":[]}}`).Result)
}

func rangeOf(at string) string {
	from, to, _ := strings.Cut(at, "-")
	point := func(p string) string {
		line, character, _ := strings.Cut(p, ":")
		return `{"line":` + line + `,"character":` + character + `}`
	}
	return `{"start":` + point(from) + `,"end":` + point(to) + `}`
}

func titles(all []offered) (out []string) {
	for _, o := range all {
		out = append(out, o.Title+o.Command.Title[min(len(o.Title), len(o.Command.Title)):])
	}
	return out
}

// do executes what is offered.
func (f *fake) do(o offered) said {
	f.t.Helper()
	return f.ask("workspace/executeCommand", `{"command":`+asJSON(o.Command.Command)+`,"arguments":`+asJSON(o.Command.Arguments)+`}`)
}

// The lens of a fence runs its code, and an editor without a plugin sees it go on, reads what it printed, and is told of
// nothing that it does not know.
func TestALensOfAFence(t *testing.T) {
	inEachMode(t, func(t *testing.T, mode string) {
		dir := project(t)
		f, u := opened(t, mode, dir, "notes ü.md", "markdown", "# Notes\n\n```bash\necho one\necho two; pwd\n```\n\n```cobol\nx\n```\n")
		lenses := f.lenses(u)
		if diff := cmp.Diff([]string{"Run in sandbox"}, titles(lenses)); diff != "" || lenses[0].Range.Start.Line != 2 {
			t.Fatalf("%s%+v", diff, lenses)
		}
		token := decoded[struct{ Token string }](t, f.do(lenses[0]).Result).Token
		f.hears("window/workDoneProgress/create", asJSON(token))
		f.hears("$/progress", `"kind":"begin"`)
		f.hears("window/logMessage", "two")
		f.hears("$/progress", `"kind":"end"`)
		f.hears("window/showMessage", "bash: done, 3 lines")
		shown := decoded[struct{ URI string }](t, f.hears("window/showDocument", "file://").Params).URI
		text, err := os.ReadFile(strings.TrimPrefix(shown, "file://"))
		if want := "one\ntwo\n" + dir + "\n"; err != nil || string(text) != want {
			t.Errorf("%q, %v", text, err)
		}
		if out := decoded[string](t, f.ask("workspace/executeCommand", `{"command":"sidecar.output","arguments":[{}]}`).Result); out != string(text) {
			t.Errorf("sidecar.output gave %q", out)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, m := range f.all {
			if strings.HasPrefix(m.Method, "sidecar/") {
				t.Errorf("it was told %s", m.Method)
			}
		}
	})
}

// What can be run, where.
func TestWhatIsOffered(t *testing.T) {
	requireSandbox(t)
	dir := project(t)
	f := greeted(t, "in process", plain, dir)
	for _, test := range []struct {
		name, language, text, at string
		lenses, actions          []string
	}{
		{"a.md", "markdown", "```py\n1\n```\n```cobol\n1\n```", "1:0-1:0", []string{"Run in sandbox"}, []string{"Run in sandbox"}},
		{"b.md", "markdown", "```py\n1\n```\n```cobol\n1\n```", "4:0-4:0", []string{"Run in sandbox"}, []string{"Run in sandbox: cobol is not known"}},
		{"c.md", "markdown", "```py\n1\n```\ntext", "3:0-3:2", []string{"Run in sandbox"}, nil},
		{"d.md", "markdown", "```py\n1\n```\ntext", "1:0-1:1", []string{"Run in sandbox"}, []string{"Run selection in sandbox", "Run in sandbox"}},
		{"e.py", "python", "a\n# %%\nb", "2:0-2:0", []string{"Run in sandbox", "Run in sandbox", "Run with the cells above"}, []string{"Run in sandbox", "Run with the cells above", "Run file in sandbox"}},
		{"f", "", "#!/bin/sh\nls", "1:0-1:2", []string{"Run in sandbox"}, []string{"Run selection in sandbox", "Run in sandbox"}},
		{"g.rs", "rust", "fn main() {}", "0:0-0:3", nil, nil},
	} {
		u := uri(filepath.Join(dir, test.name))
		f.open(u, test.language, test.text)
		if diff := cmp.Diff(test.lenses, titles(f.lenses(u))); diff != "" {
			t.Errorf("%s: lenses: %s", test.name, diff)
		}
		if diff := cmp.Diff(test.actions, titles(f.actions(u, test.at))); diff != "" {
			t.Errorf("%s: actions: %s", test.name, diff)
		}
	}
	only := f.ask("textDocument/codeAction", `{"textDocument":{"uri":`+asJSON(uri(filepath.Join(dir, "e.py")))+`},"range":`+rangeOf("0:0-0:0")+`,"context":{"only":["source.fixAll"]}}`)
	if string(only.Result) != "[]" {
		t.Errorf("a save would run: %s", only.Result)
	}
}

// A fence of an unknown language says which are known; what is not there says so.
func TestWhatCannotRun(t *testing.T) {
	dir := project(t)
	f, u := opened(t, "in process", dir, "a.md", "markdown", "```pyton\n1\n```\n")
	for args, want := range map[string]string{
		`{"uri":` + asJSON(u) + `,"line":1}`:                         `unknown language "pyton" (did you mean python?); known are python, bash`,
		`{"uri":` + asJSON(u) + `,"line":3}`:                         "nothing that can run is in line 4",
		`{"uri":` + asJSON(u) + `,"line":-7}`:                        "nothing that can run is in line -6",
		`{"uri":` + asJSON(u) + `}`:                                  "is not known",
		`{"uri":"untitled:none"}`:                                    "no document",
		`{"uri":` + asJSON(uri(filepath.Join(dir, "none.py"))) + `}`: "no such file",
		`{"uri":` + asJSON(uri(dir)) + `}`:                           "no regular file",
		`[1]`:                                                        "parameters",
		`{"uri":` + asJSON(u) + `,"range":` + rangeOf("1000000000:9-0:-5") + `}`:                                              "known",
		`{"uri":` + asJSON(u) + `,"range":` + `{"start":{"line":-3,"character":-3},"end":{"line":99999,"character":9}}` + `}`: "known",
		`{"uri":` + asJSON(u) + `,"range":{"start":{"line":1e400},"end":{}}}`:                                                 "parameters",
	} {
		m := f.ask("workspace/executeCommand", `{"command":"sidecar.run","arguments":[`+args+`]}`)
		if m.Error == nil || !strings.Contains(m.Error.Message+m.Error.Data.Hint, want) {
			t.Errorf("%s: %+v", args, m.Error)
		}
	}
	for _, command := range []string{"sidecar.cancel", "sidecar.showOutput", "sidecar.output", "sidecar.result", "other"} {
		if m := f.ask("workspace/executeCommand", `{"command":`+asJSON(command)+`}`); m.Error == nil || m.Error.Data.Kind != protocol.BadRequest {
			t.Errorf("%s: %+v", command, m)
		}
	}
}

// A plugin is answered what runs, and asks for the result; what could not be done is its to show, too.
func TestAPluginsCommands(t *testing.T) {
	t.Setenv("SIDECAR_NIX_USE", "never")
	dir := project(t)
	f := greeted(t, "in process", plugin+plain, dir)
	type asked struct{ Token, Language, Code, Cwd string }
	command := func(name string, argument any) said {
		return f.ask("workspace/executeCommand", `{"command":`+asJSON(name)+`,"arguments":[`+asJSON(argument)+`]}`)
	}
	u := uri(filepath.Join(dir, "a.md"))
	f.open(u, "markdown", "```sh\necho one; exit 3\n```\n")
	for _, test := range []struct {
		argument map[string]any
		want     asked
		exit     int
		says     string
	}{
		{map[string]any{"uri": u, "line": 1, "token": "mine"}, asked{"mine", "bash", "echo one; exit 3\n", dir}, 3, ""},
		{map[string]any{"uri": u, "line": 1, "token": "other", "language": "julia"}, asked{"other", "julia", "echo one; exit 3\n", dir}, 0, "julia"},
	} {
		got := decoded[asked](t, command("sidecar.run", test.argument).Result)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
		m := command("sidecar.result", map[string]string{"token": got.Token})
		switch {
		case test.says != "":
			if m.Error == nil || !strings.Contains(m.Error.Message, test.says) {
				t.Errorf("%s: %+v", m.Result, m.Error)
			}
		case m.Error != nil:
			t.Errorf("%+v", *m.Error)
		default:
			r := decoded[protocol.RunResult](t, m.Result)
			if r.ExitCode != test.exit || r.Stdout.Text != "one\n" {
				t.Errorf("%+v", r)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.all {
		if m.Method == "window/showMessage" {
			t.Errorf("it was shown %s", m.Params)
		}
	}
}

// What runs is the text that the person sees, saved or not, whatever it was changed from.
func TestUnsavedText(t *testing.T) {
	for encoding, character := range map[string]string{"utf-16": "7", "utf-8": "9"} { // behind "echo 😀"
		dir := project(t)
		f := start(t, "in process", dir)
		m := f.greet(strings.Replace(plain, `["utf-16"]`, `["utf-32",`+asJSON(encoding)+`]`, 1), dir)
		if !strings.Contains(string(m.Result), `"positionEncoding":`+asJSON(encoding)) {
			t.Errorf("%s", m.Result)
		}
		f.open("untitled:One", "shellscript", "true\r\necho 😀 old\r\n")
		f.tell("textDocument/didChange", `{"textDocument":{"uri":"untitled:One","version":2},"contentChanges":[{"range":`+rangeOf("1:"+character+"-1:1000")+`,"text":" new"},{"range":`+rangeOf("99:0-99:0")+`,"text":"echo end"}]}`)
		f.do(f.lenses("untitled:One")[0])
		f.hears("window/logMessage", "😀 new")
		f.hears("window/logMessage", "end")
		f.tell("textDocument/didChange", `{"textDocument":{"uri":"untitled:One","version":3},"contentChanges":[{"range":"all","text":"x"}]}`)
		if m := f.ask("workspace/executeCommand", `{"command":"sidecar.run","arguments":[{"uri":"untitled:One"}]}`); m.Error == nil || !strings.Contains(m.Error.Message, "could not be read") {
			t.Errorf("after a change that is none: %+v", m)
		}
		f.tell("textDocument/didChange", `{"textDocument":{"uri":"untitled:One","version":4},"contentChanges":[{"text":"echo whole again"}]}`)
		f.ask("workspace/executeCommand", `{"command":"sidecar.run","arguments":[{"uri":"untitled:One"}]}`)
		f.hears("window/showMessage", "whole again")
	}
}

// A selection runs without its indentation and what a quotation has before it; cells run alone or with those above.
func TestParts(t *testing.T) {
	dir := project(t)
	f, u := opened(t, "in process", dir, "a.md", "markdown", "> ```sh\n> if true; then\n>   echo A\n>   echo B\n> fi\n> ```\n")
	f.do(f.actions(u, "2:4-3:10")[0])
	f.hears("window/showMessage", "bash: done, 2 lines")
	if out := decoded[string](t, f.ask("workspace/executeCommand", `{"command":"sidecar.output"}`).Result); out != "A\nB\n" {
		t.Errorf("the selection printed %q", out)
	}
	u = uri(filepath.Join(dir, "b.sh"))
	f.open(u, "shellscript", "x=1\n# %%\ny=2\n# %%\necho \"<$x$y$LINENO>\"\n")
	all := f.lenses(u)
	f.do(all[3])
	f.hears("window/logMessage", "<1>")
	f.do(all[4])
	f.hears("window/logMessage", "<125>")
}

// A run is cancelled at its progress, by command, and by action.
func TestCancellingWithoutAPlugin(t *testing.T) {
	dir := project(t)
	for how, cancel := range map[string]func(f *fake, u, token string){
		"progress": func(f *fake, _, token string) {
			f.hears("$/progress", "begin")
			f.tell("window/workDoneProgress/cancel", `{"token":`+asJSON(token)+`}`)
		},
		"command": func(f *fake, _, _ string) {
			f.ask("workspace/executeCommand", `{"command":"sidecar.cancel","arguments":[]}`)
		},
		"action": func(f *fake, u, _ string) {
			all := f.actions(u, "0:0-0:0")
			f.do(all[len(all)-1])
		},
	} {
		t.Run(how, func(t *testing.T) {
			f, u := opened(t, "in process", dir, "a.sh", "shellscript", "echo begun\nsleep 1000")
			token := decoded[struct{ Token string }](t, f.do(f.lenses(u)[0]).Result).Token
			f.hears("window/logMessage", "begun")
			cancel(f, u, token)
			f.hears("window/showMessage", "bash: cancelled")
		})
	}
}

// Where a run fails is shown in the document, in the right line and for as long as it is that line.
func TestDiagnostics(t *testing.T) {
	dir := project(t)
	f, u := opened(t, "in process", dir, "a.md", "markdown", "- ```python\n  def f():\n      return 1/0 # ä\n  f()\n  ```\n")
	f.do(f.lenses(u)[0])
	f.hears("window/showMessage", "exit status 1: ZeroDivisionError: division by zero")
	got := decoded[struct{ Diagnostics []json.RawMessage }](t, f.hears("textDocument/publishDiagnostics", "ZeroDivision").Params).Diagnostics
	want := []string{
		`{"range":` + rangeOf("3:2-3:5") + `,"severity":3,"source":"sidecar","message":"ZeroDivisionError: division by zero"}`,
		`{"range":` + rangeOf("2:6-2:20") + `,"severity":1,"source":"sidecar","message":"ZeroDivisionError: division by zero"}`,
	}
	if diff := cmp.Diff(want, []string{string(got[0]), string(got[1])}); diff != "" {
		t.Error(diff)
	}
	f.do(f.lenses(u)[0])
	f.hears("textDocument/publishDiagnostics", `"diagnostics":[]`)
	other := uri(filepath.Join(dir, "helper.sh"))
	if err := os.WriteFile(filepath.Join(dir, "helper.sh"), []byte("true\nnosuchcommand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.open(other, "shellscript", "true\nnosuchcommand\n")
	u = uri(filepath.Join(dir, "b.sh"))
	f.open(u, "shellscript", `. "$PWD/helper.sh"`)
	f.do(f.lenses(u)[0])
	m := f.hears("textDocument/publishDiagnostics", `"message":"nosuchcommand: command not found"`)
	if p := decoded[struct{ URI string }](t, m.Params); p.URI != other {
		t.Errorf("it is shown in %s", p.URI)
	}
}

// Two editors on one sidecar see each other's runs, if they have a plugin for it.
func TestTwoEditors(t *testing.T) {
	dir := project(t)
	f, u := opened(t, "in process", dir, "a.sh", "shellscript", "echo hi")
	other := greeted(t, "a process", plugin, dir)
	f.do(f.lenses(u)[0])
	other.hears("sidecar/runEnded", "echo hi")
	f.hears("window/showMessage", "bash: hi")
}

// A run that asks is answered in an editor without a plugin; one that has its own way is asked in that.
func TestApprovals(t *testing.T) {
	dir := project(t)
	for method, more := range map[string]string{
		"window/showMessageRequest": plain,
		"sidecar/approve":           `,"initializationOptions":{"approvals":true},"capabilities":{"window":{"showMessage":{}}}`,
	} {
		t.Run(method, func(t *testing.T) {
			f := start(t, "a process", dir)
			f.answer = func(m said) any {
				if m.Method != method {
					return nil
				}
				return map[string]string{"title": "No", "answer": "no"}
			}
			f.greet(more, dir)
			f.open("untitled:1", "shellscript", "exec 3<>/dev/tcp/$(echo example.com)/443; curl -s -m 10 https://example.com >/dev/null; echo $?")
			f.ask("workspace/executeCommand", `{"command":"sidecar.run","arguments":[{"uri":"untitled:1"}]}`)
			f.hears(method, "example.com")
		})
	}
}

// What a program prints to have a terminal write elsewhere is not shown, and an output without end is bounded.
func TestHostileOutput(t *testing.T) {
	dir := project(t)
	f, u := opened(t, "in process", dir, "a.sh", "shellscript", `printf '\033]0;title\007\033[31mred\033[0m\xff\n'; yes 0123456789 | head -c 5000000; echo`)
	f.do(f.lenses(u)[0])
	f.hears("window/logMessage", `"message":"red�`)
	f.hears("window/showMessage", "bash: done")
	out := decoded[string](t, f.ask("workspace/executeCommand", `{"command":"sidecar.output","arguments":[]}`).Result)
	if len(out) > 300_000 || !strings.Contains(out, "bytes more: sidecar output") {
		t.Errorf("%d bytes: …%s", len(out), out[max(0, len(out)-200):])
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	logged := 0
	for _, m := range f.all {
		if m.Method == "window/logMessage" {
			logged += len(m.Params)
		}
	}
	if logged > 100_000 {
		t.Errorf("%d bytes were logged", logged)
	}
}

// A document that is not open is read from its file, but not where a run put a link out of the project in its place, or a
// pipe, for which it would wait for ever.
func TestADocumentThatARunReplaced(t *testing.T) {
	inEachMode(t, func(t *testing.T, mode string) {
		dir := project(t)
		secret := filepath.Join(filepath.Dir(dir), "key")
		err := errors.Join(os.WriteFile(secret, []byte("echo hunter2\n"), 0o600), os.Symlink(secret, filepath.Join(dir, "link.sh")),
			syscall.Mkfifo(filepath.Join(dir, "pipe.sh"), 0o600), os.WriteFile(filepath.Join(dir, "own.sh"), []byte("echo own\n"), 0o600),
			os.Symlink("own.sh", filepath.Join(dir, "near.sh")))
		if err != nil {
			t.Fatal(err)
		}
		f := greeted(t, mode, plain, dir)
		for name, want := range map[string]string{"link.sh": "which a run may have made", "pipe.sh": "no regular file", "near.sh": ""} {
			m := f.ask("workspace/executeCommand", `{"command":"sidecar.run","arguments":[{"uri":`+asJSON(uri(filepath.Join(dir, name)))+`}]}`)
			switch {
			case want == "" && (m.Error != nil || !strings.Contains(string(m.Result), "echo own")):
				t.Errorf("%s: %s, %+v", name, m.Result, m.Error)
			case want != "" && (m.Error == nil || !strings.Contains(m.Error.Message, want) || strings.Contains(string(m.Result), "hunter2")):
				t.Errorf("%s: %s, %+v", name, m.Result, m.Error)
			}
			if len(f.lenses(uri(filepath.Join(dir, name)))) > 0 && want != "" {
				t.Errorf("%s has a lens", name)
			}
		}
	})
}
