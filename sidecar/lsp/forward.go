package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/rpc"
)

// route is what in a request's parameters says which sidecar is meant.
type route struct {
	// Workspace is a folder, by path, URI or name; URI or TextDocument a document.
	Workspace    string `json:"workspace"`
	URI          string `json:"uri"`
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	// ID and Token name a run.
	ID    string `json:"id"`
	Token string `json:"token"`
}

// place is where in the editor the request comes from.
func (r route) place() string {
	for _, where := range []string{r.Workspace, r.URI, r.TextDocument.URI} {
		if where != "" {
			return where
		}
	}
	return ""
}

// forward hands a request on to the sidecar that is meant, and its answer back.
func (e *editor) forward(ctx context.Context, method string, raw json.RawMessage) (any, error) {
	r, err := rpc.Params[route](method, raw)
	if err != nil {
		return nil, err
	}
	if method == protocol.MethodRun {
		return e.forwardRun(ctx, r, raw)
	}
	c, err := e.reach(ctx, r)
	if err != nil {
		return nil, err
	}
	var result json.RawMessage
	answered := c.Start(method, params(raw), &result)
	rpc.Release(ctx)
	select {
	case err = <-answered:
		return result, err
	case <-ctx.Done():
		return nil, &protocol.Error{Kind: protocol.Cancelled, Message: method + " was cancelled", Err: ctx.Err()}
	}
}

// forwardRun hands on a run. It has a token, so that it can be cancelled however the editor does that. A language whose code was
// forgotten is none of an empty program, as a sidecar would take it.
func (e *editor) forwardRun(ctx context.Context, r route, raw json.RawMessage) (any, error) {
	p, err := rpc.Params[struct {
		Language *string  `json:"language"`
		Code     *string  `json:"code"`
		Command  []string `json:"command"`
	}](protocol.MethodRun, raw)
	if err != nil {
		return nil, err
	}
	if p.Language != nil && p.Code == nil && p.Command == nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: "a language, and no code", Hint: `give the program's text in "code"; one without any is ""`}
	}
	if r.Token == "" {
		r.Token = e.token()
		raw = with(raw, "token", r.Token)
	}
	var result json.RawMessage
	err = e.run(ctx, r, raw, &result)
	return result, err
}

// token is a new one.
func (e *editor) token() string { return "sidecar-lsp/" + strconv.FormatInt(e.tokens.Add(1), 10) }

// attempts is how often a run is asked for, of sidecars that take none any more.
const attempts = 5

// run asks for a run, and again if the sidecar takes none any more.
func (e *editor) run(ctx context.Context, r route, params json.RawMessage, result any) (err error) {
	var release sync.Once
	for range attempts {
		root, err := e.rootFor(r.place())
		if err != nil {
			return err
		}
		l := e.link(root)
		c, err := l.get(ctx)
		if err != nil {
			return err
		}
		e.routes.add(r.Token, c)
		answered := c.Start(protocol.MethodRun, params, result)
		release.Do(func() { rpc.Release(ctx) })
		err = e.await(ctx, c, r.Token, answered)
		began := e.routes.remove(r.Token)
		var known *protocol.Error
		if !errors.As(err, &known) || known.Kind != protocol.Gone || began {
			return err
		}
		l.retire(c)
	}
	return err
}

// await waits for the answer to a run, and cancels the run when ctx ends; a cancelled run is answered like any other.
func (e *editor) await(ctx context.Context, c *client.Client, token string, answered <-chan error) error {
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
	}
	_ = c.Call(context.WithoutCancel(ctx), protocol.MethodCancel, protocol.CancelParams{Token: token}, nil)
	return <-answered
}

// reach is the connection to the sidecar that is meant: the one that does the run, or the folder's.
func (e *editor) reach(ctx context.Context, r route) (*client.Client, error) {
	c, l := e.routes.find(r.Token, r.ID)
	switch {
	case c != nil:
		return c, nil
	case l != nil && r.place() == "":
		return l.get(ctx)
	}
	root, err := e.rootFor(r.place())
	if err != nil {
		return nil, err
	}
	return e.link(root).get(ctx)
}

// params are parameters as they are sent on: an object, also where the editor sent none.
func params(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// with is an object with one more field. It is the last, so that readers take it in the place of one of the same name.
func with(raw json.RawMessage, name, value string) json.RawMessage {
	raw = bytes.TrimSpace(params(raw))
	if raw[0] != '{' {
		return raw
	}
	field, _ := json.Marshal(map[string]string{name: value})
	out := append(json.RawMessage(nil), bytes.TrimSpace(raw[:len(raw)-1])...)
	if len(out) > 1 {
		out = append(out, ',')
	}
	return append(out, field[1:]...)
}
