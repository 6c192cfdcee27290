package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

// network is a question as a sidecar asks it.
func network(subject string) protocol.Question {
	return protocol.Question{Run: "r1", Kind: protocol.AskNetwork, Subject: subject, Text: "May this run reach " + subject + "?",
		Setting: "network.allowed_domains: [" + subject + "]", Writes: "network.approved: [" + subject + "]", File: "/home/me/config.yaml"}
}

// asking is a server whose runs ask what the words of their code name, one after the other, and print the answers. ctxs
// takes the context that each question is asked in, if there is room.
func asking(t *testing.T) Options {
	t.Helper()
	o := options(t, quick)
	o.Run = func(ctx context.Context, root, source string, p protocol.RunParams, w Watch) (protocol.RunResult, error) {
		text := "cannot ask"
		if w.Approve != nil {
			text = ""
			for _, subject := range strings.Fields(p.Code) {
				text += fmt.Sprintf("%s=%q ", subject, w.Approve(ctx, network(subject)))
			}
		}
		if ctx.Err() != nil {
			return protocol.RunResult{}, context.Cause(ctx)
		}
		return protocol.RunResult{ID: "r1", Workspace: root, WorkspaceSource: source, Stdout: protocol.Output{Text: text, Bytes: int64(len(text))}}, nil
	}
	return o
}

// introduce does the handshake of a revision with initialize, with capabilities.
func (c *client) introduce(capabilities string) {
	c.t.Helper()
	c.answer(c.send("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"fake","version":"1"}}`))
	c.notify("notifications/initialized", `{}`)
}

// question is the n-th question of the server, counted from 1.
func (c *client) question(n int) (q got) {
	c.t.Helper()
	c.await(fmt.Sprintf("question %d", n), func(got) bool {
		all := c.questions()
		if len(all) >= n {
			q = all[n-1]
		}
		return len(all) >= n
	})
	return q
}

// questions are those that were read so far. The caller holds the lock.
func (c *client) questions() []got {
	var all []got
	for _, g := range c.all {
		if g.Method == string(mcp.MethodElicitationCreate) {
			all = append(all, g)
		}
	}
	return all
}

// reply answers a request of the server.
func (c *client) reply(id json.RawMessage, result string) {
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

const accepted = `{"action":"accept","content":{"answer":%q}}`

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name, kind, result string
		want               protocol.Answer
	}{
		{"once", "", `{"action":"accept","content":{"answer":"once"}}`, protocol.Once},
		{"always", "", `{"action":"accept","content":{"answer":"always"}}`, protocol.Always},
		{"no", "", `{"action":"accept","content":{"answer":"no"}}`, protocol.No},
		{"declined", "", `{"action":"decline"}`, protocol.No},
		{"declined with content", "", `{"action":"decline","content":{"answer":"always"}}`, protocol.No},
		{"dismissed", "", `{"action":"cancel"}`, ""},
		{"dismissed with content", "", `{"action":"cancel","content":{"answer":"once"}}`, ""},
		{"accepted without content", "", `{"action":"accept"}`, protocol.No},
		{"other content", "", `{"action":"accept","content":{"answer":"yes"}}`, protocol.No},
		{"another case", "", `{"action":"accept","content":{"answer":"ONCE"}}`, protocol.No},
		{"no text", "", `{"action":"accept","content":{"answer":["once"]}}`, protocol.No},
		{"another field", "", `{"action":"accept","content":{"Answer":"once"}}`, protocol.No},
		{"another action", "", `{"action":"Accept","content":{"answer":"once"}}`, protocol.No},
		{"no object", "", `"once"`, protocol.No},
		{"null", "", `null`, protocol.No},
		{"nothing", "", ``, protocol.No},
		{"a file once", protocol.AskFiles, `{"action":"accept","content":{"answer":"once"}}`, protocol.Once},
		{"a file always, which was not offered", protocol.AskFiles, `{"action":"accept","content":{"answer":"always"}}`, protocol.No},
		{"code", protocol.AskTrust, `{"action":"accept","content":{"answer":"once"}}`, protocol.Once},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := network("example.com:443")
			if test.kind != "" {
				q.Kind, q.File = test.kind, ""
			}
			if got := readAnswer(q, json.RawMessage(test.result)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestForm(t *testing.T) {
	where := choice{root: "/w/my project"}
	params := protocol.RunParams{Language: "bash", Code: "curl x\n\"Always\" is best, says\x1b[2J your administrator\u202e"}
	file := protocol.Question{Run: "r1", Kind: protocol.AskFiles, Subject: "/a\nb", Text: "May this run read /a\nAlways\x1b?", Setting: "files.ro_files: [/a]"}
	const code = `Project: /w/my project
Code (bash): "curl x\n\"Always\" is best, says\x1b[2J your administrator\u202e"
Run: r1`
	for _, test := range []struct {
		name   string
		q      protocol.Question
		titled bool
		want   string
	}{
		{"a name", network("example.com:443"), false, `{"message": "May this run reach example.com:443? No setting allows it.\n` + quoted(code) + `\n\"Always\" writes network.approved: [example.com:443] into /home/me/config.yaml: it holds for every project, with names below it.",
			"requestedSchema": {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string", "title": "Answer", "enum": ["once", "always", "no"],
			"enumNames": ["Yes, for this run", "Always: write it to the settings", "No"]}}}}`},
		{"a file", file, true, `{"message": "May this run read /a\ufffdAlways\ufffd?\n` + quoted(code) + `",
			"requestedSchema": {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string", "title": "Answer", "oneOf": [
			{"const": "once", "title": "Yes, for this run"}, {"const": "no", "title": "No"}]}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			have, err := json.Marshal(form(test.q, about(where, params), test.titled))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(pretty(t, json.RawMessage(test.want))), string(pretty(t, have))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// quoted is text as part of a JSON string.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b[1 : len(b)-1])
}

func TestAsksByElicitation(t *testing.T) {
	c := connect(t, asking(t))
	c.introduce(`{"elicitation":{}}`)
	id := c.python("one two three four", "")
	for n, result := range []string{fmt.Sprintf(accepted, "once"), `{"action":"decline"}`, `{"action":"cancel"}`} {
		c.reply(c.question(n+1).ID, result)
	}
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no forms here"}}`, c.question(4).ID))
	if r := c.result(id); r.Structured.Stdout.Text != `one="once" two="no" three="" four="" ` {
		t.Errorf("got %+v", r.Structured)
	}
}

func TestAsksOnlyWhoShowsForms(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{}`:                                   "cannot ask",
		`{"elicitation":{"url":{}}}`:           "cannot ask",
		`{"elicitation":{"url":{},"form":{}}}`: `one="always" `,
		`{"elicitation":{"form":{"applyDefaults":true}}}`: `one="always" `,
		`{"elicitation":{}}`:                              `one="always" `,
	} {
		t.Run(capabilities, func(t *testing.T) {
			c := connect(t, asking(t))
			c.introduce(capabilities)
			old := c.python("one", "")
			if want != "cannot ask" {
				c.reply(c.question(1).ID, fmt.Sprintf(accepted, "always"))
			}
			if r := c.result(old); r.Structured.Stdout.Text != want {
				t.Errorf("2025-11-25: got %q, want %q", r.Structured.Stdout.Text, want)
			}
			r := c.result(c.modern(`{"language":"python","code":"one"}`, capabilities, ""))
			if want != "cannot ask" {
				r = c.result(c.retry(r, capabilities, fmt.Sprintf(accepted, "always")))
			}
			if r.Structured.Stdout.Text != want {
				t.Errorf("2026-07-28: got %q, want %q", r.Structured.Stdout.Text, want)
			}
		})
	}
}

// In the newest revision what was said at initialize is not this request's.
func TestCapabilitiesAreOfTheRequest(t *testing.T) {
	c := connect(t, asking(t))
	c.introduce(`{"elicitation":{}}`)
	if r := c.result(c.modern(`{"language":"python","code":"one"}`, `{}`, "")); r.Structured.Stdout.Text != "cannot ask" {
		t.Errorf("got %+v", r)
	}
}

func TestOneQuestionAtATime(t *testing.T) {
	c := connect(t, asking(t))
	c.introduce(`{"elicitation":{}}`)
	ids := []string{c.python("a", ""), c.python("b", ""), c.python("c", "")}
	for n := range ids {
		q := c.question(n + 1)
		c.settle()
		c.mu.Lock()
		have := len(c.questions())
		c.mu.Unlock()
		if have != n+1 {
			t.Fatalf("%d questions are open with %d answered", have, n)
		}
		c.reply(q.ID, fmt.Sprintf(accepted, "once"))
	}
	for _, id := range ids {
		if r := c.result(id); !strings.Contains(r.Structured.Stdout.Text, `="once"`) {
			t.Errorf("got %+v", r.Structured)
		}
	}
}

func TestQuestionOfARunThatEndsIsCancelled(t *testing.T) {
	c := connect(t, asking(t))
	c.introduce(`{"elicitation":{}}`)
	id := c.python("one", "")
	q := c.question(1)
	c.notify("notifications/cancelled", `{"requestId":`+id+`}`)
	g := c.await("its cancellation", func(g got) bool { return g.Method == "notifications/cancelled" })
	if string(g.Params.RequestID) != string(q.ID) {
		t.Errorf("cancelled %s, want %s", g.Params.RequestID, q.ID)
	}
	c.reply(q.ID, fmt.Sprintf(accepted, "always")) // too late for anything
	next := c.python("two", "")
	c.reply(c.question(2).ID, fmt.Sprintf(accepted, "once"))
	if r := c.result(next); r.Structured.Stdout.Text != `two="once" ` {
		t.Errorf("got %+v", r.Structured)
	}
}

// wrapped is a run that, when its code ends in "then-wait", says on started that it has its answers, waits for its context
// and says on ended that it is over.
func wrapped(inner RunFunc, started chan<- struct{}, ended chan<- struct{}) RunFunc {
	return func(ctx context.Context, root, source string, p protocol.RunParams, w Watch) (protocol.RunResult, error) {
		code, waits := strings.CutSuffix(p.Code, " then-wait")
		p.Code = code
		result, err := inner(ctx, root, source, p, w)
		if waits {
			started <- struct{}{}
			<-ctx.Done()
			close(ended)
		}
		return result, err
	}
}
