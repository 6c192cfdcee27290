package mcp

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// runCode is the tool run_code.
func (c *conn) runCode(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call := callOf(ctx)
	if state := req.Params.RequestState; server.IsModernRequest(ctx) && state != "" && state != rootsKey {
		return c.resume(call, req.Params.MultiRoundTripParams), nil
	}
	a, err := readArguments(call.arguments)
	if err != nil {
		return failure(err), nil
	}
	where, err := c.choose(ctx, req, a.workspace)
	if errors.Is(err, errNeedRoots) {
		return needRoots(), nil
	}
	if err != nil {
		return failure(err), nil
	}
	a.params.Client = c.client(ctx)
	a.params.Files, a.params.WritableFiles = outside(where.root, a.params.Files), outside(where.root, a.params.WritableFiles)
	ask := takesForms(c.capabilities(ctx).Elicitation)
	if ask && server.IsModernRequest(ctx) {
		return c.wait(call, where, a.params), nil
	}
	return c.run(call, where, a.params, ask), nil
}

// run waits for its turn, has the run done and shows its output meanwhile. ask says that the client puts questions to
// the person while the call waits.
func (c *conn) run(call *call, where choice, params protocol.RunParams, ask bool) *mcp.CallToolResult {
	free, err := c.slot(call.ctx)
	if err != nil {
		return failure(err)
	}
	defer free()
	p := startProgress(call, call.token)
	defer p.finish()
	w := Watch{Output: p.write, Building: p.building, TraceParent: call.traceParent, TraceState: call.traceState}
	if ask {
		w.Approve = c.approver(about(where, params))
	}
	return c.do(call.ctx, where, params, w)
}

// slot waits for a run's turn; free gives it to the next.
func (c *conn) slot(ctx context.Context) (free func(), err error) {
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// do has a run done, and shows its result.
func (c *conn) do(ctx context.Context, where choice, params protocol.RunParams, w Watch) *mcp.CallToolResult {
	result, err := c.o.Run(ctx, where.root, where.source, params, w)
	if err != nil {
		return c.failed(err)
	}
	if result.WorkspaceSource == "" {
		result.WorkspaceSource = where.source
	}
	result.Notes = slices.Concat(result.Notes, where.notes, c.untold())
	c.outputs.remember(result)
	return runResult(result)
}

// untold are the notes that no result had yet.
func (c *conn) untold() []string {
	if c.told.Swap(true) {
		return nil
	}
	return c.o.Notes
}

// failed is failure, where the log of a build that failed is a resource.
func (c *conn) failed(err error) *mcp.CallToolResult {
	e := *asError(err)
	if e.Log != "" {
		uri := strings.Replace(logTemplate, "{name}", filepath.Base(e.Log), 1)
		c.outputs.keep(uri, protocol.Output{File: e.Log})
		e.Hint = strings.TrimLeft(e.Hint+"\nas a resource: "+uri, "\n")
	}
	return failure(&e)
}

// failure is a tool's error: a person's words in the text, the kind beside it for programs.
func failure(err error) *mcp.CallToolResult {
	e := asError(err)
	text := string(e.Kind) + ": " + e.Error()
	result := mcp.NewToolResultStructured(map[string]any{"error": e}, text)
	result.IsError = true
	return result
}

// asError finds the kind of an error.
func asError(err error) *protocol.Error {
	var known *protocol.Error
	var language *env.UnknownLanguageError
	var environment *env.UnknownEnvironmentError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &language):
		return badRequest(err.Error(), "list_envs says what is installed.")
	case errors.As(err, &environment):
		return &protocol.Error{Kind: protocol.UnknownEnvironment, Message: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, errEnd), errors.Is(err, errCancelled), errors.Is(err, errHangup):
		return &protocol.Error{Kind: protocol.Cancelled, Message: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &protocol.Error{Kind: protocol.TimedOut, Message: err.Error()}
	}
	return &protocol.Error{Kind: protocol.Internal, Message: err.Error()}
}
