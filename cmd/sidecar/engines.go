package main

import (
	"path/filepath"
	"sync"

	"code.sidecar.dev/sidecar"
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

// of is the engine for the project around a folder.
func (e *engines) of(dir string) (*sidecar.Engine, error) {
	root, err := sidecar.Root(dir)
	if err != nil {
		return nil, err
	}
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
