package mcp

import (
	"fmt"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

// runShown is run_code's structured result.
type runShown struct {
	ID              string                `json:"id"`
	ExitCode        int                   `json:"exitCode"`
	Signal          string                `json:"signal,omitempty"`
	Limit           string                `json:"limit,omitempty"`
	Cancelled       bool                  `json:"cancelled,omitempty"`
	Stdout          outputShown           `json:"stdout"`
	Stderr          outputShown           `json:"stderr"`
	Seconds         float64               `json:"seconds"`
	Workspace       string                `json:"workspace"`
	WorkspaceSource string                `json:"workspaceSource"`
	Environment     string                `json:"environment"`
	Interpreter     string                `json:"interpreter,omitempty"`
	Session         *protocol.SessionCall `json:"session,omitempty"`
	Findings        []protocol.Finding    `json:"findings,omitempty"`
	Denied          []protocol.Denial     `json:"denied,omitempty"`
	AuditPending    bool                  `json:"auditPending,omitempty"`
	Notes           []string              `json:"notes,omitempty"`
	Gaps            []string              `json:"gaps,omitempty"`
}

// outputShown is one stream, and the resource that has all of it when it is long.
type outputShown struct {
	protocol.Output
	Resource string `json:"resource,omitempty"`
}

// showOutput is a stream without its text yet.
func showOutput(id string, s protocol.Stream, o protocol.Output) outputShown {
	shown := outputShown{Output: protocol.Output{Bytes: o.Bytes, File: o.File}}
	if o.File != "" {
		shown.Resource = resourceOf(id, s)
	}
	return shown
}

// whole says where all of it is; "" when there is no such place.
func (o outputShown) whole() string {
	if o.Resource == "" {
		return ""
	}
	return "the whole is in " + o.File + " (resource " + o.Resource + ")"
}

// How much of lists a model gets to see.
const (
	mostFindings = 12
	mostNotes    = 12
	longestNote  = 400
)

// runResult shows a result to a model, whole, in both forms: some clients pass on only the text, some only the
// structure. How the program ended is never a tool error; only the model can say whether it expected that.
func runResult(r protocol.RunResult) *mcp.CallToolResult {
	shown := runShown{
		ID: r.ID, ExitCode: r.ExitCode, Signal: r.Signal, Limit: r.Limit, Cancelled: r.Cancelled,
		Stdout: showOutput(r.ID, protocol.Stdout, r.Stdout), Stderr: showOutput(r.ID, protocol.Stderr, r.Stderr),
		Seconds: float64(time.Duration(r.Duration).Milliseconds()) / 1000, Workspace: r.Workspace, WorkspaceSource: r.WorkspaceSource,
		Environment: r.Environment, Interpreter: r.Interpreter, Session: r.Session, AuditPending: r.AuditPending,
		Findings: r.Findings[:min(len(r.Findings), mostFindings)], Denied: r.Denied[:min(len(r.Denied), mostFindings)], Gaps: shorter(r.Gaps),
	}
	if more := len(r.Denied) - len(shown.Denied); more > 0 {
		r.Notes = append([]string{fmt.Sprintf("%d further destinations that were denied are not shown", more)}, r.Notes...)
	}
	if more := len(r.Findings) - len(shown.Findings); more > 0 {
		r.Notes = append([]string{fmt.Sprintf("%d further findings are not shown; sidecar's history of runs has them", more)}, r.Notes...)
	}
	shown.Notes = shorter(r.Notes)
	fit(&shown.Stdout, &shown.Stderr, r.Stdout, r.Stderr, budget-max(costOf(shown), textCost(shown.text())))
	result := mcp.NewToolResultStructured(shown, shown.text())
	if r.Start != "" {
		result.Meta = mcp.NewMetaFromMap(map[string]any{startMeta: r.Start, boundsMeta: r.Bounds})
	}
	return result
}

// Names in a result's _meta under which programs, and no models, see how the run was started and what bounded it
// (protocol.RunResult.Start and Bounds).
const (
	startMeta  = "code.sidecar.dev/start"
	boundsMeta = "code.sidecar.dev/bounds"
)

// shorter bounds a list of sentences.
func shorter(sentences []string) []string {
	var all []string
	for _, s := range sentences[:min(len(sentences), mostNotes)] {
		all = append(all, cutText(s, longestNote, " […] "))
	}
	return all
}

// text is the result for people and for models that get no structure. What the program printed comes last, since it may look like
// anything: nothing behind its first line is ours.
func (r runShown) text() string {
	var b strings.Builder
	b.WriteString(r.ending())
	fmt.Fprintf(&b, " after %.2f s (run %s, environment %s%s%s, workspace %s from %s)\n",
		r.Seconds, r.ID, r.Environment, suffix(" ", r.Interpreter), r.inSession(), r.Workspace, r.WorkspaceSource)
	section(&b, "findings", r.findings())
	section(&b, "denied", r.denied())
	section(&b, "notes", r.Notes)
	section(&b, "gaps in this machine's sandbox", r.Gaps)
	block(&b, "stdout", r.Stdout)
	block(&b, "stderr", r.Stderr)
	if r.Stdout.Bytes+r.Stderr.Bytes == 0 {
		b.WriteString("no output\n")
	}
	return b.String()
}

// inSession names the session, and the call's number in it.
func (r runShown) inSession() string {
	if r.Session == nil {
		return ""
	}
	return fmt.Sprintf(", call %d of session %q", r.Session.Call, r.Session.Name)
}

// ending says how the program ended.
func (r runShown) ending() string {
	text := fmt.Sprintf("exit status %d", r.ExitCode)
	if r.Signal != "" {
		text = fmt.Sprintf("ended by %s (exit status %d)", r.Signal, r.ExitCode)
	}
	switch {
	case r.Limit != "":
		return fmt.Sprintf("stopped at the limit of %s; %s", r.Limit, text)
	case r.Cancelled:
		return "cancelled; " + text
	}
	return text
}

// findings are sentences.
func (r runShown) findings() []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s: %s (%s%s%s)", f.Path, f.Reason, f.Action, suffix(", now ", f.MovedTo), suffix(": ", f.Error)))
	}
	if r.AuditPending {
		all = append(all, "the audit of the workspace goes on; more may come with a later result")
	}
	return all
}

// denied are sentences.
func (r runShown) denied() []string {
	var all []string
	for _, d := range r.Denied {
		all = append(all, d.Text())
	}
	return all
}

func block(b *strings.Builder, name string, o outputShown) {
	if o.Bytes == 0 && o.Text == "" {
		return
	}
	fmt.Fprintf(b, "%s:\n%s\n", name, strings.TrimSuffix(o.Text, "\n"))
}

func section(b *strings.Builder, name string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "%s:\n%s\n", name, bullets(lines))
	}
}

// suffix is lead and text, or nothing when there is no text.
func suffix(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}
