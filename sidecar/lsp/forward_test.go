package lsp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// inEachMode runs a test with each way to start the edge.
func inEachMode(t *testing.T, test func(t *testing.T, mode string)) {
	for mode := range modes {
		t.Run(mode, func(t *testing.T) { test(t, mode) })
	}
}

type initialized struct {
	Capabilities struct {
		Experimental struct{ Sidecar protocol.About }
	}
}

// What a plugin asks of the sidecar it gets, and what the sidecar says too, with the project it is about.
func TestForwarding(t *testing.T) {
	inEachMode(t, func(t *testing.T, mode string) {
		dir := project(t)
		f := start(t, mode, dir)
		about := decoded[initialized](t, f.greet("", dir).Result).Capabilities.Experimental.Sidecar
		if about.Workspace != dir || about.PID == 0 {
			t.Errorf("about: %+v", about)
		}
		result := decoded[protocol.RunResult](t, f.ask("sidecar/run", `{"language":"bash","code":"echo hi","token":"a"}`).Result)
		if result.Stdout.Text != "hi\n" || result.Workspace != dir {
			t.Errorf("got %+v", result)
		}
		f.hears("sidecar/output", `"workspace":`+asJSON(dir))
		f.hears("sidecar/runEnded", `"token":"a"`)
		status := decoded[protocol.StatusResult](t, f.ask("sidecar/status", "null").Result)
		if len(status.Clients) != 1 || status.Clients[0].Name != "fake" || status.Clients[0].Version != "7" {
			t.Errorf("clients: %+v", status.Clients)
		}
		if m := f.ask("sidecar/nothing", "{}"); m.Error == nil || m.Error.Code != -32601 {
			t.Errorf("an unknown method: %+v", m.Error)
		}
		if m := f.ask("sidecar/runOutput", `{"id":"none","stream":"stdout"}`); m.Error == nil || m.Error.Data.Kind != protocol.BadRequest || m.Error.Data.Hint == "" || strings.Contains(m.Error.Message, m.Error.Data.Hint) {
			t.Errorf("an error of the sidecar's: %+v", m.Error)
		}
		for params, want := range map[string]string{`{"language":"bash"}`: "a language, and no code", `{"language":["bash"]}`: "the parameters of sidecar/run: language is an array, and has to be a string"} {
			if m := f.ask("sidecar/run", params); m.Error == nil || m.Error.Code != -32602 || m.Error.Message != want {
				t.Errorf("%s: %+v", params, m.Error)
			}
		}
		if m := f.ask("workspace/executeCommand", `{"command":"sidecar.run"}`); m.Error == nil || m.Error.Message != "sidecar.run: its argument names no document" {
			t.Errorf("a command without arguments: %+v", m.Error)
		}
	})
}

// A run is cancelled by its request, by token and by id; each is answered.
func TestCancelling(t *testing.T) {
	dir := project(t)
	f := greeted(t, "a process", "", dir)
	cancels := map[string]func(request, id string){
		"by the request": func(request, _ string) { f.tell("$/cancelRequest", `{"id":`+request+`}`) },
		"by token":       func(string, string) { f.ask("sidecar/cancel", `{"token":"by token"}`) },
		"by id":          func(_, id string) { f.ask("sidecar/cancel", `{"id":`+asJSON(id)+`}`) },
	}
	for name, cancel := range cancels {
		request := f.begin("sidecar/run", `{"language":"bash","code":"echo begun; sleep 1000","token":`+asJSON(name)+`}`)
		id := decoded[protocol.RunEvent](t, f.hears("sidecar/runStarted", asJSON(name)).Params).Run.ID
		cancel(request, id)
		if r := decoded[protocol.RunResult](t, f.answerTo(request).Result); !r.Cancelled {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Where the sidecar is killed, the run is answered with an error of its own, the editor is told, and the next request is done.
func TestTheSidecarDies(t *testing.T) {
	inEachMode(t, func(t *testing.T, mode string) {
		dir := project(t)
		f := start(t, mode, dir)
		pid := decoded[initialized](t, f.greet("", dir).Result).Capabilities.Experimental.Sidecar.PID
		request := f.begin("sidecar/run", `{"language":"bash","code":"sleep 1000","token":"a"}`)
		f.hears("sidecar/runStarted", `"token":"a"`)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if m := f.answerTo(request); m.Error == nil || m.Error.Data.Kind != protocol.Gone {
			t.Errorf("got %+v", m)
		}
		f.hears("window/showMessage", "died")
		f.await("another connection", func(m said) bool {
			return m.Method == "sidecar/connection" && strings.Contains(string(m.Params), `"connected":true`) && decoded[protocol.ConnectionParams](t, m.Params).PID != pid
		})
		if r := decoded[protocol.RunResult](t, f.ask("sidecar/run", `{"language":"bash","code":"echo again"}`).Result); r.Stdout.Text != "again\n" {
			t.Errorf("got %+v", r)
		}
	})
}

// A sidecar that somebody stops stays away until it is needed; one that somebody else starts is found.
func TestTheSidecarIsStopped(t *testing.T) {
	dir := project(t)
	f := start(t, "a process", dir)
	pid := decoded[initialized](t, f.greet("", dir).Result).Capabilities.Experimental.Sidecar.PID
	sidecar := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(program, append([]string{"--workspace", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	sidecar("stop")
	f.hears("sidecar/connection", `"connected":false`)
	elsewhere := exec.Command(program, "--workspace", dir, "run", "--", "bash", "-c", "until [ -e go ]; do sleep .05; done; echo from elsewhere")
	if err := elsewhere.Start(); err != nil {
		t.Fatal(err)
	}
	f.hears("sidecar/connection", `"connected":true`)
	f.await("the second connection", func(m said) bool {
		return m.Method == "sidecar/connection" && strings.Contains(string(m.Params), `"connected":true`) && decoded[protocol.ConnectionParams](t, m.Params).PID != pid
	})
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.hears("sidecar/runEnded", "from elsewhere")
	if err := elsewhere.Wait(); err != nil {
		t.Error(err)
	}
	sidecar("stop")
	if r := decoded[protocol.RunResult](t, f.ask("sidecar/run", `{"language":"bash","code":"echo needed"}`).Result); r.Stdout.Text != "needed\n" {
		t.Errorf("got %+v", r)
	}
}

// Each folder has its project's sidecar; requests say which they mean, or it follows.
func TestFolders(t *testing.T) {
	a, b, c := project(t), project(t), project(t)
	f := greeted(t, "a process", "", a, b)
	in := func(params string) string {
		t.Helper()
		m := f.ask("sidecar/run", `{"language":"bash","code":"pwd"`+params+`}`)
		if m.Error != nil {
			t.Fatalf("%s: %+v", params, *m.Error)
		}
		return strings.TrimSpace(decoded[protocol.RunResult](t, m.Result).Stdout.Text)
	}
	f.tell("workspace/didChangeWorkspaceFolders", `{"event":{"added":[{"uri":`+asJSON(uri(c))+`,"name":"third"}],"removed":[]}}`)
	for params, want := range map[string]string{
		"":                               a,
		`,"workspace":` + asJSON(b):      b,
		`,"workspace":` + asJSON(uri(b)): b,
		`,"uri":` + asJSON(uri(filepath.Join(b, "sub", "x.py"))): b,
		`,"workspace":"third"`:  c,
		`,"uri":"untitled:One"`: a,
	} {
		if got := in(params); got != want {
			t.Errorf("%s ran in %s, want %s", params, got, want)
		}
	}
	request := f.begin("sidecar/run", `{"language":"bash","code":"sleep 1000","token":"z","workspace":`+asJSON(b)+`}`)
	id := decoded[protocol.RunEvent](t, f.hears("sidecar/runStarted", `"token":"z"`).Params).Run.ID
	f.ask("sidecar/cancel", `{"id":`+asJSON(id)+`}`) // which knows where the run is
	f.answerTo(request)
	f.tell("workspace/didChangeWorkspaceFolders", `{"event":{"added":[],"removed":[{"uri":`+asJSON(uri(a))+`,"name":"x"}]}}`)
	if got := in(""); got != b {
		t.Errorf("without the first folder it ran in %s", got)
	}
	all := decoded[protocol.WorkspacesResult](t, f.ask("sidecar/workspaces", "{}").Result).Workspaces
	if len(all) != 2 || all[0].Root != b || all[0].About == nil || all[1].Name != "third" {
		t.Errorf("got %s", asJSON(all))
	}
}

// The home, / and what is no folder get no sidecar; the editor is served, and told why.
func TestFoldersThatCannotBe(t *testing.T) {
	requireSandbox(t)
	for dir, want := range map[string]string{os.Getenv("HOME"): "too wide", "/": "/", "/nonexistent/at all": "nonexistent"} {
		f := greeted(t, "in process", "", dir)
		f.hears("window/showMessage", want)
		if m := f.ask("sidecar/run", `{"language":"bash","code":"true"}`); m.Error == nil || m.Error.Data.Kind != protocol.BadRequest {
			t.Errorf("%s: %+v", dir, m)
		}
	}
}

// An edge ends with its editor: at exit, at the end of its input, and when the editor's process is gone.
func TestTheEnd(t *testing.T) {
	inEachMode(t, func(t *testing.T, mode string) {
		dir := project(t)
		f := greeted(t, mode, "", dir)
		f.ask("shutdown", "null")
		if m := f.ask("sidecar/status", "{}"); m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("after shutdown: %+v", m)
		}
		f.tell("exit", "null")
		f.over()
		f = greeted(t, mode, "", dir)
		f.out.Close()
		f.over()
	})
	short := exec.Command("sleep", "1000")
	if err := short.Start(); err != nil {
		t.Fatal(err)
	}
	dir := project(t)
	f := start(t, "a process", dir)
	f.ask("initialize", `{"processId":`+asJSON(short.Process.Pid)+`,"rootUri":`+asJSON(uri(dir))+`,"capabilities":{}}`)
	_ = short.Process.Kill()
	_ = short.Wait()
	f.over()
}

// What is asked too early or wrongly is answered.
func TestBadBeginnings(t *testing.T) {
	dir := project(t)
	f := start(t, "in process", dir)
	if m := f.ask("sidecar/status", "{}"); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("before initialize: %+v", m)
	}
	for params, kind := range map[string]protocol.ErrorKind{
		`{"initializationOptions":{"protocol":99}}`:    protocol.Outdated,
		`{"initializationOptions":{"output":"some"}}`:  protocol.BadRequest,
		`{"initializationOptions":[]}`:                 protocol.BadRequest,
		`{"workspaceFolders":"all","processId":"one"}`: protocol.BadRequest,
	} {
		if m := f.ask("initialize", params); m.Error == nil || m.Error.Data.Kind != kind {
			t.Errorf("%s: %+v", params, m)
		}
	}
	f.greet("", dir)
}
