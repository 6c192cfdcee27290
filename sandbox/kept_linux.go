package sandbox

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// Keep starts a keeper; the plan is bubblewrap.Keeper's. It has a copy ready when it returns, and lasts until Close. When
// ctx ends it is not waited for any longer. The error is a *StartError, as Run's, where the pick cannot be made.
func Keep(ctx context.Context, plan Plan) (*Kept, error) {
	if !plan.Keeps {
		return nil, errors.New("keeping mounts: the plan is one of a run")
	}
	k := &Kept{control: new(Control), given: make(chan given, 1), gone: make(chan struct{})}
	var life context.Context
	life, k.stop = context.WithCancel(context.Background())
	go func() {
		defer close(k.gone)
		_, k.err = Run(life, plan, IO{Control: k.control, tree: k.take})
	}()
	if err := k.prepare(ctx); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// take gets one answer; there is room for one, which whoever asked waits for.
func (k *Kept) take(errno int, tree *os.File) {
	select {
	case k.given <- given{tree, syscall.Errno(errno)}:
	default:
		if tree != nil {
			_ = tree.Close()
		}
	}
}
