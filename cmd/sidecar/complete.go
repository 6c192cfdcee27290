package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// nowhere is where completion says what a command would say.
var nowhere = terminal{out: io.Discard, err: io.Discard}

// completeFirst offers names for the first argument.
func completeFirst(names func(context.Context) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(c.Context()), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag offers names for the value of a flag.
func completeFlag(c *cobra.Command, flag string, names func(context.Context) []string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return names(c.Context()), cobra.ShellCompDirectiveNoFileComp
	})
}

// profileNames are the profiles that there are here.
func (f *flags) profileNames(context.Context) []string {
	e, _, err := f.open(nowhere)
	if err != nil {
		return nil
	}
	defer e.Close()
	return e.Settings().ProfileNames()
}

// worktreeNames are the project's worktrees of sessions.
func (f *flags) worktreeNames(context.Context) (names []string) {
	trees, done, err := f.worktrees(nowhere)
	if err != nil {
		return nil
	}
	defer done()
	for _, tree := range trees.List() {
		names = append(names, tree.Name)
	}
	return names
}

// sessionNames are the project's named sessions.
func (f *flags) sessionNames(ctx context.Context) (names []string) {
	all, _ := f.kept(ctx, nowhere)
	for _, s := range all {
		names = append(names, s.Name+"\t"+s.Language)
	}
	return names
}
