package proxy

import (
	"context"
	"sync"
)

// Question is put to a person: may the program reach this?
type Question struct {
	Host string
	// Port is the one asked for; a yes to 80 or 443 is one to both.
	Port uint16
	Kind Kind
	// Setting is what would allow it for good.
	Setting string
}

// Answer of a person. Either is remembered for the run; who makes it last longer writes it to the configuration.
type Answer int

// Answers.
const (
	No Answer = iota
	Yes
)

// mostAnswers are remembered; a program that asks for more names gets no more questions through: who is asked on and on
// says yes at last.
const mostAnswers = 50

type questionKey struct {
	host string
	port uint16
}

// question is one that is being asked, and who waits for it.
type question struct {
	done    chan struct{}
	answer  Answer
	waiting int
	cancel  context.CancelFunc
}

// approvals asks each question once.
type approvals struct {
	ctx  context.Context
	ask  func(context.Context, Question) Answer
	mu   sync.Mutex
	said map[questionKey]Answer
	open map[questionKey]*question
}

func newApprovals(ctx context.Context, ask func(context.Context, Question) Answer) *approvals {
	return &approvals{ctx: ctx, ask: ask, said: map[questionKey]Answer{}, open: map[questionKey]*question{}}
}

func (q Question) key() questionKey {
	if q.Port == 80 {
		q.Port = 443
	}
	return questionKey{q.Host, q.Port}
}

// get returns the answer to a question: the one that was given before, or a person's. Whoever waits stops when its
// context ends, which is no answer: the same may be asked again.
func (a *approvals) get(ctx context.Context, q Question) Answer {
	if a.ask == nil {
		return No
	}
	open, answer := a.join(q)
	if open == nil {
		return answer
	}
	defer a.leave(q.key(), open)
	select {
	case <-open.done:
		return open.answer
	case <-ctx.Done():
		return No
	}
}

// join returns the open question, begun if there is none, or what was said.
func (a *approvals) join(q Question) (*question, Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer, ok := a.said[q.key()]; ok {
		return nil, answer
	}
	open := a.open[q.key()]
	if open == nil {
		if len(a.said)+len(a.open) >= mostAnswers {
			return nil, No
		}
		open = a.begin(q)
	}
	open.waiting++
	return open, No
}

func (a *approvals) begin(q Question) *question {
	ctx, cancel := context.WithCancel(a.ctx)
	open := &question{done: make(chan struct{}), cancel: cancel}
	a.open[q.key()] = open
	go func() {
		answer := a.ask(ctx, q)
		a.mu.Lock()
		defer a.mu.Unlock()
		if ctx.Err() == nil {
			open.answer = answer
			a.said[q.key()] = answer
			delete(a.open, q.key())
		}
		cancel()
		close(open.done)
	}()
	return open
}

// leave withdraws a question that nobody waits for any more.
func (a *approvals) leave(key questionKey, open *question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if open.waiting--; open.waiting == 0 {
		open.cancel()
		if a.open[key] == open {
			delete(a.open, key)
		}
	}
}

// judge is what the rules, and where they have nothing on a name a person, come to. The context is the client's.
func (f *Filter) judge(ctx context.Context, t Target) Verdict {
	v := f.opt.Rules.Decide(t)
	if v.Allowed || !v.Askable || f.opt.Ask == nil {
		return v
	}
	q := Question{Host: t.Host.String(), Port: t.Port, Kind: t.Kind, Setting: v.Setting}
	if f.approvals.get(ctx, q) == Yes {
		return Verdict{Allowed: true, Open: v.Open, Named: v.Named}
	}
	v.Why += ", and nobody allowed it"
	return v
}
