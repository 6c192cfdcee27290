package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/doctor"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/protocol"
)

// root is the project's root around dir; the working folder of the request becomes where the person is, if
// they said nothing else.
func (r *runFlags) root(dir string, p *protocol.RunParams) (string, error) {
	root, err := sidecar.Root(dir)
	if err != nil {
		return "", err
	}
	if p.Cwd == "" {
		p.Cwd = sidecar.CwdIn(root)
	}
	return root, nil
}

// show prints what a run would be, and runs nothing.
func (r *runFlags) show(ctx context.Context, e *sidecar.Engine, dir string, p protocol.RunParams, t terminal) error {
	plan, policy, err := e.Plan(ctx, dir, p)
	if err != nil {
		return err
	}
	if !r.json {
		_, _ = fmt.Fprint(t.out, policy)
		return nil
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
	dir, _, err := f.folder()
	if err != nil {
		return nil, "", err
	}
	if root, err = sidecar.Root(dir); err != nil {
		return nil, "", err
	}
	e, err = f.engine(root, t)
	return e, root, err
}

func envsCommand(f *flags, t terminal) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "envs",
		Short: "List what code can run with here, and how to get what is missing",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e, root, err := f.open(t)
			if err != nil {
				return err
			}
			defer e.Close()
			environment, err := e.Environment(root)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t, environment)
			}
			_, err = fmt.Fprint(t.out, env.Text(environment))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func doctorCommand(f *flags, t terminal) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine this machine: what is wrong, and the command that mends it",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			report := doctor.Examine(doctor.Gather(c.Context(), f.doctorOptions()))
			if asJSON {
				if err := printJSON(t, report); err != nil {
					return err
				}
			} else if _, err := fmt.Fprint(t.out, report.Text()); err != nil {
				return err
			}
			if report.ExitStatus() != 0 {
				return exitStatus(report.ExitStatus())
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// doctorOptions are the project and the settings as far as they can be had: the doctor must also work where
// they cannot.
func (f *flags) doctorOptions() doctor.Options {
	var o doctor.Options
	dir, _, err := f.folder()
	if err != nil {
		return o
	}
	if root, err := sidecar.Root(dir); err == nil {
		o.Workspace = root
	}
	if settings, _, err := config.Load(config.Sources{Explicit: f.config, Env: os.Getenv}); err == nil {
		o.Bubblewrap = settings.Sandbox.Bubblewrap
	}
	return o
}

func workspaceCommand(f *flags, t terminal) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "workspace",
		Short: "Show the project around here, and what a run may not change in it, with reasons",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			e, root, err := f.open(t)
			if err != nil {
				return err
			}
			defer e.Close()
			view, err := e.View(c.Context(), root)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t, view)
			}
			_, err = fmt.Fprint(t.out, view.Text())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
