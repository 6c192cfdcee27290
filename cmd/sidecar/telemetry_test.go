package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What a client's variables ask for is sent of that client's runs, and of no other's: spans in the trace that the client names,
// with the phases as children, and nothing of code, output or values.
func TestTelemetry(t *testing.T) {
	requireSandbox(t)
	bin, dir := buildBinary(t), t.TempDir()
	var mu sync.Mutex
	var bodies []string
	to := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(b))
	}))
	defer to.Close()
	project := filepath.Join(dir, "project")
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	plain := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(dir, "state")}
	wishes := append(slices.Clone(plain), "OTEL_EXPORTER_OTLP_ENDPOINT="+to.URL, "TRACEPARENT=00-11111111111111111111111111111111-2222222222222222-01")
	sidecar := func(env []string, stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = project, env, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	sidecar(plain, "", "run", "-l", "bash", "-e", "echo of nobody")
	sidecar(wishes, "", "run", "--env", "TOKEN=hunter2", "-l", "bash", "-e", "echo SECRET $TOKEN", "SECRET-argument")
	r, w := io.Pipe()
	mcp := exec.Command(bin, "mcp", "--workspace", project)
	mcp.Env, mcp.Stdin = wishes, r
	answers, err := mcp.StdoutPipe()
	if err == nil {
		err = mcp.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"m","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"print('SEC' + 'RET')"},"_meta":{"traceparent":"00-33333333333333333333333333333333-4444444444444444-01","tracestate":"a=b","baggage":"SECRET=1"}}}
`)
	lines := json.NewDecoder(answers)
	for range 2 {
		var answer struct {
			Error  any `json:"error"`
			Result struct {
				IsError bool `json:"isError"`
			} `json:"result"`
		}
		if err := lines.Decode(&answer); err != nil || answer.Error != nil || answer.Result.IsError {
			t.Fatalf("%v %+v", err, answer)
		}
	}
	_ = w.Close()
	if err := mcp.Wait(); err != nil {
		t.Error(err)
	}
	sidecar(plain, "", "stop")
	var got sent
	if err := await("two runs, of which the last is told at the sidecar's end, by traces and metrics at the same time", func() bool {
		mu.Lock()
		defer mu.Unlock()
		got = received(t, bodies)
		has := func(name string) bool {
			return slices.ContainsFunc(got.spans, func(s span) bool { return s.Name == name })
		}
		return got.counts["sidecar.runs"] == "[{1} {1}]" && has("run bash") && has("run python")
	}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(bodies, "\n")
	for _, never := range []string{"SECRET", "hunter2", "of nobody"} {
		if strings.Contains(all, never) {
			t.Errorf("%s was sent: %s", never, all)
		}
	}
	for name, parent := range map[string]span{"run bash": {TraceID: strings.Repeat("1", 32), SpanID: strings.Repeat("2", 16)}, "run python": {TraceID: strings.Repeat("3", 32), SpanID: strings.Repeat("4", 16), TraceState: "a=b"}} {
		i := slices.IndexFunc(got.spans, func(s span) bool { return s.Name == name })
		if i < 0 || got.spans[i].TraceID != parent.TraceID || got.spans[i].ParentSpanID != parent.SpanID || got.spans[i].TraceState != parent.TraceState {
			t.Fatalf("no %s of %+v in %+v", name, parent, got.spans)
		}
		for _, phase := range []string{"settings", "environment", "discovery", "placeholders", "policy and plan", "guard begin", "shim pins", "program", "teardown", "audit"} {
			if !slices.ContainsFunc(got.spans, func(s span) bool {
				return s.Name == phase && s.ParentSpanID == got.spans[i].SpanID && s.TraceID == parent.TraceID
			}) {
				t.Errorf("%s has no phase %q", name, phase)
			}
		}
	}
}

type span struct{ TraceID, ParentSpanID, SpanID, TraceState, Name string }

// sent is what an endpoint got: all spans, and the last of each metric.
type sent struct {
	spans  []span
	counts map[string]string
}

// received reads OTLP's JSON.
func received(t *testing.T, bodies []string) sent {
	t.Helper()
	out := sent{counts: map[string]string{}}
	for _, body := range bodies {
		var one struct {
			ResourceSpans   []struct{ ScopeSpans []struct{ Spans []span } }
			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []struct {
						Name string
						Sum  struct{ DataPoints []struct{ AsInt string } }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &one); err != nil {
			t.Fatal(err)
		}
		for _, r := range one.ResourceSpans {
			out.spans = append(out.spans, r.ScopeSpans[0].Spans...)
		}
		for _, r := range one.ResourceMetrics {
			for _, m := range r.ScopeMetrics[0].Metrics {
				out.counts[m.Name] = fmt.Sprint(m.Sum.DataPoints)
			}
		}
	}
	return out
}
