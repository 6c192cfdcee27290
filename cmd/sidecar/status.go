package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

func statusCommand(f *flags, t terminal) *cobra.Command {
	watch, here := false, false
	var missing error
	c := showCommand("status", "Show every sidecar that lives, or with --workspace that one: its project, clients and runs", t, func(ctx context.Context) (any, string, error) {
		all, err := f.everywhere(ctx, here, t)
		missing = f.missing(all)
		if len(all) == 0 && f.workspace != "" {
			return all, "no sidecar serves " + f.workspace + "\n", err
		}
		return all, statusText(all, time.Now()), err
	})
	c.Flags().BoolVar(&watch, "watch", false, "go on, and print it anew whenever something changes; of one machine")
	c.Flags().BoolVar(&here, "here", false, "only this machine's, whatever hosts.status names")
	once := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(f.hosts) > 1 && f.workspace != "":
			return usage("name one host, or leave --workspace out", "--workspace is a folder of one machine")
		case !watch:
			return errors.Join(once(c, args), missing)
		case len(f.hosts) > 1:
			return usage("watch one, or leave --watch out", "--watch is for one machine")
		}
		return f.watch(c.Context(), t, c.Flags().Changed("json"))
	}
	return c
}

// seen is a sidecar, and the host that it is on, if that is another machine; or a host that was not reached, and why.
type seen struct {
	Host        string `json:"host,omitempty"`
	Unreachable string `json:"unreachable,omitempty"`
	*protocol.StatusResult
}

// statuses are those of every sidecar that lives, by workspace.
func (f *flags) statuses(ctx context.Context, t terminal) ([]seen, error) {
	clients, list, err := f.live(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, c := range clients {
		if s, err := statusOf(ctx, c); err == nil {
			list = append(list, s)
		}
		c.Close()
	}
	slices.SortFunc(list, func(a, b protocol.StatusResult) int {
		return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.PID, b.PID))
	})
	if f.workspace != "" {
		if list, err = f.ofWorkspace(list); err != nil {
			return nil, err
		}
	}
	all := []seen{} // in JSON an empty list
	for i := range list {
		all = append(all, seen{StatusResult: &list[i]})
	}
	return all, nil
}

// ofWorkspace are those of the project that --workspace names. One that does not answer says of none which it serves.
func (f *flags) ofWorkspace(list []protocol.StatusResult) ([]protocol.StatusResult, error) {
	root, err := f.here()
	if err != nil {
		return nil, err
	}
	p, err := place.Of(root)
	return slices.DeleteFunc(list, func(s protocol.StatusResult) bool {
		return s.Workspace != root && (!s.Silent || s.Socket != p.Socket)
	}), err
}

// answerWithin is how long a sidecar may take to say how it is; one that hangs is left out.
const answerWithin = 3 * time.Second

func statusOf(ctx context.Context, c *client.Client) (protocol.StatusResult, error) {
	ctx, stop := context.WithTimeout(ctx, answerWithin)
	defer stop()
	var s protocol.StatusResult
	err := c.Call(ctx, protocol.MethodStatus, nil, &s)
	return s, err
}

// watchEvery is how often --watch looks.
const watchEvery = 200 * time.Millisecond

// watch prints the status whenever it is another one than before.
func (f *flags) watch(ctx context.Context, t terminal, asJSON bool) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last := ""; ; {
		all, err := f.statuses(ctx, t)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if now := essence(all); now != last {
			last = now
			if err := printStatus(t, all, asJSON); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func printStatus(t terminal, all []seen, asJSON bool) error {
	if asJSON {
		return printJSON(t, all)
	}
	_, err := fmt.Fprintf(t.out, "—— %s\n%s", time.Now().Format(time.TimeOnly), statusText(all, time.Now()))
	return err
}

// essence is a status without what changes all the time.
func essence(all []seen) string {
	var still []seen
	for _, s := range all {
		one := *s.StatusResult
		one.Memory = 0
		still = append(still, seen{StatusResult: &one})
	}
	return statusText(still, time.Time{})
}

// statusText shows sidecars to people; ages are left out at the zero time.
func statusText(all []seen, now time.Time) string {
	if len(all) == 0 {
		return "no sidecar lives; the next `sidecar run`, agent or editor starts one\n"
	}
	var b strings.Builder
	for _, s := range all {
		if s.Host != "" {
			b.WriteString(protocol.OneLine(s.Host) + ": ")
		}
		if s.StatusResult == nil {
			b.WriteString("not reached: " + protocol.OneLine(s.Unreachable) + "\n")
			continue
		}
		b.WriteString(protocol.OneLine(headline(*s.StatusResult)) + "\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, c := range s.Clients {
			_, _ = fmt.Fprintf(w, "  client\t%s\n", protocol.OneLine(clientText(c)))
		}
		for _, r := range s.Runs {
			_, _ = fmt.Fprintf(w, "  %s\t%s\n", kind(r), protocol.OneLine(r.ID+"  "+runText(r, now)))
		}
		for _, k := range s.Sessions {
			_, _ = fmt.Fprintf(w, "  kept\t%s\n", protocol.OneLine(k.Name+"  "+sessionText(k, now)))
		}
		_ = w.Flush()
	}
	return b.String()
}

func headline(s protocol.StatusResult) string {
	if s.Silent {
		return fmt.Sprintf("process %d does not answer; it holds %s. Stopped: kill -CONT %d, else: kill -9 %d", s.PID, s.Socket, s.PID, s.PID)
	}
	text := s.Workspace
	if s.Branch != "" {
		text += "  on " + s.Branch
	}
	if s.Worktree {
		text += "  (a worktree of " + s.CommonDir + ")"
	}
	text += fmt.Sprintf("  process %d", s.PID)
	if s.Memory > 0 {
		text += fmt.Sprintf(", %d MiB", s.Memory>>20)
	}
	text += ", " + counted(s.RunsBefore, "run") + " before"
	if s.Ending {
		text += ", ending"
	}
	return text
}

func clientText(c protocol.Client) string {
	text := c.Name
	if c.Version != "" {
		text += " " + c.Version
	}
	if c.PID != 0 {
		text += fmt.Sprintf("  process %d", c.PID)
	}
	return text
}

// kind is what a run is called.
func kind(r protocol.Run) string {
	if r.Session {
		return "session"
	}
	return "run"
}

// runText is one line about a run.
func runText(r protocol.Run, now time.Time) string {
	text := r.Client + "  " + title(r)
	if r.SessionName != "" {
		text += "  (session " + r.SessionName + ")"
	}
	if r.Profile != "" {
		text += "  (profile " + r.Profile + ")"
	}
	switch {
	case r.End == nil && !now.IsZero():
		text += fmt.Sprintf("  for %s", now.Sub(r.Started).Round(100*time.Millisecond))
	case r.End != nil:
		text += "  " + ending(*r.End)
	}
	return text
}

func ending(e protocol.RunEnd) string {
	took := fmt.Sprintf(" after %s", time.Duration(e.Duration).Round(time.Millisecond))
	switch {
	case e.Lost:
		return "lost: its sidecar died"
	case e.Error != nil:
		return "not run: " + firstLine(e.Error.Message)
	case e.Limit != "":
		return "stopped at the limit of " + e.Limit + took
	case e.Cancelled:
		return "cancelled" + took
	}
	text := fmt.Sprintf("exit %d", e.ExitCode) + took
	if n := len(e.Findings); n > 0 {
		text += ", " + counted(n, "finding")
	}
	if n := len(e.Denied); n > 0 {
		text += fmt.Sprintf(", %d denied", n)
	}
	return text
}

// title is what a run is, in a few words.
func title(r protocol.Run) string {
	if len(r.Command) > 0 {
		return shorten(strings.Join(r.Command, " "))
	}
	return r.Language + ": " + shorten(firstLine(r.Code))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func shorten(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
