package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
	"github.com/mark3labs/mcp-go/mcp"
)

// envsShown is list_envs' structured result.
type envsShown struct {
	Environments    []envShown `json:"environments"`
	Rules           []string   `json:"rules"`
	Workspace       string     `json:"workspace"`
	WorkspaceSource string     `json:"workspaceSource"`
	Notes           []string   `json:"notes,omitempty"`
}

type envShown struct {
	ID        string          `json:"id"`
	Provider  string          `json:"provider"`
	Summary   string          `json:"summary,omitempty"`
	NotBuilt  bool            `json:"notBuilt,omitempty"`
	Packages  []string        `json:"packages,omitempty"`
	Languages []languageShown `json:"languages"`
	Missing   []missingShown  `json:"missing"`
}

type languageShown struct {
	Language string `json:"language"`
	Version  string `json:"version,omitempty"`
	Program  string `json:"program"`
	Via      string `json:"via,omitempty"`
}

type missingShown struct {
	Language string `json:"language"`
	Hint     string `json:"hint"`
}

// listEnvs is the tool list_envs.
func (c *conn) listEnvs(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if _, err := object(callOf(ctx).arguments, nil); err != nil {
		return failure(err), nil
	}
	where, err := c.choose(ctx, req, "")
	if errors.Is(err, errNeedRoots) {
		return needRoots(), nil
	}
	if err != nil {
		return failure(err), nil
	}
	envs, err := c.o.Envs(ctx, where.root)
	if err != nil {
		return failure(err), nil
	}
	where.notes = slices.Concat(where.notes, c.untold())
	return envsResult(envs, where), nil
}

func envsResult(envs []protocol.Environment, where choice) *mcp.CallToolResult {
	shown := envsShown{Environments: []envShown{}, Rules: rules,
		Workspace: where.root, WorkspaceSource: where.source, Notes: where.notes}
	var texts []string
	for _, e := range envs {
		shown.Environments = append(shown.Environments, showEnv(e))
		texts = append(texts, strings.TrimSpace(env.Text(e)))
	}
	text := strings.Join([]string{strings.Join(texts, "\n"), "",
		"Workspace: " + where.root + " (from " + where.source + ")", "Rules:", bullets(rules)}, "\n")
	if len(where.notes) > 0 {
		text += "\nNotes:\n" + bullets(where.notes)
	}
	return mcp.NewToolResultStructured(shown, text)
}

func showEnv(e protocol.Environment) envShown {
	shown := envShown{ID: e.ID, Provider: e.Provider, Summary: e.Summary, NotBuilt: e.NotBuilt, Packages: e.Packages, Languages: []languageShown{}, Missing: []missingShown{}}
	for _, l := range e.Languages {
		shown.Languages = append(shown.Languages, languageShown{l.Name, l.Version, l.Program, l.Via})
	}
	for _, m := range e.Missing {
		shown.Missing = append(shown.Missing, missingShown{m.Name, m.Hint})
	}
	return shown
}
