package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.lsp.dev/uri"
)

// All that concerns MCP roots is in this file: the newest revision deprecates them. Up to 2025-11-25 the client is
// asked by a request of ours; in 2026-07-28 a call is answered with "input required" and comes again with them.

const (
	// rootsPatience is how long a call waits for the answer to roots/list.
	rootsPatience = 5 * time.Second
	// rootsLate is how long an answer is still taken in; calls that come after it use it.
	rootsLate = time.Minute
	// rootsKept is how long the answer of a call in the new revision holds for later calls.
	rootsKept = time.Minute
	// rootsKey names the question in the new revision.
	rootsKey = "roots"
)

// errNeedRoots says that the call must go back to the client for its roots.
var errNeedRoots = errors.New("the client has to send its roots")

// roots is what the client says its folders are.
type roots struct {
	conn *conn

	mu sync.Mutex
	// asked closes when the answer to the newest question is in; nil before the first.
	asked  chan struct{}
	answer source
	// kept is what a call in the new revision brought, and when.
	kept   source
	keptAt time.Time
}

func newRoots(c *conn) *roots { return &roots{conn: c} }

// refresh asks the client anew. Calls that come after this wait for the new answer.
func (r *roots) refresh() {
	if r.conn.session.GetClientCapabilities().Roots == nil {
		return
	}
	asked := make(chan struct{})
	r.mu.Lock()
	r.asked = asked
	r.mu.Unlock()
	go r.fetch(asked)
}

// fetch asks, and keeps the answer unless there is a newer question.
func (r *roots) fetch(asked chan struct{}) {
	defer close(asked)
	ctx, cancel := context.WithTimeout(r.conn.ctx, rootsLate)
	defer cancel()
	raw, err := r.conn.ask(ctx, string(mcp.MethodListRoots), nil)
	answer := readRoots(raw, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == asked {
		r.answer = answer
	}
}

// source is the roots for one call; without folders when they are unknown.
func (r *roots) source(ctx context.Context, req mcp.CallToolRequest) (source, error) {
	if server.IsModernRequest(ctx) {
		return r.brought(ctx, req.Params.MultiRoundTripParams)
	}
	if r.conn.session.GetClientCapabilities().Roots == nil {
		return source{name: fromRoots}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	for asked := r.current(); ; asked = r.current() {
		select {
		case <-asked:
			if r.current() == asked {
				return r.known(), nil
			}
		case <-ctx.Done():
			return source{name: fromRoots, notes: []string{"the client did not answer roots/list in time"}}, nil
		}
	}
}

// current is the newest question; a client that never said it is initialized is asked now.
func (r *roots) current() chan struct{} {
	r.mu.Lock()
	asked := r.asked
	r.mu.Unlock()
	if asked != nil {
		return asked
	}
	r.refresh()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *roots) known() source {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer
}

// brought is the roots in the new revision: those that this call brings, else those that one brought a moment
// ago, else the client is asked to bring them. A call that was asked and brings none leaves them unknown.
func (r *roots) brought(ctx context.Context, p mcp.MultiRoundTripParams) (source, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if response, ok := p.InputResponses[rootsKey]; ok {
		raw, err := json.Marshal(response)
		r.kept, r.keptAt = readRoots(raw, err), time.Now()
		return r.kept, nil
	}
	info := server.RequestProtocolInfoFromContext(ctx)
	switch {
	case time.Since(r.keptAt) < rootsKept:
		return r.kept, nil
	case p.RequestState == rootsKey || info.ClientCapabilities.Roots == nil:
		return source{name: fromRoots}, nil
	}
	return source{}, errNeedRoots
}

// needRoots is the answer that sends a call back for the roots.
func needRoots() *mcp.CallToolResult {
	return server.NewInputRequestBuilder(rootsKey).Roots(rootsKey).ToolResult()
}

// readRoots reads the client's answer. One that failed, is no list or has no usable root is "unknown".
func readRoots(raw json.RawMessage, err error) source {
	s := source{name: fromRoots}
	var list struct {
		Roots []struct {
			URI  string `json:"uri"`
			Name string `json:"name"`
		} `json:"roots"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		s.notes = append(s.notes, "roots of the client are unknown: "+err.Error())
		return s
	}
	for _, root := range list.Roots {
		path, err := rootPath(root.URI)
		if err != nil {
			s.notes = append(s.notes, err.Error())
			continue
		}
		s.folders = append(s.folders, folder{path: path, name: root.Name})
	}
	return s
}

// rootPath is the folder that a root's URI names.
func rootPath(text string) (string, error) {
	if !strings.HasPrefix(strings.ToLower(text), "file:/") {
		return "", fmt.Errorf("root %.200q of the client is no file:// URI and was skipped", text)
	}
	u, err := uri.Parse(text)
	if err != nil {
		return "", fmt.Errorf("root %.200q of the client was skipped: %w", text, err)
	}
	if host := u.Authority(); host != "" && host != "localhost" {
		return "", fmt.Errorf("root %.200q of the client is on another machine and was skipped", text)
	}
	path := filepath.Clean(u.Path())
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("root %.200q of the client is no absolute path and was skipped", text)
	}
	return path, nil
}
