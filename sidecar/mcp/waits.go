package mcp

import (
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// keptFor is how long a result waits for the call that is to have it.
	keptFor = 5 * time.Minute
	// mostKept wait so; the oldest goes first.
	mostKept = 64
)

// waits are the runs that calls can come back to. They are this connection's, so that no other one finds them.
type waits struct {
	mu   sync.Mutex
	by   map[string]*waiting
	kept []string // the states of those whose result waits, the oldest first
}

func (s *waits) enter(w *waiting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*waiting{}
	}
	s.by[w.state] = w
}

// find is the run that a request's state means: the run's own, and the number of one of its questions.
func (s *waits) find(requestState string) *waiting {
	state, number, _ := strings.Cut(requestState, ".")
	s.mu.Lock()
	w := s.by[state]
	s.mu.Unlock()
	if w == nil || !w.asks(number) {
		return nil
	}
	return w
}

// keep counts a run whose result waits, and lets go of the oldest ones.
func (s *waits) keep(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.kept = append(s.kept, state); len(s.kept) > mostKept; s.kept = s.kept[1:] {
		delete(s.by, s.kept[0])
	}
}

func (s *waits) forget(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, state)
	s.kept = slices.DeleteFunc(s.kept, func(other string) bool { return other == state })
}
