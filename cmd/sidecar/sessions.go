package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/protocol"
)

func sessionsCommand(f *flags, t terminal) *cobra.Command {
	c := showCommand("sessions", "List the interpreters that runs with --session have kept", t, func(ctx context.Context) (any, string, error) {
		all, err := f.kept(ctx, t)
		return all, sessionsText(all, time.Now()), err
	})
	c.AddCommand(closeSessionCommand(f, t))
	return c
}

// kept are the sessions of the project around here: none where no sidecar lives.
func (f *flags) kept(ctx context.Context, t terminal) ([]protocol.NamedSession, error) {
	r := protocol.ListSessionsResult{Sessions: []protocol.NamedSession{}}
	c, err := f.attach(ctx, t)
	if err != nil {
		if errors.Is(err, errNobody) {
			err = nil
		}
		return r.Sessions, err
	}
	defer c.Close()
	err = c.Call(ctx, protocol.MethodListSessions, nil, &r)
	return r.Sessions, err
}

func closeSessionCommand(f *flags, t terminal) *cobra.Command {
	var p protocol.CloseSessionParams
	c := &cobra.Command{
		Use:               "close NAME",
		Short:             "End a session: its interpreter, its state, and what it left running",
		Args:              one("session", "`sidecar sessions` lists them"),
		ValidArgsFunction: completeFirst(f.sessionNames),
		RunE: func(c *cobra.Command, args []string) error {
			of, err := f.attach(c.Context(), t)
			if err != nil {
				return err
			}
			defer of.Close()
			p.Name = args[0]
			var r protocol.CloseSessionResult
			if err := of.Call(c.Context(), protocol.MethodCloseSession, p, &r); err != nil {
				return err
			}
			for _, s := range r.Closed {
				say(t, fmt.Sprintf("closed: %s (%s)", s.Name, s.Language))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&p.Language, "language", "l", "", "only the session of this `language`")
	return c
}

func sessionsText(all []protocol.NamedSession, now time.Time) string {
	if len(all) == 0 {
		return "no sessions; `sidecar run --session NAME` starts one\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range all {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", protocol.OneLine(s.Name), protocol.OneLine(sessionText(s, now)))
	}
	_ = w.Flush()
	return b.String()
}

// sessionText is a session without its name; ages are left out at the zero time.
func sessionText(s protocol.NamedSession, now time.Time) string {
	text := s.Language + "  " + counted(s.Calls, "call")
	switch {
	case s.Run != "":
		text += "  run " + s.Run + " goes on"
	case !now.IsZero():
		text += fmt.Sprintf("  unused for %s", now.Sub(s.Used).Round(time.Second))
	}
	if s.Client != "" {
		text += "  by " + s.Client
	}
	return text
}

// inProcessSession refuses a session that would end with the command.
func inProcessSession(name string, inProcess bool) error {
	if name == "" || !inProcess {
		return nil
	}
	return usage("leave out one of them", "--session is kept by the project's sidecar, which --in-process does without")
}

func (s shared) sessions(ctx context.Context, root string) ([]protocol.NamedSession, error) {
	var r protocol.ListSessionsResult
	err := s.pool.Ask(ctx, root, protocol.MethodListSessions, nil, &r)
	return r.Sessions, err
}

func (s shared) closeSession(ctx context.Context, root string, p protocol.CloseSessionParams) ([]protocol.NamedSession, error) {
	var r protocol.CloseSessionResult
	err := s.pool.Ask(ctx, root, protocol.MethodCloseSession, p, &r)
	return r.Closed, err
}

func (e *engines) sessions(_ context.Context, root string) ([]protocol.NamedSession, error) {
	made, err := e.of(root)
	if err != nil {
		return nil, err
	}
	return made.Sessions(), nil
}

func (e *engines) closeSession(_ context.Context, root string, p protocol.CloseSessionParams) ([]protocol.NamedSession, error) {
	made, err := e.of(root)
	if err != nil {
		return nil, err
	}
	return made.CloseSession(p.Name, p.Language)
}
