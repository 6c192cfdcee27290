package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const forms = `{"elicitation":{}}`

// retry is the call of a result that asks for input, once more, with answers to what was asked.
func (c *client) retry(r toolResult, capabilities string, answers ...string) string {
	c.t.Helper()
	if r.ResultType != "input_required" || len(r.InputRequests) != len(answers) {
		c.t.Fatalf("want %d questions, got %+v", len(answers), r)
	}
	responses := map[string]json.RawMessage{}
	for key := range r.InputRequests {
		responses[key] = json.RawMessage(answers[len(responses)])
	}
	raw, _ := json.Marshal(responses)
	return c.again(r.RequestState, capabilities, string(raw))
}

func (c *client) again(state, capabilities, responses string) string {
	return c.modern(`{"language":"python","code":"x"}`, capabilities, fmt.Sprintf(`,"requestState":%q,"inputResponses":%s`, state, responses))
}

func TestAsksByInputRequired(t *testing.T) {
	c := connect(t, asking(t))
	r := c.result(c.modern(`{"language":"python","code":"one two three"}`, forms, ""))
	var states []string
	raw, _ := json.Marshal(r.InputRequests)
	for _, want := range []string{`"method":"elicitation/create"`, `May this run reach one?`, `"oneOf"`, `"const":"always"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %s in %s", want, raw)
		}
	}
	var keys []string
	for _, answer := range []string{fmt.Sprintf(accepted, "always"), `{"action":"decline"}`, `{"action":"cancel"}`} {
		for key := range r.InputRequests {
			keys = append(keys, key)
		}
		states = append(states, r.RequestState)
		r = c.result(c.retry(r, forms, answer))
	}
	if r.ResultType != "complete" || r.Structured.Stdout.Text != `one="always" two="no" three="" ` {
		t.Errorf("got %+v", r)
	}
	for _, list := range [][]string{keys, states} {
		if slices.Sort(list); len(slices.Compact(list)) != 3 {
			t.Errorf("not one a question: %v", list)
		}
	}
	// The result is given once.
	for _, state := range states {
		c.refused(c.again(state, forms, `{}`))
	}
}

// refused is a call whose state is none.
func (c *client) refused(id string) {
	c.t.Helper()
	if g := c.answer(id); g.Error == nil || g.Error.Code != mcp.INVALID_PARAMS || !strings.Contains(g.Error.Message, "no run waits under the requestState") {
		c.t.Errorf("got %+v: %s", g.Error, g.Result)
	}
}

func TestUnknownState(t *testing.T) {
	one, other := connect(t, asking(t)), connect(t, asking(t))
	r := one.result(one.modern(`{"language":"python","code":"one"}`, forms, ""))
	const always = `{"approve-1":{"action":"accept","content":{"answer":"always"}}}`
	other.refused(other.again(r.RequestState, forms, always))
	for _, state := range []string{"x", "Roots", ".", ".1", r.RequestState + " ", r.RequestState + "1", r.RequestState + ".1", r.RequestState[1:],
		strings.TrimSuffix(r.RequestState, ".1"), strings.TrimSuffix(r.RequestState, "1") + "01", strings.TrimSuffix(r.RequestState, "1") + "2", strings.TrimSuffix(r.RequestState, "1") + "0"} {
		one.refused(one.again(state, forms, always))
	}
	if r = one.result(one.retry(r, forms, `{"action":"decline"}`)); r.Structured.Stdout.Text != `one="no" ` {
		t.Errorf("got %+v", r)
	}
}

// A retry that answers something else, or nothing, is asked again.
func TestRetryWithoutTheAnswer(t *testing.T) {
	c := connect(t, asking(t))
	r := c.result(c.modern(`{"language":"python","code":"one two"}`, forms, ""))
	first := r
	for _, responses := range []string{`{}`, `null`, `{"approve-0":{"action":"accept","content":{"answer":"once"}}}`, `{"roots":{"roots":[]}}`} {
		if r = c.result(c.again(first.RequestState, forms, responses)); len(r.InputRequests) != 1 || r.InputRequests["approve-1"] == nil {
			t.Errorf("%s gives %+v", responses, r)
		}
	}
	if r = c.result(c.retry(r, forms, fmt.Sprintf(accepted, "once"))); r.InputRequests["approve-2"] == nil {
		t.Fatalf("got %+v", r)
	}
	// The answer to the first question, once more, is none to the second.
	if r = c.result(c.retry(first, forms, fmt.Sprintf(accepted, "once"))); r.InputRequests["approve-2"] == nil {
		t.Fatalf("got %+v", r)
	}
	if r = c.result(c.retry(r, forms, `{"action":"accept","content":7}`)); r.Structured.Stdout.Text != `one="once" two="no" ` {
		t.Errorf("got %+v", r)
	}
}

// A call that is cancelled while no input is pending takes its run with it; one whose answer was a question is over.
func TestCancelAroundAQuestion(t *testing.T) {
	ended := make(chan struct{})
	started := make(chan struct{}, 8)
	o := asking(t)
	inner := o.Run
	o.Run = wrapped(inner, started, ended)
	c := connect(t, o)
	id := c.modern(`{"language":"python","code":"one then-wait"}`, forms, "")
	r := c.result(id)
	c.notify("notifications/cancelled", `{"requestId":`+id+`}`)
	c.settle()
	select {
	case <-ended:
		t.Fatal("a cancel of a call that was answered ended the run")
	default:
	}
	id = c.retry(r, forms, fmt.Sprintf(accepted, "once"))
	<-started // it waits for something else now
	c.notify("notifications/cancelled", `{"requestId":`+id+`}`)
	<-ended
}

func TestEndWhileAQuestionIsOpen(t *testing.T) {
	c := connect(t, asking(t))
	c.result(c.modern(`{"language":"python","code":"one"}`, forms, ""))
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// Who does not come back has said no; the result waits a while, and then is gone.
func TestNobodyComesBack(t *testing.T) {
	o := asking(t)
	for name, test := range map[string]struct {
		after time.Duration
		found bool
	}{
		"in time for the result": {answerWithin + keptFor/2, true},
		"too late":               {answerWithin + keptFor + time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connect(t, o)
				r := c.result(c.modern(`{"language":"python","code":"one two"}`, forms, ""))
				time.Sleep(test.after) // no time passes here but this
				again := c.retry(r, forms, fmt.Sprintf(accepted, "always"))
				if !test.found {
					c.refused(again)
				} else if r := c.result(again); r.Structured.Stdout.Text != `one="" two="" ` {
					t.Errorf("got %+v", r)
				}
				if err := c.end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	o := asking(t)
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, o)
		c.introduce(forms)
		id := c.python("one", "")
		c.question(1)
		time.Sleep(answerWithin)
		if r := c.result(id); r.Structured.Stdout.Text != `one="" ` {
			t.Errorf("got %+v", r)
		}
		if err := c.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestResultsThatWaitAreFew(t *testing.T) {
	var s waits
	for i := range mostKept + 10 {
		w := &waiting{state: fmt.Sprint(i)}
		s.enter(w)
		s.keep(w.state)
	}
	if s.forget("70"); len(s.by) != mostKept-1 || len(s.kept) != mostKept-1 || s.by["9"] != nil || s.by["10"] == nil {
		t.Errorf("%d by state, %d kept", len(s.by), len(s.kept))
	}
}
