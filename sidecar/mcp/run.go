package mcp

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

// runCode is the tool run_code.
func (c *conn) runCode(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	call := callOf(ctx)
	a, err := readArguments(call.arguments)
	if err != nil {
		return failure(err), nil
	}
	where, err := c.choose(ctx, req, a.workspace)
	if errors.Is(err, errNeedRoots) {
		return needRoots(), nil
	}
	if err == nil {
		err = a.checkFiles(where.root)
	}
	if err != nil {
		return failure(err), nil
	}
	a.params.Client = c.session.client()
	return c.run(call, where, a.params), nil
}

// run waits for its turn, has the run done and shows its output meanwhile.
func (c *conn) run(call *call, where choice, params protocol.RunParams) *mcp.CallToolResult {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-call.ctx.Done():
		return failure(context.Cause(call.ctx))
	}
	p := startProgress(call, call.token)
	defer p.finish()
	result, err := c.o.Run(call.ctx, where.root, where.source, params, Watch{Output: p.write, Building: p.building})
	if err != nil {
		return c.failed(err)
	}
	if result.WorkspaceSource == "" {
		result.WorkspaceSource = where.source
	}
	result.Notes = append(result.Notes, where.notes...)
	c.outputs.remember(result)
	return runResult(result)
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
