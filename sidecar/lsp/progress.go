package lsp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/rpc"
)

// progress is LSP's work-done progress of a run.
type progress struct {
	mu sync.Mutex
	// shown says that it has begun and not ended.
	shown bool
	at    time.Time
}

// createWithin is how long an editor may take to agree to a progress.
const createWithin = 2 * time.Second

// beginProgress has the editor show that a run goes on, with a way to cancel it, if it can.
func (e *editor) beginProgress(r *ownRun) {
	if !e.can.Window.WorkDoneProgress {
		return
	}
	ctx, stop := context.WithTimeout(e.ctx, createWithin)
	defer stop()
	if e.peer.Call(ctx, lsp.MethodWindowWorkDoneProgressCreate, map[string]any{"token": r.token}, nil) != nil {
		return
	}
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	r.progress.shown = true
	e.progress(r, map[string]any{"kind": "begin", "title": "sidecar: " + r.piece.Language, "cancellable": true})
}

// progress sends one step of it.
func (e *editor) progress(r *ownRun, value map[string]any) {
	e.tell(lsp.MethodProgress, map[string]any{"token": r.token, "value": value})
}

// reportEvery is how often a person is told how far a run is.
const reportEvery = 200 * time.Millisecond

// longestReport is what fits beside a progress bar.
const longestReport = 200

// report says how far a run is, not too often.
func (e *editor) report(r *ownRun, text string) {
	p := &r.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.shown || text == "" || time.Since(p.at) < reportEvery {
		return
	}
	p.at = time.Now()
	e.progress(r, map[string]any{"kind": "report", "cancellable": true, "message": head(text, longestReport)})
}

// endProgress takes it away.
func (e *editor) endProgress(r *ownRun, text string) {
	p := &r.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		e.progress(r, map[string]any{"kind": "end", "message": head(text, longestReport)})
	}
}

// cancelProgress is window/workDoneProgress/cancel.
func (e *editor) cancelProgress(_ context.Context, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[which]("window/workDoneProgress/cancel", raw)
	if err != nil {
		return nil, err
	}
	if r := e.lastOf(which{Token: p.Token}); r != nil && p.Token != "" {
		r.stop()
	}
	return nil, nil
}
