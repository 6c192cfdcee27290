package proxy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Denial is something that a run asked for and did not get. Equal ones are one, with a count.
type Denial struct {
	Host string
	// Port is 0 where only the name was asked about.
	Port uint16
	// Method is empty for what is no HTTP request that could be read.
	Method string
	// Why is the reason in words; Setting what in the configuration would allow it, "" if nothing would.
	Why, Setting string
	// Time is that of the first.
	Time  time.Time
	Count int
}

// refusal is a denial on its way to the client, as an error.
type refusal struct {
	asked        string
	why, setting string
}

func (r *refusal) Error() string {
	s := fmt.Sprintf("sidecar: %s was denied: %s", r.asked, r.why)
	if r.setting != "" {
		s += "\nto allow it, in sidecar's configuration: " + r.setting
	}
	return s
}

// mostDenials are kept; a program could ask for names without end.
const mostDenials = 1000

type denialKey struct {
	host, method string
	port         uint16
	why          string
}

// denials folds what is denied.
type denials struct {
	tell func(Denial)
	mu   sync.Mutex
	seen map[denialKey]*Denial
}

func newDenials(tell func(Denial)) *denials {
	return &denials{tell: tell, seen: map[denialKey]*Denial{}}
}

// add counts a denial and tells of a new one. Beyond mostDenials all are one that has no host.
func (d *denials) add(n Denial) {
	if first := d.count(n); first != nil && d.tell != nil {
		d.tell(*first)
	}
}

func (d *denials) count(n Denial) (first *Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) >= mostDenials && d.seen[n.key()] == nil {
		n = Denial{Why: fmt.Sprintf("more than %d different things were denied", mostDenials)}
	}
	if old := d.seen[n.key()]; old != nil {
		old.Count++
		return nil
	}
	n.Time, n.Count = time.Now(), 1
	d.seen[n.key()] = &n
	told := n
	return &told
}

func (n Denial) key() denialKey { return denialKey{n.Host, n.Method, n.Port, n.Why} }

func (d *denials) list() []Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Denial
	for n := range maps.Values(d.seen) {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Denial) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port))
	})
	return out
}

// deny records a denial and returns what the client is told.
func (f *Filter) deny(t Target, why, setting string) *refusal {
	f.log.add(Denial{Host: t.Host.String(), Port: t.Port, Method: cut(t.Method), Why: why, Setting: setting})
	return &refusal{asked: t.String(), why: why, setting: setting}
}

// denyText is for what has no target, since it could not be read as one.
func (f *Filter) denyText(host, asked, why string) *refusal {
	host, asked = printable(host), printable(asked)
	f.log.add(Denial{Host: host, Why: why})
	return &refusal{asked: asked, why: why}
}

// printable makes what a stranger wrote fit for a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, cut(s))
}
