package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox/shim"
)

// Kept is a pick that was made once: a sandbox in which nothing runs, and which hands out copies of its mounts. A run with
// such a copy (IO.Tree) does not make the pick itself, which for thousands of entries costs more than all else of its
// start. Runs share nothing else with it. Safe for many callers at once.
type Kept struct {
	control *Control
	stop    context.CancelFunc
	given   chan given
	// gone is closed when its processes have ended; err is why, if they never served.
	gone chan struct{}
	err  error

	mu    sync.Mutex // whoever has it asks, or is about to
	spare *os.File
}

// given is what the shim answered.
type given struct {
	tree  *os.File
	errno syscall.Errno
}

// patienceKept is how long a copy may take; two thousand mounts are some milliseconds.
const patienceKept = 2 * time.Second

var errKeeper = errors.New("the keeper of these mounts has ended")

// Tree is a copy, to be attached once. It is the caller's to close, or Run's. An error is no reason not to run: the pick
// can be made as without a keeper.
func (k *Kept) Tree() (*os.File, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.gone:
		return nil, k.ended()
	default:
	}
	if tree := k.spare; tree != nil {
		k.spare = nil
		return tree, nil
	}
	return k.ask(context.Background())
}

// Spare has the next Tree ready ahead of its time.
func (k *Kept) Spare() error { return k.prepare(context.Background()) }

func (k *Kept) prepare(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spare != nil {
		return nil
	}
	var err error
	k.spare, err = k.ask(ctx)
	return err
}

// ask has the shim make a copy. Answers come in the order of the questions, so one that is not waited for is the end.
func (k *Kept) ask(ctx context.Context) (*os.File, error) {
	ctx, stop := context.WithTimeout(ctx, patienceKept)
	defer stop()
	k.control.send(shim.Order{Tree: true})
	select {
	case g := <-k.given:
		if g.tree == nil {
			return nil, fmt.Errorf("copying the mounts of a keeper: %w", g.errno)
		}
		return g.tree, nil
	case <-k.gone:
		return nil, k.ended()
	case <-ctx.Done():
		k.stop()
		return nil, fmt.Errorf("copying the mounts of a keeper: %w", ctx.Err())
	}
}

func (k *Kept) ended() error {
	if k.err != nil {
		return k.err
	}
	return errKeeper
}

// Gone is closed when the keeper has ended, for whatever reason.
func (k *Kept) Gone() <-chan struct{} { return k.gone }

// Close ends the keeper, and returns when it is gone. Copies that were given out stay.
func (k *Kept) Close() {
	k.stop()
	<-k.gone
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spare != nil {
		_ = k.spare.Close()
		k.spare = nil
	}
	select {
	case g := <-k.given: // nobody waits for it any more
		if g.tree != nil {
			_ = g.tree.Close()
		}
	default:
	}
}
