package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/doctor"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
)

// show prints what a run would be, and runs nothing.
func (r *runFlags) show(ctx context.Context, e *sidecar.Engine, dir string, p protocol.RunParams, t terminal) error {
	return showPlan(ctx, e, sidecar.Request{Dir: dir, Params: p}, r.json, t)
}

func showPlan(ctx context.Context, e *sidecar.Engine, r sidecar.Request, asJSON bool, t terminal) error {
	plan, policy, err := e.Plan(ctx, r)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprint(t.out, clean(policy.String()))
		return err
	}
	return printJSON(t, map[string]any{"argv": plan.Argv, "args": plan.Args, "pins": policy.Pins, "program": policy.Argv, "dir": policy.Dir, "gaps": plan.Gaps})
}

func printJSON(t terminal, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.out, string(b))
	return err
}

// open makes the engine for the project around here.
func (f *flags) open(t terminal) (e *sidecar.Engine, root string, err error) {
	if root, err = f.here(); err != nil {
		return nil, "", err
	}
	e, err = f.engine(root, t)
	return e, root, err
}

// showCommand is a command that looks at something and prints it, for people or as JSON.
func showCommand(use, short string, t terminal, look func(context.Context) (value any, text string, err error)) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			value, text, err := look(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t, value)
			}
			_, err = fmt.Fprint(t.out, clean(text))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func envsCommand(f *flags, t terminal) *cobra.Command {
	return showCommand("envs", "List what code can run with here, and how to get what is missing", t, func(context.Context) (any, string, error) {
		e, root, err := f.open(t)
		if err != nil {
			return nil, "", err
		}
		defer e.Close()
		list, err := e.Environments(root)
		var texts []string
		for _, one := range list {
			texts = append(texts, env.Text(one))
		}
		return list, strings.Join(texts, ""), err
	})
}

func workspaceCommand(f *flags, t terminal) *cobra.Command {
	return showCommand("workspace", "Show the project around here, and what a run may not change in it, with reasons", t, func(ctx context.Context) (any, string, error) {
		e, root, err := f.open(t)
		if err != nil {
			return nil, "", err
		}
		defer e.Close()
		view, err := e.View(ctx, root)
		return view, view.Text(), err
	})
}

func doctorCommand(f *flags, t terminal) *cobra.Command {
	var report doctor.Report
	c := showCommand("doctor", "Examine this machine: what is wrong, and the command that mends it", t, func(ctx context.Context) (any, string, error) {
		report = doctor.Examine(doctor.Gather(ctx, f.doctorOptions()))
		return report, report.Text(), nil
	})
	show := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := show(c, args); err != nil || report.ExitStatus() == 0 {
			return err
		}
		return exitStatus(report.ExitStatus())
	}
	return c
}

// doctorOptions are the project and the settings as far as they can be had: the doctor must also work where
// they cannot.
func (f *flags) doctorOptions() doctor.Options {
	home, _ := os.UserHomeDir()
	o := doctor.Options{Path: host.Wider(runtime.GOOS, os.Getenv, home)("PATH")}
	dir, _, err := f.folder()
	if err != nil {
		return o
	}
	if root, err := sidecar.Root(dir); err == nil {
		o.Workspace = root
	}
	o.Machine = sidecar.Machine(o.Workspace)
	settings, _, err := config.Load(config.Sources{Explicit: f.config, Project: o.Workspace})
	if err != nil {
		o.Settings = err.Error()
		return o
	}
	o.Bubblewrap = settings.Sandbox.Bubblewrap
	return o
}
