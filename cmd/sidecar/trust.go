package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func trustCommand(f *flags, t terminal) *cobra.Command {
	revoke := false
	c := showCommand("trust", "Trust the project's Nix code as it is now, so that its dev shell can be the environment of runs", t, func(context.Context) (any, string, error) {
		e, root, err := f.open(t)
		if err != nil {
			return nil, "", err
		}
		defer e.Close()
		if revoke {
			return map[string]string{"revoked": root}, "no longer trusted: " + root + "\n", e.Distrust(root)
		}
		trust, err := e.Trust(root)
		var b strings.Builder
		for _, rel := range slices.Sorted(maps.Keys(trust.Files)) {
			_, _ = fmt.Fprintf(&b, "%s  %s\n", trust.Files[rel][:12], clean(rel))
		}
		return trust, b.String() + "trusted as it is now; a change has to be trusted anew. `sidecar run --environment project` uses it\n", err
	})
	c.Flags().BoolVar(&revoke, "revoke", false, "take it back")
	return c
}
