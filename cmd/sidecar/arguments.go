package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// noArgs is for commands without arguments.
func noArgs(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasSubCommands():
		return fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())
	case c.Name() == "runs":
		return fmt.Errorf("%s takes no arguments; %q was given\n`sidecar show ID` is about one run", c.CommandPath(), args[0])
	}
	return fmt.Errorf("%s takes no arguments; %q was given", c.CommandPath(), args[0])
}

// one is for commands about one thing, of those that a command lists.
func one(what, listed string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s: which %s?\n%s", c.CommandPath(), what, listed)
		case 1:
			return nil
		}
		return fmt.Errorf("%s is about one %s, and was given %d", c.CommandPath(), what, len(args))
	}
}

// aRun is for commands about a run.
var aRun = one("run", "`sidecar runs` lists them; the beginning or the end of an id is enough, and last is the last one here")

// strict has cobra refuse what it answers with its help, as if that had been asked for.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch {
		case c.Name() == "help":
			c.Args = known(root)
		case c.HasSubCommands() && !c.Runnable():
			c.Args, c.RunE = oneOf, func(*cobra.Command, []string) error { return nil }
		}
	}
}

// known refuses words that are no command of root's.
func known(root *cobra.Command) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("unknown command %q for %q", rest[0], c.CommandPath())
		}
		return err
	}
}

// oneOf is for commands that do nothing by themselves: whoever comes here has named none of theirs.
func oneOf(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return fmt.Errorf("%s does nothing by itself\ngive one of its commands: %s", c.CommandPath(), strings.Join(names, ", "))
}

// plainly is an error of cobra's as ours are.
func plainly(err error) error {
	message, near, ok := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !ok {
		return err
	}
	return errors.New(message + "\ndid you mean " + strings.Join(strings.Fields(near), " or ") + "?")
}
