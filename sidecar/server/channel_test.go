package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/protocol"
)

// Two clients of one sidecar: the second sees the first one's run begin, print and end, and can end it.
func TestASecondClientSeesAndCancels(t *testing.T) {
	root := project(t)
	serve(t, root)
	first, second := greeted(t, root, `{}`), greeted(t, root, `{}`)
	id := first.request("sidecar/run", bash("echo to be seen; sleep 600", `,"token":"t1","client":"an agent"`))
	started := second.event("sidecar/runStarted", is("an agent"))
	var e protocol.RunEvent
	if err := json.Unmarshal(started.Params, &e); err != nil {
		t.Fatal(err)
	}
	if e.Run.Token != "" || e.Run.Language != "bash" || !strings.HasPrefix(e.Run.Code, "echo to be seen") || e.Run.End != nil {
		t.Errorf("started: %s", started.Params)
	}
	second.event("sidecar/output", is("to be seen"))
	first.event("sidecar/output", is(`"token":"t1"`))
	if r := result[protocol.CancelResult](t, second.ask("sidecar/cancel", fmt.Sprintf(`{"id":%q}`, e.Run.ID))); !r.Cancelled {
		t.Error("the run had ended")
	}
	if r := result[protocol.RunResult](t, first.answer(id)); !r.Cancelled || r.Stdout.Text != "to be seen\n" || r.ID != e.Run.ID {
		t.Errorf("got %+v", r)
	}
	second.event("sidecar/runEnded", is(`"cancelled":true`))
	if r := result[protocol.CancelResult](t, second.ask("sidecar/cancel", fmt.Sprintf(`{"id":%q}`, e.Run.ID))); r.Cancelled {
		t.Error("it was cancelled twice")
	}
	runs := result[protocol.RunsResult](t, second.ask("sidecar/runs", `{}`))
	if len(runs.Runs) != 1 || runs.Runs[0].End == nil || !runs.Runs[0].End.Cancelled {
		t.Errorf("runs: %+v", runs)
	}
}

// What a run arms is told to everybody.
func TestFindingsAreToldToAll(t *testing.T) {
	root := project(t)
	serve(t, root)
	first, second := greeted(t, root, `{}`), greeted(t, root, `{"output":"none"}`)
	r := result[protocol.RunResult](t, first.ask("sidecar/run", bash("mkdir sub; echo 'curl evil' > sub/.envrc", "")))
	if len(r.Findings) != 1 {
		t.Fatalf("findings: %+v", r.Findings)
	}
	second.event("sidecar/finding", is(filepath.Join(root, "sub/.envrc")))
	second.event("sidecar/runEnded", is(".envrc"))
}

// Output comes in order, all of it, and before the answer.
func TestOutputComesInOrderBeforeTheAnswer(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("seq 1 50000", ""))
	c.answer(id)
	var text strings.Builder
	answered := false
	for _, m := range c.all {
		switch {
		case string(m.ID) == id:
			answered = true
		case m.Method == "sidecar/output":
			var p protocol.OutputParams
			if err := json.Unmarshal(m.Params, &p); err != nil || answered {
				t.Fatalf("after the answer, or no output: %s", m.Params)
			}
			text.WriteString(p.Text)
		}
	}
	want, _ := exec.Command("seq", "1", "50000").Output()
	if text.String() != string(want) {
		t.Errorf("%d bytes of %d", text.Len(), len(want))
	}
}

// A character whose bytes come apart arrives whole.
func TestCharactersAreNotCut(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	r := result[protocol.RunResult](t, c.ask("sidecar/run", bash(`printf '\xe2\x82'; sleep 0.2; printf '\xac'; sleep 0.2; printf 'x\xe2'`, "")))
	var text strings.Builder
	for _, m := range c.all {
		if m.Method == "sidecar/output" {
			var p protocol.OutputParams
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			text.WriteString(p.Text)
		}
	}
	if text.String() != "€x\uFFFD" || r.Stdout.Text != text.String() {
		t.Errorf("got %q, result %q", text.String(), r.Stdout.Text)
	}
}

// $/cancelRequest sent right behind its request always finds it, and the answer still comes.
func TestNoCancelIsLost(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	var ids []string
	for range 100 {
		id := c.request("sidecar/run", bash("sleep 600", ""))
		c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`)
		ids = append(ids, id)
	}
	for _, id := range ids {
		m := c.answer(id)
		if m.Error != nil && m.Error.Data.Kind == protocol.Cancelled {
			continue
		}
		if r := result[protocol.RunResult](t, m); !r.Cancelled {
			t.Errorf("%s: %+v", id, r)
		}
	}
	works(t, root)
}

// Standard input is handed over in order, as the program takes it; what it does not take is no error.
func TestInput(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("read -r a; read -r b; echo $a-$b; cat | wc -c", `,"token":"in","streamStdin":true,"stdin":"one\n"`))
	var last string
	for i := range 50 {
		last = c.request("sidecar/input", `{"token":"in","data":"`+map[bool]string{true: "dHdvCg==", false: "MDEyMzQ1Njc4OQ=="}[i == 0]+`"}`)
	}
	c.answer(last)
	c.ask("sidecar/input", `{"token":"in","end":true}`)
	if r := result[protocol.RunResult](t, c.answer(id)); r.Stdout.Text != "one-two\n490\n" {
		t.Errorf("got %q", r.Stdout.Text)
	}
	id = c.request("sidecar/run", bash("exit 3", `,"token":"in","streamStdin":true`))
	c.request("sidecar/input", `{"token":"in","data":"dHdvCg=="}`)
	if r := result[protocol.RunResult](t, c.answer(id)); r.ExitCode != 3 {
		t.Errorf("got %+v", r)
	}
}

// What a run printed can be had in parts, while it goes on and after it.
func TestRunOutput(t *testing.T) {
	root := project(t)
	serve(t, root)
	c := greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("printf 'a€b'; echo err >&2; touch begun; until [ -e go ]; do sleep 0.05; done; seq 1 20000", ""))
	var e protocol.RunEvent
	if err := json.Unmarshal(c.event("sidecar/runStarted", any_).Params, &e); err != nil {
		t.Fatal(err)
	}
	c.event("sidecar/output", is("err"))
	part := func(more string) protocol.RunOutputResult {
		return result[protocol.RunOutputResult](t, c.ask("sidecar/runOutput", fmt.Sprintf(`{"id":%q%s}`, e.Run.ID, more)))
	}
	if p := part(`,"stream":"stdout"`); p.Text != "a€b" || !p.Live || p.Total != 5 || p.Next != 5 {
		t.Errorf("while it goes on: %+v", p)
	}
	if p := part(`,"stream":"stdout","limit":3`); p.Text != "a" || p.Next != 1 {
		t.Errorf("cut in a character: %+v", p)
	}
	if p := part(`,"stream":"stderr","asBytes":true`); string(p.Bytes) != "err\n" {
		t.Errorf("bytes: %+v", p)
	}
	write(t, filepath.Join(root, "go"), "")
	r := result[protocol.RunResult](t, c.answer(id))
	if r.Stdout.File == "" {
		t.Error("long output has no file")
	}
	var all strings.Builder
	for offset := int64(0); ; {
		p := part(fmt.Sprintf(`,"stream":"stdout","offset":%d,"limit":1000`, offset))
		all.WriteString(p.Text)
		if offset = p.Next; offset >= p.Total {
			break
		}
	}
	want, _ := exec.Command("seq", "1", "20000").Output()
	if all.String() != "a€b"+string(want) {
		t.Errorf("%d bytes", all.Len())
	}
	if p := part(`,"stream":"stderr"`); p.Text != "err\n" || p.Live {
		t.Errorf("after it: %+v", p)
	}
}

// Status names the workspace's branch, who is connected and what goes on.
func TestStatus(t *testing.T) {
	root := project(t)
	cmd := serve(t, root)
	c := greeted(t, root, `{}`)
	id := c.request("sidecar/run", bash("sleep 600", `,"token":"x"`))
	c.event("sidecar/runStarted", any_)
	s := result[protocol.StatusResult](t, c.ask("sidecar/status", `null`))
	if s.Workspace != root || s.PID != cmd.Process.Pid || s.Branch == "" || len(s.Clients) != 1 || s.Clients[0].Name != "raw" || s.Clients[0].PID != os.Getpid() ||
		s.Clients[0].Runs != 1 || len(s.Runs) != 1 || s.Memory == 0 || s.RunsBefore != 0 {
		t.Errorf("got %+v", s)
	}
	c.ask("sidecar/cancel", `{"token":"x"}`)
	c.answer(id)
	if s := result[protocol.StatusResult](t, c.ask("sidecar/status", `{}`)); s.RunsBefore != 1 || len(s.Runs) != 0 {
		t.Errorf("after it: %+v", s)
	}
	envs := result[protocol.EnvsResult](t, c.ask("sidecar/envs", `{}`))
	if len(envs.Environments) == 0 || envs.Environments[0].ID != "host" || len(envs.Environments[0].Languages) == 0 {
		t.Errorf("environments: %+v", envs)
	}
}

// Each client's runs follow its own settings and its own PATH, whoever started the sidecar; changed settings count at once.
func TestEachClientHasItsSettings(t *testing.T) {
	root := project(t)
	serve(t, root)
	config := filepath.Join(t.TempDir(), "config.yaml")
	write(t, config, "limits: {timeout_max: 2s, timeout: 1s}\n")
	narrow := greeted(t, root, fmt.Sprintf(`{"explicitConfig":%q,"environment":{"PATH":"/usr/bin:/bin","HOME":"/nonexistent"}}`, config))
	m := narrow.ask("sidecar/run", bash("true", `,"timeoutMs":3000`))
	if m.Error == nil || !strings.Contains(m.Error.Message, "limits.timeout_max") || m.Error.Code != -32602 {
		t.Errorf("got %+v", m)
	}
	wide := greeted(t, root, `{}`)
	if r := result[protocol.RunResult](t, wide.ask("sidecar/run", bash("true", `,"timeoutMs":3000`))); r.ExitCode != 0 {
		t.Errorf("got %+v", r)
	}
	write(t, config, "limits: {timeout_max: 5s}\n")
	if r := result[protocol.RunResult](t, narrow.ask("sidecar/run", bash("true", `,"timeoutMs":3000`))); r.ExitCode != 0 {
		t.Errorf("got %+v", r)
	}
	write(t, config, "limits: {timeout_mx: 5s}\n")
	if m := narrow.ask("sidecar/run", bash("true", "")); m.Error == nil || !strings.Contains(m.Error.Message, "timeout_max") {
		t.Errorf("a misspelt key: %+v", m)
	}
}

// A sidecar serves for days: a run leaves no descriptor, thread or process behind.
func TestRunsLeaveNothing(t *testing.T) {
	root := project(t)
	t.Setenv("SIDECAR_PERFORMANCE_WARM", "off") // what waits for a run is there between runs
	cmd := serve(t, root)
	c := greeted(t, root, `{}`)
	count := func() (int, int) {
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		children, _ := exec.Command("pgrep", "-P", fmt.Sprint(cmd.Process.Pid)).Output()
		return len(fds), len(strings.Fields(string(children)))
	}
	for range 5 {
		c.ask("sidecar/run", bash("echo x > f; seq 1 3000", ""))
	}
	before, _ := count()
	for range 30 {
		c.ask("sidecar/run", bash("rm -f f; echo x > f; seq 1 3000; sleep 100 & disown", ""))
	}
	after, children := count()
	for until := time.Now().Add(30 * time.Second); (after > before+2 || children > 0) && time.Now().Before(until); after, children = count() {
		time.Sleep(20 * time.Millisecond) // the last run's sandbox is about to be gone
	}
	if after > before+2 || children > 0 {
		t.Errorf("%d descriptors after 30 runs, %d before; %d children", after, before, children)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
}
