package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

// asked are the questions that somebody was asked.
type asked struct {
	mu  sync.Mutex
	all []protocol.Question
}

func (a *asked) answers(answer protocol.Answer) func(context.Context, protocol.Question) protocol.Answer {
	return func(_ context.Context, q protocol.Question) protocol.Answer {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all = append(a.all, q)
		return answer
	}
}

// fetch has a run ask a host, and gives the status: 403 where that was denied.
func fetch(t *testing.T, c *client.Client, host string, w client.Watch) string {
	t.Helper()
	result, err := c.Run(t.Context(), protocol.RunRequest{RunParams: protocol.RunParams{Language: "python", Code: `import urllib.request, urllib.error
try: print(urllib.request.urlopen("http://` + host + `/", timeout=60).status)
except urllib.error.HTTPError as e: print(e.code)
except OSError: print("no way")
`}}, nil, w)
	if err != nil {
		t.Fatal(err)
	}
	return result.Stdout.Text
}

// A client that can ask about single runs is asked about those only, and knows them by its token.
func TestApprovalsOfOneRun(t *testing.T) {
	root := project(t)
	serve(t, root)
	file := filepath.Join(t.TempDir(), "settings.yaml")
	there := httptest.NewServer(http.NotFoundHandler())
	defer there.Close()
	if err := os.WriteFile(file, []byte(`network: {hosts: {a.test: "`+there.Listener.Addr().String()+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	connect := func(o client.Options) *client.Client {
		o.Name, o.Program, o.ExplicitConfig = "one", program, file
		c, err := client.Connect(t.Context(), root, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	one, other := connect(client.Options{}), connect(client.Options{})
	var mine, nobodys, everybodys asked
	if got := fetch(t, other, "a.test", client.Watch{}); got != "no way\n" {
		t.Errorf("nobody can be asked: %q", got)
	}
	if got := fetch(t, one, "a.test", client.Watch{Approve: mine.answers(protocol.Once)}); got != "404\n" {
		t.Errorf("allowed: %q", got)
	}
	if got := fetch(t, one, "b.test", client.Watch{Approve: nobodys.answers("")}); got != "403\n" {
		t.Errorf("left to others, of whom there are none: %q", got)
	}
	connect(client.Options{Observer: true, Approve: everybodys.answers(protocol.No)})
	if got := fetch(t, one, "c.test", client.Watch{Approve: new(asked).answers("")}); got != "403\n" {
		t.Errorf("left to others: %q", got)
	}
	if got := fetch(t, other, "d.test", client.Watch{}); got != "403\n" {
		t.Errorf("asked of who is asked about all: %q", got)
	}
	question := func(host, token string) protocol.Question {
		return protocol.Question{Client: "one", Token: token, Kind: protocol.AskNetwork, Subject: host + ":80", Text: "May this run reach " + host + ":80?",
			Setting: "network.allowed_domains: [" + host + "]", Writes: "network.approved: [" + host + "]", File: file}
	}
	for name, test := range map[string]struct {
		got  *asked
		want []protocol.Question
	}{
		"who asked for the run":  {&mine, []protocol.Question{question("a.test", "1")}},
		"who left it to others":  {&nobodys, []protocol.Question{question("b.test", "2")}},
		"who is asked about all": {&everybodys, []protocol.Question{question("c.test", ""), question("d.test", "")}},
	} {
		test.got.mu.Lock()
		defer test.got.mu.Unlock()
		if diff := cmp.Diff(test.want, test.got.all, cmpopts.IgnoreFields(protocol.Question{}, "ID", "Run")); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
