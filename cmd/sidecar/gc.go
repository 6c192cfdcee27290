package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// keepUnused is how long an environment that nobody uses is kept.
const keepUnused = 30 * day

func gcCommand(f *flags, t terminal) *cobra.Command {
	unused := keepUnused
	c := showCommand("gc", "Let go of Nix environments that have not been used for long; Nix's own collector then frees the space", t, func(context.Context) (any, string, error) {
		e, root, err := f.open(t)
		if err != nil {
			return nil, "", err
		}
		defer e.Close()
		done, err := e.Collect(root, unused)
		if err != nil {
			return nil, "", err
		}
		text := fmt.Sprintf("%s let go, %d kept\n", counted(done.Dropped, "environment"), done.Kept)
		if done.Dropped > 0 {
			text += "`nix store gc` frees what nothing else needs\n"
		}
		return done, text, nil
	})
	stretchVar(c.Flags(), &unused, "unused-for", keepUnused, "let go of what has not been used for this `time`")
	return c
}
