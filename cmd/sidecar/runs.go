package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

func runsCommand(f *flags, t terminal) *cobra.Command {
	r := &runsFlags{flags: f}
	c := showCommand("runs", "List what ran in the project, whoever asked for it, the newest first", t, func(ctx context.Context) (any, string, error) {
		runs, err := r.listed(ctx, t)
		return runs, runsText(runs, r.all, time.Now()), err
	})
	show := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := r.given(time.Now()); err != nil {
			return err
		}
		if r.p.Limit < 0 {
			return usage("give how many; 0 is all that there are", fmt.Sprintf("--limit %d is no number of runs", r.p.Limit))
		}
		if !r.export {
			return show(c, args)
		}
		if !c.Flags().Changed("limit") {
			r.p.Limit = 0
		}
		return r.exportRuns(c.Context(), t)
	}
	fs := c.Flags()
	fs.IntVarP(&r.p.Limit, "limit", "n", 20, "list at most this `number`; 0 is all that there are")
	fs.BoolVar(&r.p.Live, "live", false, "only those that go on")
	fs.BoolVar(&r.p.Failed, "failed", false, "only those that did not end well")
	fs.BoolVar(&r.p.Findings, "findings", false, "only those that made what the host would obey")
	fs.StringVar(&r.p.Client, "client", "", "only those that a client of this `name` asked for (its beginning is enough)")
	fs.StringVar(&r.p.Language, "language", "", "only those in this `language`")
	fs.StringVar(&r.since, "since", "", "only those since this `time`: 90m, 12h or 7d ago, 2026-11-30, 2026-11-30T08:00:00Z")
	fs.BoolVarP(&r.all, "all", "a", false, "those of all projects")
	fs.BoolVar(&r.export, "export", false, "print all that is kept of them, code and output too, as a line of JSON each, the oldest first")
	return c
}

// runsText lists runs for people, with their projects if they are of several.
func runsText(runs []protocol.Run, projects bool, now time.Time) string {
	if len(runs) == 0 {
		return "no runs\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range runs {
		text := runText(r, now)
		if projects {
			text = r.Workspace + "  " + text
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, clock(r.Started.Local(), now), protocol.OneLine(text))
	}
	_ = w.Flush()
	return b.String()
}

// clock is a time, with its date unless that is today.
func clock(at, now time.Time) string {
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

func outputCommand(f *flags, t terminal) *cobra.Command {
	stderr, follow := false, false
	c := &cobra.Command{
		Use:   "output ID",
		Short: "Print what a run printed, all of it, also while it goes on",
		Args:  aRun,
		RunE: f.aboutRun(t, func(c *cobra.Command, id string) error {
			of, err := f.sidecarOf(c.Context(), id, t)
			if err != nil {
				return f.printPast(c.Context(), id, c.Flags().Changed("stderr"), err, t)
			}
			defer of.Close()
			if c.Flags().Changed("stderr") {
				return printed(c.Context(), of, protocol.RunOutputParams{ID: id, Stream: protocol.Stderr, AsBytes: true}, follow, t.out)
			}
			if err := printed(c.Context(), of, protocol.RunOutputParams{ID: id, Stream: protocol.Stdout, AsBytes: true}, follow, t.out); err != nil {
				return err
			}
			return printed(c.Context(), of, protocol.RunOutputParams{ID: id, Stream: protocol.Stderr, AsBytes: true}, follow, t.err)
		}),
		ValidArgsFunction: f.completeRuns(false),
	}
	c.Flags().BoolVar(&stderr, "stderr", false, "only its standard error, to standard output")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run ends")
	return c
}

// printed copies one stream of a run.
func printed(ctx context.Context, c *client.Client, p protocol.RunOutputParams, follow bool, to io.Writer) error {
	for {
		var r protocol.RunOutputResult
		if err := c.Call(ctx, protocol.MethodRunOutput, p, &r); err != nil {
			return err
		}
		if _, err := to.Write(r.Bytes); err != nil {
			return err
		}
		if r.Missing > 0 && !r.Live {
			return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("%d more bytes could not be kept", r.Missing), Hint: "the disk may have been full while it ran"}
		}
		if r.Next >= r.Total && (!r.Live || !follow) {
			return nil
		}
		if p.Offset = r.Next; len(r.Bytes) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// sidecarOf is the sidecar that knows a run: that of the project here, or another one.
func (f *flags) sidecarOf(ctx context.Context, id string, t terminal) (*client.Client, error) {
	all, _, err := f.live(ctx, t)
	if err != nil {
		return nil, err
	}
	var found *client.Client
	for _, c := range all {
		var r protocol.RunOutputResult
		if found == nil && c.Call(ctx, protocol.MethodRunOutput, protocol.RunOutputParams{ID: id, Stream: protocol.Stdout, Limit: 1}, &r) == nil {
			found = c
			continue
		}
		c.Close()
	}
	if found == nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("no sidecar that lives knows the run %.80q", id), Hint: "`sidecar runs` lists those of the project around here"}
	}
	return found, nil
}

// completed is how many runs a shell is offered.
const completed = 50

// completeRuns offers the ids of the project's runs to a shell, or only of those that go on.
func (f *flags) completeRuns(live bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r := &runsFlags{flags: f, p: protocol.RunsParams{Limit: completed, Live: live}}
		runs, _ := r.listed(c.Context(), nowhere)
		var out []string
		for _, run := range runs {
			out = append(out, run.ID+"\t"+protocol.OneLine(title(run)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func cancelCommand(f *flags, t terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "cancel ID",
		Short:             "End a run, whoever asked for it",
		Args:              aRun,
		ValidArgsFunction: f.completeRuns(true),
		RunE: f.aboutRun(t, func(c *cobra.Command, id string) error {
			of, err := f.sidecarOf(c.Context(), id, t)
			if err != nil {
				return f.endedBefore(c.Context(), id, err, t)
			}
			defer of.Close()
			var r protocol.CancelResult
			if err := of.Call(c.Context(), protocol.MethodCancel, protocol.CancelParams{ID: id}, &r); err != nil {
				return err
			}
			if !r.Cancelled {
				say(t, hadEnded)
			}
			return nil
		}),
	}
}

// hadEnded is what is said where nothing is left to be cancelled.
const hadEnded = "it had ended before"

// endedBefore is for a run that no living sidecar knows; unknown is the error if the history does not, either.
func (f *flags) endedBefore(ctx context.Context, id string, unknown error, t terminal) error {
	h, err := f.history(t)
	if err != nil {
		return err
	}
	defer h.Close()
	if rec, ok, err := h.Get(ctx, id); err != nil || !ok || rec.Run.End == nil {
		return unknown
	}
	say(t, hadEnded)
	return nil
}
