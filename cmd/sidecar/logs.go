package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/logs"
)

// logsFlags say what of which logs is wanted.
type logsFlags struct {
	*flags
	level, since string
	follow       bool
	json, all    bool
}

func logsCommand(f *flags, t terminal) *cobra.Command {
	l := &logsFlags{flags: f}
	c := &cobra.Command{
		Use:   "logs",
		Short: "Print the log of the project's sidecar, whether it lives or not",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return l.print(c.Context(), t) },
	}
	fs := c.Flags()
	fs.BoolVarP(&l.follow, "follow", "f", false, "go on with what is written from now on, until Ctrl-C")
	fs.StringVar(&l.level, "level", "", "only what is at least of this `level`: debug, info, warn or error")
	fs.StringVar(&l.since, "since", "", "only what was written since this `time`: 90m, 12h or 7d ago, 2026-11-30, 2026-11-30T08:00:00Z")
	fs.BoolVarP(&l.all, "all", "a", false, "the logs of all projects, in the order of time")
	fs.BoolVar(&l.json, "json", false, "print each line as JSON")
	completeFlag(c, "level", func(context.Context) []string { return []string{"debug", "info", "warn", "error"} })
	return c
}

func (l *logsFlags) print(ctx context.Context, t terminal) error {
	q, err := l.query(time.Now())
	if err != nil {
		return err
	}
	paths, where, err := l.paths()
	if err != nil {
		return err
	}
	if len(paths()) == 0 && !l.follow {
		say(t, "no log of "+where+" is kept; `sidecar run`, an agent or an editor starts its sidecar")
		return nil
	}
	return logs.Print(ctx, paths, q, func(e logs.Entry) error { return l.show(e, t) })
}

func (l *logsFlags) show(e logs.Entry, t terminal) error {
	if !l.json {
		_, err := fmt.Fprintln(t.out, e.Text(l.all, time.Now()))
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.out, string(b))
	return err
}

func (l *logsFlags) query(now time.Time) (logs.Query, error) {
	q := logs.Query{Follow: l.follow}
	var ok bool
	if q.Level, ok = logs.Level(cmp.Or(l.level, slog.LevelDebug.String())); !ok || q.Level == logs.Off {
		return q, usage("it is one of debug, info, warn and error", fmt.Sprintf("--level %.40q is no level", l.level))
	}
	if l.since == "" {
		return q, nil
	}
	var err error
	q.Since, err = since(l.since, now)
	return q, err
}

// paths are the logs that are meant, and in words.
func (l *logsFlags) paths() (find func() []string, where string, err error) {
	state, err := config.StateDir()
	if err != nil {
		return nil, "", config.NoState(err)
	}
	if l.all {
		return func() []string { return logs.All(state) }, "any project", nil
	}
	root, err := l.here()
	if err != nil {
		return nil, "", err
	}
	path, err := client.LogPath(state, root)
	if err != nil {
		return nil, "", err
	}
	return func() []string { return logs.There(path) }, root, nil
}
