package nix

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// grace is how long nix may take to end its builders after SIGTERM.
	grace = 5 * time.Second
	// askEvery is how often SIGTERM is sent until then: one that comes just before nix waits for its builder is
	// lost on it, but one that comes while it clears the builder's folder away ends that.
	askEvery = time.Second
	// longestAnswer is the most that nix may print on its standard output.
	longestAnswer = 64 << 20
)

// run starts a program of Nix with our environment, in the folder dir ("" for the cache's), and waits for its end. Its
// standard error goes to the transcript. A context that ends sends SIGTERM, and kills after the grace.
func (s *Store) run(ctx context.Context, t *transcript, dir, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = cmp.Or(dir, s.options.Dir)
	cmd.Env = s.environ
	answer := &bounded{room: longestAnswer}
	cmd.Stdout, cmd.Stderr = answer, t
	cmd.SysProcAttr = attributes()
	runtime.LockOSThread() // it ends with the thread that starts it
	defer runtime.UnlockOSThread()
	ended := make(chan struct{})
	cmd.Cancel = func() error {
		go askToEnd(cmd.Process, ended)
		return nil
	}
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	err := cmd.Wait()
	close(ended)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case answer.full:
		return nil, fmt.Errorf("%s printed more than %d bytes", filepath.Base(program), longestAnswer)
	}
	return answer.Bytes(), err
}

// askToEnd sends SIGTERM until the process has ended.
func askToEnd(process *os.Process, ended <-chan struct{}) {
	for process.Signal(syscall.SIGTERM) == nil {
		select {
		case <-ended:
			return
		case <-time.After(askEvery):
		}
	}
}

// bounded keeps so much of what is written, and takes the rest without keeping it.
type bounded struct {
	bytes.Buffer
	room int
	full bool
}

// Write never fails.
func (b *bounded) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.room-b.Len())]
	b.full = b.full || len(kept) < len(p)
	_, _ = b.Buffer.Write(kept)
	return len(p), nil
}

// errLimit is why a context ended that had a time limit.
var errLimit = errors.New("the time limit")

// nix runs a subcommand of nix and makes a typed error of its failure. what names what was asked for.
func (s *Store) nix(ctx context.Context, job job, args ...string) ([]byte, error) {
	tool, err := s.Tool(ctx)
	if err != nil {
		return nil, err
	}
	all := append([]string{"--extra-experimental-features", features, "--log-format", "internal-json"}, s.storeFlags()...)
	if s.options.Offline {
		all = append(all, "--offline")
	}
	return s.tell(ctx, job, tool.Program, append(all, args...))
}

// job is what a nix is run for.
type job struct {
	// what names it in errors.
	what    string
	nixpkgs Source
	// log is the name of its log file, "" for none; report gets its progress.
	log    string
	report func(Progress)
	// dir is the folder that it is started in, "" for the cache's.
	dir string
}

// tell runs a program within the time limit, and makes a typed error of what it said.
func (s *Store) tell(ctx context.Context, job job, program string, args []string) ([]byte, error) {
	if s.options.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.options.Limit, errLimit)
		defer cancel()
	}
	log, name := s.openLog(job.log)
	if log != nil {
		defer log.Close()
	}
	t := newTranscript(log, job.report)
	out, err := s.run(ctx, t, job.dir, program, args...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, errLimit):
		return nil, &LimitError{What: job.what, Limit: s.options.Limit, Tail: t.tail(""), LogFile: name}
	case errors.As(err, &exit) && !exit.Exited():
		return nil, &EvalError{What: job.what, Reason: "nix was ended by " + exit.Sys().(syscall.WaitStatus).Signal().String(), LogFile: name}
	case errors.As(err, &exit):
		t.line(t.partial)
		return nil, s.storeAtFault(t.failure(job.what, name, s.options.Offline, job.nixpkgs))
	}
	return nil, err
}

// quotedPath is a path as Nix's messages have it.
var quotedPath = compiled(`'(/[^']*)'`)

// storeAtFault makes a *StoreError of an error that names a folder above a store of one's own, which cannot be made there.
func (s *Store) storeAtFault(err error) error {
	var eval *EvalError
	if s.options.Root == "" || !errors.As(err, &eval) {
		return err
	}
	for _, match := range quotedPath().FindAllStringSubmatch(eval.Reason, -1) {
		if match[1] != "/" && strings.HasPrefix(s.options.Root+"/", strings.TrimSuffix(match[1], "/")+"/") {
			return &StoreError{Reason: eval.Reason, Hint: storeHint(eval.Reason)}
		}
	}
	return err
}

// storeFlags choose the store.
func (s *Store) storeFlags() []string {
	if s.options.Root == "" {
		return nil
	}
	return []string{"--store", s.options.Root}
}
