package lsp

import (
	"encoding/json"
	"sync"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

// maxRoutes is of how many runs it is remembered which sidecar did them; the sidecars themselves remember fewer.
const maxRoutes = 1000

// routes remember which connection a run belongs to: by the editor's token while it lasts, and by its id.
type routes struct {
	mu     sync.Mutex
	tokens map[string]*ongoing
	ids    map[string]where
	order  []string // the ids, the oldest first
}

// where a run is: in the project of a link, and, if this editor asked for it, at a connection.
type where struct {
	l *link
	c *client.Client
}

// ongoing is a run of this editor that has not been answered.
type ongoing struct {
	c     *client.Client
	began bool
	id    string
}

func newRoutes() *routes {
	return &routes{tokens: map[string]*ongoing{}, ids: map[string]where{}}
}

// add enters a run that is being asked for.
func (r *routes) add(token string, c *client.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens[token] = &ongoing{c: c}
}

// remove takes out a run that was answered, and says whether it had begun.
func (r *routes) remove(token string) (began bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.tokens[token]
	delete(r.tokens, token)
	return run != nil && run.began
}

// find is where a run is: its connection, or the link to its project's sidecar; nil where it is not known.
func (r *routes) find(token, id string) (*client.Client, *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run := r.tokens[token]; run != nil && token != "" {
		return run.c, nil
	}
	at := r.ids[id]
	if at.c != nil && isOver(at.c) {
		at.c = nil
	}
	return at.c, at.l
}

// began reads sidecar/runStarted.
func (r *routes) began(l *link, params json.RawMessage) {
	var p protocol.RunEvent
	if json.Unmarshal(params, &p) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := where{l: l}
	if mine := r.tokens[p.Run.Token]; mine != nil && p.Run.Token != "" {
		mine.began, mine.id = true, p.Run.ID
		at.c = mine.c // the link may go over to another one while it lasts
	}
	r.ids[p.Run.ID] = at
	if r.order = append(r.order, p.Run.ID); len(r.order) > maxRoutes {
		delete(r.ids, r.order[0])
		r.order = r.order[1:]
	}
}
