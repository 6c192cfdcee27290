package sandbox

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Standing is a sandbox that was made ahead of its run. It serves one, and only one.
type Standing struct {
	plan    Plan
	tasks   chan task
	closing chan struct{}
	close   func()
	// gone is closed when it has ended; err is why, if it never stood.
	gone chan struct{}
	err  error
}

// task is a run for a sandbox that stands.
type task struct {
	ctx     context.Context
	limits  Limits
	hand    Handover
	streams IO
	done    chan<- outcome
}

type outcome struct {
	end End
	err error
}

// Stand starts the sandbox of a plan that bubblewrap.Stand made. It returns at once: a run that comes early waits.
func Stand(plan Plan) (*Standing, error) {
	if !plan.Stands {
		return nil, errors.New("making a sandbox ahead of its run: the plan is one of a run")
	}
	s := &Standing{plan: plan, tasks: make(chan task), closing: make(chan struct{}), gone: make(chan struct{})}
	s.close = sync.OnceFunc(func() { close(s.closing) })
	go func() {
		runtime.LockOSThread() // as in Run
		defer runtime.UnlockOSThread()
		defer close(s.gone)
		s.err = s.serve()
	}()
	return s, nil
}

// serve starts it and has it do its run.
func (s *Standing) serve() error {
	p := newProcess(s.plan)
	if err := p.start(!s.plan.NoInput); err != nil {
		return err
	}
	select {
	case t := <-s.tasks:
		p.handOver(t)
		return nil
	case <-s.closing:
		ctx, stop := context.WithCancel(context.Background())
		stop()
		return p.discard(ctx)
	case <-p.exited:
		return p.discard(context.Background())
	}
}

// handOver gives the sandbox its run, and waits for its end.
func (p *Process) handOver(t task) {
	p.plan.Limits, p.started = t.limits, time.Now()
	p.regroup()
	t.streams.Ready = p.begun
	p.attach(t.ctx, t.streams)
	order := t.hand.order()
	order.Times = t.streams.Times
	p.going.Go(func() { p.control.open(p.pipes[2], order, nil) })
	p.wait(t.done)
}

// discard has a sandbox that had no run end with ctx, and returns why if it did not end for that.
func (p *Process) discard(ctx context.Context) error {
	p.attach(ctx, IO{})
	_ = p.pipes[2].Close()
	done := make(chan outcome, 1)
	p.wait(done)
	return (<-done).err
}

// Run does the sandbox's run, as Run does one of a plan that does not stand; limits are those of the run's own plan, and
// streams.Ready is not heeded. A *StartError says that nothing of the program has run, nor of its input been read.
func (s *Standing) Run(ctx context.Context, limits Limits, hand Handover, streams IO) (End, error) {
	done := make(chan outcome, 1)
	select {
	case s.tasks <- task{ctx, limits, hand, streams, done}:
		o := <-done
		return o.end, o.err
	case <-s.gone:
		return End{ExitCode: -1}, &StartError{Step: StepStand, Err: errNotTaken}
	}
}

// Gone is closed when the sandbox has ended, with its run or without one.
func (s *Standing) Gone() <-chan struct{} { return s.gone }

// Err is why a sandbox that is gone never stood; nil is no reason.
func (s *Standing) Err() error { return s.err }

// Close ends the sandbox, unless it has its run. It does not wait; Gone does.
func (s *Standing) Close() { s.close() }
