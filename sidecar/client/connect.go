package client

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"

	"code.sidecar.dev/sidecar/place"
	"code.sidecar.dev/sidecar/protocol"
)

// patience is how long the whole of Connect may take: to find the sidecar, to start it, to have an older one make way.
const patience = 20 * time.Second

// Connect speaks with the sidecar of the workspace at root, and starts it if there is none. root is absolute, its
// links resolved.
func Connect(outer context.Context, root string, o Options) (*Client, error) {
	p, err := place.Of(root)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(outer, patience)
	defer stop()
	var a attempt
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		c, again, err := a.try(ctx, p, root, o)
		if !again {
			return c, err
		}
		select {
		case <-outer.Done():
			return nil, cancelled(outer)
		case <-ctx.Done():
			return nil, &protocol.Error{Kind: protocol.Gone, Message: "no sidecar could be reached for " + root, Hint: "its log is in the state folder (sidecar/log); `sidecar status` shows those that live", Err: errors.Join(err, ctx.Err())}
		case <-time.After(pause):
		}
	}
}

// attempt is what Connect has come to: started says that a sidecar of ours was started, died that one ended at once.
type attempt struct{ started, died bool }

// try connects, or does the next thing that leads there; again says that it is to be tried once more. The sidecar that
// we started ourselves is taken as it is: where ours was replaced on disk by an older program, there is no newer one.
func (a *attempt) try(ctx context.Context, p place.Place, root string, o Options) (c *Client, again bool, err error) {
	c, err = attach(ctx, p, o)
	switch {
	case err == nil && (a.started || !newer(o.Build, c.about.Build)):
		return c, false, nil
	case err == nil || c != nil: // it is older: it finishes its runs, and leaves the place to ours
		makeWay(ctx, c)
		return nil, true, err
	case isSilent(err) || kindOf(err) == protocol.Cancelled:
		return nil, false, err
	case place.Nobody(err):
		err := start(ctx, root, o)
		a.started = a.started || err == nil
		again := err == nil || errors.Is(err, place.ErrHeld) || gone(err) && !a.died // killed as it started: once more
		a.died = a.died || gone(err)
		return nil, again && ctx.Err() == nil, err
	case gone(err) || errors.Is(err, syscall.EAGAIN): // it ended while we came
		return nil, ctx.Err() == nil, err
	}
	return nil, false, explained(err)
}

func explained(err error) error {
	var known *protocol.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled", Err: err}
	}
	return &protocol.Error{Kind: protocol.Gone, Message: "connecting to the sidecar: " + err.Error(), Err: err}
}

func makeWay(ctx context.Context, c *Client) {
	defer c.Close()
	c.o.Log.Info("a sidecar of an older program makes way", "its", c.about.Build.Version, "ours", c.o.Build.Version)
	_ = c.Call(ctx, protocol.MethodStop, protocol.StopParams{Finish: true}, nil)
}

func kindOf(err error) protocol.ErrorKind {
	var known *protocol.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	return ""
}

func isSilent(err error) bool {
	var s *SilentError
	return errors.As(err, &s)
}

func gone(err error) bool     { return kindOf(err) == protocol.Gone }
func outdated(err error) bool { return kindOf(err) == protocol.Outdated }

// newer says whether a is a later program than b: a developer's build before any release, a later release before an
// earlier one, and else a file that was written later. It is an order, so that programs never take turns in replacing
// each other.
func newer(a, b protocol.Build) bool {
	x, y := release(a.Version), release(b.Version)
	switch {
	case semver.IsValid(x) != semver.IsValid(y):
		return !semver.IsValid(x)
	case semver.IsValid(x) && semver.Compare(x, y) != 0:
		return semver.Compare(x, y) > 0
	}
	return a.Time.After(b.Time)
}

// release is a version as package semver wants it: Nix and distributions leave the v out.
func release(version string) string {
	if !strings.HasPrefix(version, "v") {
		return "v" + version
	}
	return version
}
