package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	lsp "go.lsp.dev/protocol"

	"code.sidecar.dev/sidecar/lsp/pieces"
	"code.sidecar.dev/sidecar/protocol"
)

// ownRun is a run that this edge asked for, on a command of the editor's.
type ownRun struct {
	token string
	doc   document // as it was
	piece pieces.Piece
	root  string
	stop  context.CancelFunc
	over  chan struct{} // closed when result and err are set

	progress progress
	printed  transcript

	mu     sync.Mutex
	id     string
	ended  bool
	result protocol.RunResult
	err    error
}

func (r *ownRun) isLive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended
}

// name is the run's id, or its token before it has one.
func (r *ownRun) name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.id == "" {
		return r.token
	}
	return r.id
}

// maxOwn is how many runs are remembered, with what they printed.
const maxOwn = 20

// ownRuns are the runs of this edge.
type ownRuns struct {
	mu  sync.Mutex
	all []*ownRun // the oldest first
}

func (o *ownRuns) add(r *ownRun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := 0; i < len(o.all) && len(o.all) >= maxOwn; i++ {
		if !o.all[i].isLive() {
			o.all = append(o.all[:i:i], o.all[i+1:]...)
			i--
		}
	}
	o.all = append(o.all, r)
}

// which names a run of this edge: by token or id, as the last one of a document, or as the last one.
type which struct {
	Token string `json:"token,omitempty"`
	ID    string `json:"id,omitempty"`
	URI   string `json:"uri,omitempty"`
}

// lastOf is the run that is meant, nil if there is none.
func (e *editor) lastOf(w which) *ownRun {
	e.own.mu.Lock()
	defer e.own.mu.Unlock()
	for i := len(e.own.all) - 1; i >= 0; i-- {
		r := e.own.all[i]
		if (w.Token == "" || w.Token == r.token) && (w.ID == "" || w.ID == r.name()) && (w.URI == "" || w.URI == r.doc.uri) {
			return r
		}
	}
	return nil
}

// startRun asks for a run of a piece of a document, and follows it.
func (e *editor) startRun(d document, p pieces.Piece, token string) (*ownRun, error) {
	root, err := e.rootFor(d.uri)
	if err != nil {
		return nil, err
	}
	if token == "" {
		token = e.token()
	}
	if live := e.lastOf(which{Token: token}); live != nil && live.isLive() {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the token %.60q is that of a run which goes on", token), Hint: "choose another one"}
	}
	params, err := json.Marshal(protocol.RunRequest{RunParams: protocol.RunParams{Language: p.Language, Code: p.Code, Cwd: cwd(d.uri, root)}, Token: token})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(e.ctx)
	r := &ownRun{token: token, doc: d, piece: p, root: root, stop: stop, over: make(chan struct{})}
	e.own.add(r)
	e.clear(d.uri)
	go e.carry(ctx, r, params)
	return r, nil
}

// cwd is the folder of a document, where a person would start it, if that is in the project.
func cwd(uri, root string) string {
	path, err := pathOf(uri)
	if err != nil {
		return root
	}
	dir := resolved(filepath.Dir(path))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !isInside(dir, root) {
		return root
	}
	return dir
}

// carry does a run to its end.
func (e *editor) carry(ctx context.Context, r *ownRun, params json.RawMessage) {
	defer r.stop()
	e.beginProgress(r)
	var result protocol.RunResult
	err := e.run(ctx, route{Workspace: r.root, Token: r.token}, params, &result)
	r.mu.Lock()
	r.result, r.err, r.ended = result, err, true
	if result.ID != "" {
		r.id = result.ID
	}
	r.mu.Unlock()
	close(r.over)
	e.finish(r)
}

// follow takes what a sidecar says of the runs of this edge.
func (e *editor) follow(method string, params json.RawMessage) {
	var p struct {
		ID    string `json:"id"`
		Token string `json:"token"`
		Run   struct {
			ID    string `json:"id"`
			Token string `json:"token"`
		} `json:"run"`
		Text string `json:"text"`
	}
	switch method {
	case protocol.MethodRunStarted, protocol.MethodOutput, protocol.MethodBuilding:
	default:
		return
	}
	if json.Unmarshal(params, &p) != nil || p.Token == "" && p.Run.Token == "" {
		return
	}
	r := e.lastOf(which{Token: p.Token + p.Run.Token})
	switch {
	case r == nil:
	case method == protocol.MethodRunStarted:
		r.mu.Lock()
		r.id = p.Run.ID
		r.mu.Unlock()
	case method == protocol.MethodOutput:
		e.printed(r, p.Text)
	default:
		var b protocol.Building
		if json.Unmarshal(params, &b) == nil {
			e.report(r, b.Environment+": "+b.Text())
		}
	}
}

// printed takes output of a run: to be read later, and what fits now.
func (e *editor) printed(r *ownRun, text string) {
	lines := r.printed.add(text)
	if lines == "" {
		return
	}
	if r.printed.mayLog(len(lines)) && !e.hasPlugin() {
		e.tell(lsp.MethodWindowLogMessage, message{isLog, lines})
	}
	e.report(r, lastLine(lines))
}
