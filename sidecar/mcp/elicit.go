package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

// What a run waits for is asked by elicitation, in form mode: since 2025-06-18, as a request of ours; since 2026-07-28 as
// the answer to a call, which comes again with the person's (waiting.go). Only runs of this connection are asked about: a
// question about another's would come up in a conversation that has nothing to do with it.

// answerWithin is how long a person, and the call that brings the answer, may take.
const answerWithin = 5 * time.Minute

// answerKey is the form's only field.
const answerKey = "answer"

// takesForms says whether a client shows forms. One that names no mode does (2025-11-25, client capabilities).
func takesForms(can *mcp.ElicitationCapability) bool {
	return can != nil && (can.Form != nil || can.URL == nil)
}

// approver puts questions to the person in requests of ours, one at a time: a client may show only one form.
func (c *conn) approver(about string) func(context.Context, protocol.Question) protocol.Answer {
	return func(ctx context.Context, q protocol.Question) protocol.Answer {
		select {
		case c.turn <- struct{}{}:
			defer func() { <-c.turn }()
		case <-ctx.Done():
			return ""
		}
		ctx, stop := context.WithTimeout(ctx, answerWithin)
		defer stop()
		raw, err := c.ask(ctx, string(mcp.MethodElicitationCreate), form(q, about, false))
		if err != nil {
			c.log.Info("asking the person", "about", q.Subject, "error", err)
			return ""
		}
		return readAnswer(q, raw)
	}
}

// offer is an answer that a person can give, and what it comes to.
type offer struct {
	answer protocol.Answer
	title  string
}

// offers are the answers to a question.
func offers(q protocol.Question) []offer {
	yes := offer{protocol.Once, "Yes, for this run"}
	no := offer{protocol.No, "No"}
	switch {
	case q.Kind == protocol.AskTrust:
		return []offer{{protocol.Once, "Yes, and later ones too, until that code changes"}, no}
	case q.File != "":
		return []offer{yes, {protocol.Always, "Always: write it to the settings"}, no}
	}
	return []offer{yes, no}
}

// form is a question as a form with one field. Titles of choices are written in the way of 2025-06-18, which later
// revisions still know, or in that of 2025-11-25.
func form(q protocol.Question, about string, titled bool) mcp.ElicitationParams {
	field := map[string]any{"type": "string", "title": "Answer"}
	var answers []protocol.Answer
	var titles []string
	var choices []map[string]any
	for _, o := range offers(q) {
		answers, titles = append(answers, o.answer), append(titles, o.title)
		choices = append(choices, map[string]any{"const": o.answer, "title": o.title})
	}
	if field["oneOf"] = choices; !titled {
		delete(field, "oneOf")
		field["enum"], field["enumNames"] = answers, titles
	}
	return mcp.ElicitationParams{Message: wording(q, about), RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{answerKey: field}, "required": []string{answerKey}}}
}

// wording says what is asked, by which run, and what "always" writes. What the run had a hand in is on lines of its own
// and cannot break out of them.
func wording(q protocol.Question, about string) string {
	text := protocol.OneLine(q.Text)
	if q.Kind == protocol.AskNetwork {
		text += " No setting allows it."
	}
	text += "\n" + about
	if q.Run != "" {
		text += "\nRun: " + protocol.OneLine(q.Run)
	}
	if q.File != "" {
		text += fmt.Sprintf("\n\"Always\" writes %s into %s: it holds for every project, with names below it.", protocol.OneLine(q.Writes), protocol.OneLine(q.File))
	}
	return text
}

// aboutCode is how much of its code names a run.
const aboutCode = 160

// about names a run to the person. Its code is the model's, and is quoted.
func about(where choice, p protocol.RunParams) string {
	return fmt.Sprintf("Project: %s\nCode (%s): %q", protocol.OneLine(where.root), protocol.OneLine(p.Language), cutText(p.Code, aboutCode, " […] "))
}

// readAnswer reads what the client answered to a question's form. A person who dismissed it has not answered; all else that
// is not one of the offers is a no.
func readAnswer(q protocol.Question, raw json.RawMessage) protocol.Answer {
	var result struct {
		Action  mcp.ElicitationResponseAction `json:"action"`
		Content map[string]any                `json:"content"`
	}
	if json.Unmarshal(raw, &result) != nil {
		return protocol.No
	}
	switch result.Action {
	case mcp.ElicitationResponseActionCancel:
		return ""
	case mcp.ElicitationResponseActionAccept:
		for _, o := range offers(q) {
			if result.Content[answerKey] == string(o.answer) {
				return o.answer
			}
		}
	}
	return protocol.No
}
