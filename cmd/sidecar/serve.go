package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/logs"
	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/server"
)

type serveFlags struct {
	*flags
	idle  time.Duration
	ready int
}

func serveCommand(f *flags, t terminal) *cobra.Command {
	s := &serveFlags{flags: f}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the project around here until nobody needs it; clients start this by themselves",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return s.serve(c.Context(), t) },
	}
	stretchVar(c.Flags(), &s.idle, "idle", server.DefaultIdle, "end after this `time` with no client and no run")
	c.Flags().IntVar(&s.ready, "ready-fd", 0, "say on this `descriptor` that it serves, as JSON")
	_ = c.Flags().MarkHidden("ready-fd")
	return c
}

func (s *serveFlags) serve(ctx context.Context, t terminal) error {
	dumps()
	if s.idle <= 0 {
		return s.say(usage("leave it out for "+server.DefaultIdle.String(), fmt.Sprintf("--idle %s is no time to wait", s.idle)))
	}
	dir, _, err := s.folder()
	if err != nil {
		return s.say(err)
	}
	root, err := sidecar.Root(dir)
	if err != nil {
		return s.say(err)
	}
	log, level := s.logs(root, t)
	defer func() { _ = log.Close() }()
	groups := ""
	if tree, err := cgroup.Open(); err == nil {
		defer tree.Close()
		groups = tree.Dir
	} else {
		log.Logger(level).Debug("runs have no control groups", "why", err)
	}
	err = server.Serve(ctx, server.Options{Root: root, Build: build(), Idle: s.idle, Groups: groups, Logs: log, Level: level}, func(err error) { _ = s.say(err) })
	if errors.Is(err, place.ErrHeld) {
		return &protocol.Error{Kind: protocol.BadRequest, Message: "another sidecar serves " + root, Hint: "`sidecar status` shows it, `sidecar stop` ends it"}
	}
	return err
}

// logsKept is how long the log of a project is kept in which no sidecar has written anything.
const logsKept = 90 * day

// logs is the log of the project's sidecar, and the level of what is of no single client. A terminal shows what its --verbose
// says; who started us in the background gave us the log's file as standard error.
func (s *serveFlags) logs(root string, t terminal) (*logs.Log, slog.Level) {
	settings, _, unread := config.Load(config.Sources{Explicit: s.config, Project: root})
	if unread != nil {
		settings = config.Defaults()
	}
	o := logs.Options{JSON: settings.Log.Format == "json", Size: int64(settings.Log.Size), Files: settings.Log.Files,
		About: []any{"workspace", root, "version", version, "process", os.Getpid()}}
	state, err := config.StateDir()
	if err == nil {
		o.Path, err = client.LogPath(state, root)
		go logs.Tidy(state, time.Now().Add(-logsKept))
	}
	if !logs.IsStderr(o.Path) {
		o.Also = s.log(t).Handler()
	}
	log := logs.Discard(o.Also)
	if err == nil {
		log, err = logs.Open(o)
	}
	level, _ := logs.Level(settings.Log.Level)
	if err := cmp.Or(err, unread); err != nil {
		log.Logger(level).Warn("the log is not as it was to be", "err", err)
	}
	return log, level
}

// say tells who started us how it went, and gives the error back.
func (s *serveFlags) say(err error) error {
	if s.ready == 0 {
		return err
	}
	syscall.CloseOnExec(s.ready) // runs must not have it
	f := os.NewFile(uintptr(s.ready), "ready")
	if f == nil {
		return err
	}
	defer f.Close()
	r := client.Ready{Held: errors.Is(err, place.ErrHeld)}
	if err != nil && !r.Held && !errors.As(err, &r.Error) {
		r.Error = &protocol.Error{Kind: protocol.Internal, Message: err.Error()}
	}
	return errors.Join(err, json.NewEncoder(f).Encode(r))
}
