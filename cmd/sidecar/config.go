package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
)

func configCommand(f *flags, t terminal) *cobra.Command {
	var keys []string
	c := showCommand("config [KEY]...", "Show the settings that hold here, and where each comes from; of all, or of those keys and sections", t, func(context.Context) (any, string, error) {
		root, err := f.here()
		if err != nil {
			return nil, "", err
		}
		settings, err := f.settings(root, t)
		if err != nil {
			return nil, "", err
		}
		list, err := chosen(settings.Explain(), keys)
		return list, settingsText(list), err
	})
	c.Args = cobra.ArbitraryArgs
	show := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		keys = args
		return show(c, args)
	}
	c.ValidArgsFunction = func(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
		for _, k := range config.Keys() {
			if section, _, _ := strings.Cut(k.Name, "."); !slices.Contains(all, section) {
				all = append(all, section)
			}
			all = append(all, k.Name)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// chosen are the settings of some keys and sections; no keys are all. A key that there is not is an error.
func chosen(all []config.Explained, keys []string) (list []config.Explained, err error) {
	if len(keys) == 0 {
		return all, nil
	}
	for _, key := range keys {
		found := slices.DeleteFunc(slices.Clone(all), func(e config.Explained) bool { return e.Key != key && !strings.HasPrefix(e.Key, key+".") })
		if len(found) == 0 {
			return nil, usage("`sidecar config` lists all", fmt.Sprintf("no such setting: %.80q", key))
		}
		list = append(list, found...)
	}
	return list, nil
}

func settingsText(list []config.Explained) string {
	var b strings.Builder
	for _, e := range list {
		b.WriteString(protocol.OneLine(e.String()) + "\n")
	}
	return b.String()
}
