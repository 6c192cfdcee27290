package lsp

import (
	"context"
	"encoding/json"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/protocol"
)

// approver is how a project's sidecar asks the person at this editor; nil where that is not possible. e.mu is held.
func (e *editor) approver(root string) func(context.Context, protocol.Question) protocol.Answer {
	if e.options.Approvals {
		return func(ctx context.Context, q protocol.Question) protocol.Answer { return e.askPlugin(ctx, root, q) }
	}
	if e.can.Window.ShowMessage != nil {
		return e.askPerson
	}
	return nil
}

// choice is LSP's MessageActionItem.
type choice struct {
	Title string `json:"title"`
}

// answers are what a person can choose. Only what may be reached can be allowed for good.
var answers = map[string]protocol.Answer{"Once": protocol.Once, "Always": protocol.Always, "No": protocol.No}

// askPerson asks with a message that has buttons. One that is put away is no answer.
func (e *editor) askPerson(ctx context.Context, q protocol.Question) protocol.Answer {
	choices := []choice{{"Once"}, {"Always"}, {"No"}}
	text := "sidecar: " + q.Text
	if q.Client != "" {
		text = "sidecar: " + q.Client + " asks: " + q.Text
	}
	if q.Kind == protocol.AskNetwork {
		text += " (always: " + q.Writes + ": every name below it, too, in every project)"
	} else {
		choices = []choice{{"Once"}, {"No"}}
	}
	var chosen *choice
	err := e.peer.Call(ctx, lsp.MethodWindowShowMessageRequest, map[string]any{"type": isWarning, "message": new(cleaner).text(text), "actions": choices}, &chosen)
	if err != nil || chosen == nil {
		return ""
	}
	return answers[chosen.Title]
}

// askPlugin has the editor's plugin ask. No answer is "", which leaves the question to others.
func (e *editor) askPlugin(ctx context.Context, root string, q protocol.Question) protocol.Answer {
	raw, err := json.Marshal(q)
	if err != nil {
		return ""
	}
	var result protocol.ApproveResult
	if err := e.peer.Call(ctx, protocol.MethodApprove, with(raw, "workspace", root), &result); err != nil {
		return ""
	}
	return result.Answer
}
