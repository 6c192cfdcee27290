package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mayBeEmpty are the flags of which nothing is a value: empty code does nothing.
var mayBeEmpty = []string{"eval"}

// noneEmpty refuses a flag that was given without a value, as by a variable that is not set: it would not be the same as
// leaving it out, but a run in another folder, or under another policy, than was meant.
func noneEmpty(c *cobra.Command) error {
	var empty *pflag.Flag
	c.Flags().Visit(func(fl *pflag.Flag) {
		if empty == nil && isEmpty(fl) && !slices.Contains(mayBeEmpty, fl.Name) {
			empty = fl
		}
	})
	if empty == nil {
		return nil
	}
	what, _ := pflag.UnquoteUsage(empty)
	return usage("give its "+what+", or leave it out; a variable that stands for it may not be set", "--"+empty.Name+" is empty")
}

func isEmpty(fl *pflag.Flag) bool {
	if list, ok := fl.Value.(pflag.SliceValue); ok {
		return slices.Contains(list.GetSlice(), "")
	}
	return fl.Value.String() == ""
}
