package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

func stopCommand(f *flags, t terminal) *cobra.Command {
	all, finish := false, false
	c := &cobra.Command{
		Use:   "stop",
		Short: "End the project's sidecar and its runs; the next one to need it starts another",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			clients, err := f.meant(c.Context(), all, t)
			if err != nil {
				return err
			}
			for _, s := range clients {
				if err := stop(c.Context(), s, finish, t); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "end every sidecar that lives")
	c.Flags().BoolVar(&finish, "finish", false, "let the runs that go on come to their end first")
	return c
}

// meant are the sidecar here, or all of them.
func (f *flags) meant(ctx context.Context, all bool, t terminal) ([]*client.Client, error) {
	if all {
		clients, silent, err := f.live(ctx, t)
		for _, s := range silent {
			say(t, headline(s))
		}
		return clients, err
	}
	c, err := f.attach(ctx, t)
	return []*client.Client{c}, err
}

// stopWithin is how long a sidecar may take to end its runs.
const stopWithin = 15 * time.Second

// stop ends one sidecar and waits until it has ended.
func stop(ctx context.Context, c *client.Client, finish bool, t terminal) error {
	defer c.Close()
	if err := c.Call(ctx, protocol.MethodStop, protocol.StopParams{Finish: finish}, nil); err != nil {
		return err
	}
	late := time.After(stopWithin)
	if finish {
		late = nil
	}
	select {
	case <-c.Done():
		say(t, "ended: "+c.About().Workspace)
		return nil
	case <-ctx.Done():
		return &protocol.Error{Kind: protocol.Cancelled, Message: "not waited for: the sidecar of " + c.About().Workspace + " ends when it is done", Err: ctx.Err()}
	case <-late:
	}
	return &protocol.Error{Kind: protocol.Internal, Message: fmt.Sprintf("the sidecar of %s has not ended after %s", c.About().Workspace, stopWithin), Hint: fmt.Sprintf("end it with: kill %d", c.About().PID)}
}
