package server_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
)

// TestRunsOfSidecarsBefore: what a client sees of a workspace's runs does not end with the sidecar that did them.
func TestRunsOfSidecarsBefore(t *testing.T) {
	root := project(t)
	first := serve(t, root)
	c := greeted(t, root, `{}`)
	short := result[protocol.RunResult](t, c.ask("sidecar/run", bash("echo short; exit 3", `,"client":"an agent 1.0"`)))
	long := result[protocol.RunResult](t, c.ask("sidecar/run", bash("seq 1 20000", "")))
	_ = first.Process.Signal(syscall.SIGTERM)
	_ = first.Wait()
	serve(t, root)
	c = greeted(t, root, `{}`)
	now := result[protocol.RunResult](t, c.ask("sidecar/run", bash("echo now", "")))
	listed := func(params string) string {
		var ids []string
		for _, r := range result[protocol.RunsResult](t, c.ask("sidecar/runs", params)).Runs {
			ids = append(ids, r.ID)
		}
		return strings.Join(ids, " ")
	}
	for params, want := range map[string]string{
		`{}`:                               now.ID + " " + long.ID + " " + short.ID,
		`{"limit":2}`:                      now.ID + " " + long.ID,
		`{"failed":true}`:                  short.ID,
		`{"client":"an agent"}`:            short.ID,
		`{"language":"python"}`:            "",
		`{"live":true}`:                    "",
		`{"since":"2999-01-01T00:00:00Z"}`: "",
	} {
		if got := listed(params); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	for id, want := range map[string]string{short.ID: "short\n", long.ID: long.Stdout.Text} {
		if got := result[protocol.RunOutputResult](t, c.ask("sidecar/runOutput", fmt.Sprintf(`{"id":%q}`, id))); got.Text != want || got.Live || got.Total != int64(len(want)) {
			t.Errorf("%d bytes of %d, live %v", len(got.Text), got.Total, got.Live)
		}
	}
	if r := result[protocol.CancelResult](t, c.ask("sidecar/cancel", fmt.Sprintf(`{"id":%q}`, short.ID))); r.Cancelled {
		t.Error("a run of the past was cancelled")
	}
	rec := result[protocol.RunRecord](t, c.ask("sidecar/record", fmt.Sprintf(`{"id":%q}`, short.ID)))
	if rec.Request.Code != "echo short; exit 3" || rec.Run.Client != "an agent 1.0" || rec.Run.Workspace != root || !strings.Contains(rec.Policy, "rw "+root+"\n") || rec.Run.End == nil || rec.Run.End.CPU <= 0 {
		t.Errorf("%+v", rec)
	}
	other := project(t)
	serve(t, other)
	c = greeted(t, other, `{}`)
	if got := listed(`{}`); got != "" {
		t.Errorf("another workspace has %s", got)
	}
	for _, method := range []string{"sidecar/record", "sidecar/runOutput"} {
		if m := c.ask(method, fmt.Sprintf(`{"id":%q}`, short.ID)); m.Error == nil || m.Error.Data.Kind != protocol.BadRequest {
			t.Errorf("%s of another workspace's run: %s", method, m.Result)
		}
	}
}

// TestLostRun: the run of a sidecar that is killed has an end for the next one's clients.
func TestLostRun(t *testing.T) {
	root := project(t)
	first := serve(t, root)
	c := greeted(t, root, `{}`)
	c.request("sidecar/run", bash("echo begun; sleep 600", ""))
	c.event("sidecar/output", is("begun"))
	live := result[protocol.RunsResult](t, c.ask("sidecar/runs", `{"live":true}`)).Runs
	until(t, "its record", func() bool { return c.ask("sidecar/record", fmt.Sprintf(`{"id":%q}`, live[0].ID)).Error == nil })
	_ = first.Process.Kill()
	_ = first.Wait()
	serve(t, root)
	c = greeted(t, root, `{}`)
	runs := result[protocol.RunsResult](t, c.ask("sidecar/runs", `{}`)).Runs
	if len(runs) != 1 || runs[0].End == nil || !runs[0].End.Lost || runs[0].End.Error.Kind != protocol.Gone {
		t.Errorf("%+v", runs)
	}
}

// TestRequestsThatCameToNoRun are remembered, too.
func TestRequestsThatCameToNoRun(t *testing.T) {
	root := project(t)
	first := serve(t, root)
	c := greeted(t, root, `{}`)
	if m := c.ask("sidecar/run", `{"language":"bash","code":"true","cwd":"/elsewhere"}`); m.Error == nil {
		t.Fatal("it was run")
	}
	if m := c.ask("sidecar/run", `{"language":"bash","code":"true","timeoutMs":-1}`); m.Error == nil {
		t.Fatal("it was run")
	}
	_ = first.Process.Signal(syscall.SIGTERM)
	_ = first.Wait()
	serve(t, root)
	runs := result[protocol.RunsResult](t, greeted(t, root, `{}`).ask("sidecar/runs", `{"failed":true}`)).Runs
	if len(runs) != 2 || runs[0].End.Error == nil || runs[1].End.Error == nil || runs[0].End.ExitCode != -1 {
		t.Errorf("%+v", runs)
	}
}
