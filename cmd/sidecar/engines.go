package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/mcp"
	"code.sidecar.dev/sidecar/protocol"
)

// engines are one a workspace: each project has settings of its own.
type engines struct {
	flags *flags
	term  terminal
	mu    sync.Mutex
	made  map[string]*sidecar.Engine
}

func newEngines(f *flags, t terminal) *engines {
	return &engines{flags: f, term: t, made: map[string]*sidecar.Engine{}}
}

func (e *engines) run(ctx context.Context, root string, p protocol.RunParams, w mcp.Watch) (protocol.RunResult, error) {
	made, err := e.of(root)
	if err != nil {
		return protocol.RunResult{}, err
	}
	return made.Do(ctx, sidecar.Request{Dir: root, Params: p, Sink: w.Output, Building: w.Building, Approve: e.approve(w.Approve), TraceParent: w.TraceParent, TraceState: w.TraceState})
}

// approve has the client ask, and keeps what is to hold for good; nil where it cannot.
func (e *engines) approve(ask func(context.Context, protocol.Question) protocol.Answer) func(context.Context, protocol.Question) protocol.Answer {
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, q protocol.Question) protocol.Answer {
		if q.Kind == protocol.AskNetwork {
			q.File = config.Sources{Explicit: e.flags.config}.Person()
		}
		answer := ask(ctx, q)
		if answer == protocol.Always {
			if err := sidecar.Keep(q); err != nil {
				say(e.term, fmt.Sprintf("the answer holds for this run only: %v", err))
			}
		}
		return answer
	}
}

func (e *engines) envs(_ context.Context, root string) ([]protocol.Environment, error) {
	made, err := e.of(root)
	if err != nil {
		return nil, err
	}
	return made.Environments(root)
}

// of is the engine for the project at root.
func (e *engines) of(root string) (*sidecar.Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := filepath.Clean(root)
	if have, ok := e.made[key]; ok {
		return have, nil
	}
	made, err := e.flags.engine(root, e.term)
	if err == nil {
		e.made[key] = made
	}
	return made, err
}

func (e *engines) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, made := range e.made {
		made.Close()
	}
}
