package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/lsp"
)

func lspCommand(f *flags, t terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor on standard input and output, as a language server",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return serveLSP(c.Context(), f, t) },
	}
	c.Flags().Bool("stdio", true, "what many editors add to a server's arguments; it is always so")
	_ = c.Flags().MarkHidden("stdio")
	return c
}

func serveLSP(ctx context.Context, f *flags, t terminal) error {
	dumps()
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	home, _ := os.UserHomeDir()
	folder := f.workspace
	if folder == "" {
		folder = os.Getenv("SIDECAR_WORKSPACE")
	}
	err = lsp.Serve(ctx, t.in, t.out, lsp.Options{Client: f.as("editor", t), Root: sidecar.Root, Open: sidecar.Open, Flag: folder, Dir: dir, Home: home, Outputs: outputs, Log: f.log(t)})
	if errors.Is(err, lsp.ErrExit) {
		return exitStatus(1)
	}
	return served(ctx, err)
}

// outputs is the folder for output that editors show as documents.
func outputs() (string, error) {
	state, err := config.StateDir()
	return filepath.Join(state, "output"), err
}
