package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/mcp"
	"code.sidecar.dev/sidecar/protocol"
)

func mcpCommand(f *flags, t terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on standard input and output: the tools run_code and list_envs",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return serveMCP(c.Context(), f, t) },
	}
}

func serveMCP(ctx context.Context, f *flags, t terminal) error {
	engines := newEngines(f, t)
	defer engines.close()
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	home, _ := os.UserHomeDir()
	return mcp.Serve(ctx, t.in, t.out, mcp.Options{
		Name: "sidecar", Version: version, Log: f.log(t), Flag: f.workspace, Getenv: os.Getenv, Dir: dir, Home: home,
		Run: func(ctx context.Context, root, source string, p protocol.RunParams, out func(protocol.Stream, []byte)) (protocol.RunResult, error) {
			e, err := engines.of(root)
			if err != nil {
				return protocol.RunResult{}, err
			}
			return e.Run(ctx, root, source, p, out)
		},
		Envs: func(ctx context.Context, root string) (env.Environment, error) {
			e, err := engines.of(root)
			if err != nil {
				return env.Environment{}, err
			}
			return e.Environment(root)
		},
	})
}
