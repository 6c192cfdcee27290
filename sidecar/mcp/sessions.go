package mcp

import (
	"context"
	_ "embed" // for the schemas
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

// The tools about sessions: interpreters that run_code keeps under a name. (The session of a connection is another thing.)

var (
	//go:embed schema/list_sessions.output.json
	listSessionsOutput string
	//go:embed schema/close_session.input.json
	closeSessionInput string
	//go:embed schema/close_session.output.json
	closeSessionOutput string
)

const (
	listSessionsAbout = `List the sessions of the workspace: interpreters that run_code keeps under a name (its argument session), with how many calls they had and when the last one ended.`
	closeSessionAbout = `Close a session of run_code: its interpreter and all that it left running end, and its state is gone. The next run_code with this name starts a new one.`
)

// sessionsShown is the structured result of both.
type sessionsShown struct {
	Sessions        *[]protocol.NamedSession `json:"sessions,omitempty"`
	Closed          *[]protocol.NamedSession `json:"closed,omitempty"`
	Workspace       string                   `json:"workspace"`
	WorkspaceSource string                   `json:"workspaceSource"`
	Notes           []string                 `json:"notes,omitempty"`
}

func listSessionsTool() mcp.Tool {
	t := tool("list_sessions", listSessionsAbout, listEnvsInput, listSessionsOutput)
	t.Annotations = listEnvsTool().Annotations
	t.Annotations.Title = "List sessions"
	return t
}

func closeSessionTool() mcp.Tool {
	t := tool("close_session", closeSessionAbout, closeSessionInput, closeSessionOutput)
	t.Annotations = runCodeTool().Annotations
	t.Annotations.Title = "Close a session"
	return t
}

// listSessions is the tool list_sessions.
func (c *conn) listSessions(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if _, err := object(callOf(ctx).arguments, nil); err != nil {
		return failure(err), nil
	}
	return c.about(ctx, req, "", func(where choice) (*mcp.CallToolResult, error) {
		all, err := c.o.Sessions(ctx, where.root)
		if err != nil {
			return nil, err
		}
		shown := sessionsShown{Sessions: &all, Workspace: where.root, WorkspaceSource: where.source, Notes: where.notes}
		return mcp.NewToolResultStructured(shown, sessionsText("open", all)), nil
	})
}

// closeKeys reads each argument of close_session.
var closeKeys = map[string]func(*closeArguments) *string{
	"session":   func(a *closeArguments) *string { return &a.params.Name },
	"language":  func(a *closeArguments) *string { return &a.params.Language },
	"workspace": func(a *closeArguments) *string { return &a.workspace },
}

type closeArguments struct {
	params    protocol.CloseSessionParams
	workspace string
}

// closeSession is the tool close_session.
func (c *conn) closeSession(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a, err := readClose(callOf(ctx).arguments)
	if err != nil {
		return failure(err), nil
	}
	return c.about(ctx, req, a.workspace, func(where choice) (*mcp.CallToolResult, error) {
		closed, err := c.o.CloseSession(ctx, where.root, a.params)
		if err != nil {
			return nil, err
		}
		shown := sessionsShown{Closed: &closed, Workspace: where.root, WorkspaceSource: where.source, Notes: where.notes}
		return mcp.NewToolResultStructured(shown, sessionsText("closed", closed)), nil
	})
}

func readClose(raw json.RawMessage) (a closeArguments, err error) {
	values, err := object(raw, slices.Sorted(maps.Keys(closeKeys)))
	if err != nil {
		return a, err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !isNull(values[name]) && json.Unmarshal(values[name], closeKeys[name](&a)) != nil {
			return a, badRequest(fmt.Sprintf("argument %q must be a string", name), "")
		}
	}
	if a.params.Name == "" {
		return a, badRequest(`argument "session" is missing`, "list_sessions names those that are open.")
	}
	return a, nil
}

// about does something with the workspace that is meant.
func (c *conn) about(ctx context.Context, req mcp.CallToolRequest, workspace string, do func(choice) (*mcp.CallToolResult, error)) (*mcp.CallToolResult, error) {
	where, err := c.choose(ctx, req, workspace)
	if errors.Is(err, errNeedRoots) {
		return needRoots(), nil
	}
	if err != nil {
		return failure(err), nil
	}
	result, err := do(where)
	if err != nil {
		return failure(err), nil
	}
	return result, nil
}

func sessionsText(what string, all []protocol.NamedSession) string {
	if len(all) == 0 {
		return "no session is " + what
	}
	var b strings.Builder
	for _, s := range all {
		calls := "1 call"
		if s.Calls != 1 {
			calls = fmt.Sprintf("%d calls", s.Calls)
		}
		fmt.Fprintf(&b, "%s: session %q, %s, environment %s, %s, last used %s\n", what, s.Name, s.Language, s.Environment, calls, s.Used.Format(time.RFC3339))
	}
	return b.String()
}
