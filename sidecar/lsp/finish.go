package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/lsp/traces"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// finish tells the person how a run ended.
func (e *editor) finish(r *ownRun) {
	if r.err != nil {
		e.endProgress(r, "failed")
		if !e.hasPlugin() { // which asks for the result
			e.show(isError, "sidecar: "+r.err.Error())
		}
		return
	}
	if r.printed.whole("") == "" { // a plugin may have wanted no output
		r.printed.add(r.result.Stdout.Text + r.result.Stderr.Text)
	}
	frames := traces.Find(tail(r.result.Stderr.Text) + "\n" + tail(r.result.Stdout.Text))
	text, kind := summary(r, frames)
	e.endProgress(r, text)
	e.diagnose(r, frames)
	if e.hasPlugin() {
		return // which shows it in its own way
	}
	e.show(kind, "sidecar: "+text)
	if strings.Count(strings.TrimSpace(r.printed.whole("")), "\n") > 0 && e.can.Window.ShowDocument.Support {
		_, _ = e.showOutput(r)
	}
}

// mostTraced is how much of the end of an output is searched for where the run failed.
const mostTraced = 64 << 10

// tail is the end of an output, from the beginning of a line.
func tail(text string) string {
	if len(text) <= mostTraced {
		return text
	}
	_, text, _ = strings.Cut(text[len(text)-mostTraced:], "\n")
	return text
}

// summary is how a run ended, in a few words.
func summary(r *ownRun, frames []traces.Frame) (text string, kind int) {
	kind = isInfo
	if ending := ending(r.result); ending != "" {
		text, kind = r.piece.Language+": "+ending, isWarning
		if said := complaint(r.result, frames); said != "" {
			text += ": " + said
		}
	} else {
		text = r.piece.Language + ": " + printedLine(r)
	}
	text += fmt.Sprintf(" (%v)", time.Duration(r.result.Duration).Round(time.Millisecond))
	for _, f := range r.result.Findings {
		text, kind = text+"\n"+protocol.OneLine(fmt.Sprintf("%s %s: %s", f.Action, f.Path, f.Reason)), isWarning
	}
	for _, d := range r.result.Denied {
		text, kind = text+"\ndenied: "+d.Text(), isWarning
	}
	return text, kind
}

// ending is how a run ended that did not end well.
func ending(r protocol.RunResult) string {
	switch {
	case r.Cancelled:
		return "cancelled"
	case r.Limit != "":
		return "ended by the limit of " + r.Limit
	case r.Signal != "":
		return "ended by " + r.Signal
	case r.ExitCode != 0:
		return fmt.Sprintf("exit status %d", r.ExitCode)
	}
	return ""
}

// complaint is what the program said of its fault: where it named a place, or the first line of its standard error.
func complaint(r protocol.RunResult, frames []traces.Frame) string {
	for _, f := range frames {
		if !f.Caller && f.Message != "" {
			return head(f.Message, longestReport)
		}
	}
	text := new(cleaner).text(strings.TrimSpace(r.Stderr.Text))
	line, _, _ := strings.Cut(text, "\n")
	return head(line, longestReport)
}

// printedLine is what a run printed if that is one short line, else how much it is.
func printedLine(r *ownRun) string {
	text := strings.TrimSpace(r.printed.whole(""))
	lines := strings.Count(text, "\n") + 1
	switch {
	case text == "":
		return "done"
	case lines == 1 && len(text) <= longestReport:
		return text
	}
	return fmt.Sprintf("done, %d lines", lines)
}

// cancelCommand is sidecar.cancel: of the run that is named, or of the last one.
func (e *editor) cancelCommand(_ context.Context, raw json.RawMessage) (any, error) {
	r, err := e.meant(commandCancel, raw)
	if err != nil {
		return nil, err
	}
	live := r.isLive()
	r.stop()
	return protocol.CancelResult{Cancelled: live}, nil
}

// outputCommand is sidecar.output: what a run printed, as text.
func (e *editor) outputCommand(_ context.Context, raw json.RawMessage) (any, error) {
	r, err := e.meant(commandOutput, raw)
	if err != nil {
		return nil, err
	}
	return r.printed.whole(r.name()), nil
}

// resultCommand is sidecar.result: it waits for the end of a run, and gives what sidecar/run gives.
func (e *editor) resultCommand(ctx context.Context, raw json.RawMessage) (any, error) {
	r, err := e.meant(commandResult, raw)
	if err != nil {
		return nil, err
	}
	select {
	case <-r.over:
		return r.result, r.err
	case <-ctx.Done():
		return nil, &protocol.Error{Kind: protocol.Cancelled, Message: "the result is waited for no more", Hint: "the run goes on", Err: ctx.Err()}
	}
}

// showCommand is sidecar.showOutput: what a run printed, as a document. It gives the document's URI.
func (e *editor) showCommand(_ context.Context, raw json.RawMessage) (any, error) {
	r, err := e.meant(commandShowOutput, raw)
	if err != nil {
		return nil, err
	}
	uri, err := e.showOutput(r)
	return map[string]string{"uri": uri}, err
}

// meant is the run that an argument names.
func (e *editor) meant(method string, raw json.RawMessage) (*ownRun, error) {
	w, err := rpc.Params[which](method, raw)
	if err != nil {
		return nil, err
	}
	if r := e.lastOf(w); r != nil {
		return r, nil
	}
	return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "there is no such run of this editor's", Hint: "run something first; `sidecar runs` lists those of all"}
}

// showOutput writes what a run printed to a file, and has the editor show it.
func (e *editor) showOutput(r *ownRun) (uri string, err error) {
	dir, err := e.o.Outputs()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(dir, filepath.Base(r.name())+"-editor."+string(protocol.Stdout)) // pruned as the others there
	if err := write(name, r.printed.whole(r.name())); err != nil {
		return "", fmt.Errorf("keeping the output: %w", err)
	}
	uri = uriOf(name)
	if !e.can.Window.ShowDocument.Support {
		e.show(isInfo, "sidecar: the output is in "+name)
		return uri, nil
	}
	go func() { // it may wait for the person
		_ = e.peer.Call(e.ctx, lsp.MethodWindowShowDocument, map[string]any{"uri": uri, "takeFocus": false}, nil)
	}()
	return uri, nil
}

// write replaces a file in one step, through one of its own beside it: it follows no link.
func write(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".editor-*."+string(protocol.Stdout))
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
