package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/mcp"
	"code.sidecar.dev/sidecar/protocol"
)

func mcpCommand(f *flags, t terminal) *cobra.Command {
	inProcess := false
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output: the tools run_code, list_envs, list_sessions and close_session",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dumps()
			var b backend = newShared(f, t)
			if inProcess {
				b = newEngines(f, t)
			}
			defer b.close()
			return served(c.Context(), serveMCP(c.Context(), b, f, t))
		},
	}
	c.Flags().BoolVar(&inProcess, "in-process", false, "run in this process, unseen by the project's sidecar")
	return c
}

// served is how serving a client ended: to be told to end is no failure.
func served(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// backend does what MCP's tools ask for, in the project at root: its sidecar, or this process.
type backend interface {
	run(ctx context.Context, root string, p protocol.RunParams, w mcp.Watch) (protocol.RunResult, error)
	envs(ctx context.Context, root string) ([]protocol.Environment, error)
	sessions(ctx context.Context, root string) ([]protocol.NamedSession, error)
	closeSession(ctx context.Context, root string, p protocol.CloseSessionParams) ([]protocol.NamedSession, error)
	close()
}

func serveMCP(ctx context.Context, b backend, f *flags, t terminal) error {
	dir, gone := os.Getwd()
	if gone != nil {
		dir = "/"
	}
	home, _ := os.UserHomeDir()
	notes := mcp.ReplacedVariables(os.Getenv)
	for _, n := range notes {
		say(t, n)
	}
	return mcp.Serve(ctx, t.in, t.out, mcp.Options{
		Name: "sidecar", Version: version, Log: f.log(t), Flag: f.workspace, Getenv: os.Getenv, Dir: dir, NoDir: gone, Home: home, Notes: notes,
		Run: func(ctx context.Context, dir, _ string, p protocol.RunParams, w mcp.Watch) (protocol.RunResult, error) {
			root, err := sidecar.Root(dir)
			if err != nil {
				return protocol.RunResult{}, err
			}
			p.Cwd = within(dir, p.Cwd)
			return b.run(ctx, root, p, w)
		},
		Envs: func(ctx context.Context, dir string) ([]protocol.Environment, error) {
			root, err := sidecar.Root(dir)
			if err != nil {
				return nil, err
			}
			return b.envs(ctx, root)
		},
		Sessions: func(ctx context.Context, dir string) ([]protocol.NamedSession, error) {
			root, err := sidecar.Root(dir)
			if err != nil {
				return nil, err
			}
			return b.sessions(ctx, root)
		},
		CloseSession: func(ctx context.Context, dir string, p protocol.CloseSessionParams) ([]protocol.NamedSession, error) {
			root, err := sidecar.Root(dir)
			if err != nil {
				return nil, err
			}
			return b.closeSession(ctx, root, p)
		},
	})
}

// within is the working folder that a call means: where the client named a folder inside a project, that one is what
// it starts from, not the project's root.
func within(dir, cwd string) string {
	if filepath.IsAbs(cwd) {
		return cwd
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, cwd)
}

// shared has the projects' sidecars do it.
type shared struct {
	pool *client.Pool
	// trim gives memory back a while after a run: an agent keeps this process for hours, and seldom one alone.
	trim *time.Timer
}

// trimAfter is how long after a run that is.
const trimAfter = 500 * time.Millisecond

func newShared(f *flags, t terminal) shared {
	return shared{client.NewPool(f.as("mcp", t)), time.AfterFunc(trimAfter, debug.FreeOSMemory)}
}

func (s shared) run(ctx context.Context, root string, p protocol.RunParams, w mcp.Watch) (protocol.RunResult, error) {
	defer s.trim.Reset(trimAfter)
	return s.pool.Run(ctx, root, protocol.RunRequest{RunParams: p, TraceParent: w.TraceParent, TraceState: w.TraceState}, nil, client.Watch{Output: w.Output, Building: w.Building, Approve: w.Approve})
}

func (s shared) envs(ctx context.Context, root string) ([]protocol.Environment, error) {
	var r protocol.EnvsResult
	err := s.pool.Ask(ctx, root, protocol.MethodEnvs, nil, &r)
	return r.Environments, err
}

func (s shared) close() { s.pool.Close() }
