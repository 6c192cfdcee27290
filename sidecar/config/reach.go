package config

import (
	"fmt"
	"slices"
	"strings"
)

// Use is who reaches out.
type Use string

// The uses that settings tell apart.
const (
	UseRun  Use = "run"  // run_code and sidecar run
	UseExec Use = "exec" // sidecar exec
)

// Reach is what may be reached: all of the internet (Open), or what each of Lists allows; neither is nothing.
type Reach struct {
	Open  bool
	Lists []*Domains
	// Shut says that it is nothing by the project's word, which no answer to a question outlasts.
	Shut bool
}

// String is "open", "none" or the lists.
func (r Reach) String() string {
	switch {
	case r.Open:
		return "open"
	case r.Lists == nil:
		return "none"
	}
	var all []string
	for _, list := range r.Lists {
		all = append(all, list.String())
	}
	return strings.Join(all, " within ")
}

// narrowed is what a project asks of the network. It is kept, since it holds for whatever a profile allows, too.
type narrowed struct {
	domains   *Domains
	run, exec bool // shut
}

// undo forgets what the project asked, when a variable or a flag sets the same.
func (n *narrowed) undo(key string) {
	switch key {
	case "network.allowed_domains":
		*n = narrowed{}
	case "network.run":
		n.run = false
	case "network.exec":
		n.exec = false
	}
}

// shut remembers a project's "none", which holds also where names are allowed.
func (n *narrowed) shut(key string) {
	n.run = n.run || key == "network.run"
	n.exec = n.exec || key == "network.exec"
}

// Reach is what a use may reach with a profile, or with none (Profile{}). What a profile says stands in the place of
// the section network; what the project narrowed holds for both.
func (s Settings) Reach(use Use, p Profile) Reach {
	mode, domains, shut := s.Network.Run, s.Network.AllowedDomains, s.narrowed.run
	if use == UseExec {
		mode, shut = s.Network.Exec, s.narrowed.exec
	}
	if p.Network != "" {
		mode, domains = p.Network, nil
	}
	if p.AllowedDomains != nil {
		domains = p.AllowedDomains
	}
	if p.Network == "" && mode != "open" || domains != nil {
		domains = domains.and(s.Network.Approved)
	}
	r := Reach{Shut: shut || s.narrowed.domains != nil && len(s.narrowed.domains.Names) == 0}
	switch {
	case shut || domains == nil && mode != "open":
		return r
	case domains != nil:
		r.Lists = append(r.Lists, domains)
	}
	if s.narrowed.domains != nil {
		r.Lists = append(r.Lists, s.narrowed.domains)
	}
	r.Open = r.Lists == nil
	return r
}

// and are the names of both. A list that is empty is meant so, and stays.
func (d *Domains) and(more *Domains) *Domains {
	if more == nil || len(more.Names) == 0 || d != nil && len(d.Names) == 0 {
		return d
	}
	all := &Domains{}
	if d != nil {
		all.Names = append(all.Names, d.Names...)
	}
	for _, m := range more.Names {
		if !slices.ContainsFunc(all.Names, m.same) { // what the person's own list says of a name counts
			all.Names = append(all.Names, m)
		}
	}
	return all
}

// narrowDomains applies a project's names: they have to allow, too, whatever else does.
func (l *loader) narrowDomains(f field, asked *Domains, from origin) {
	n := &l.settings.Network
	switch {
	case len(asked.Names) > maxAlso:
		l.refuse(f, from, fmt.Sprintf("ignored: have %d, want at most %d", len(asked.Names), maxAlso))
		return
	case n.AllowedDomains != nil:
		if lost := n.AllowedDomains.lacks(asked); len(lost) > 0 {
			l.refuse(f, from, "ignored: "+strings.Join(lost, ", "))
		}
	case n.Run != "open" && n.Exec != "open" && len(asked.Names) > 0:
		l.refuse(f, from, "ignored: nothing is allowed that this could narrow")
	}
	l.settings.narrowed.domains = asked
	l.settings.from[f.key] = append(l.settings.from[f.key], from)
}

// lacks are the names of asked that d does not mention, for a note; what is allowed is the filter's to decide.
func (d *Domains) lacks(asked *Domains) []string {
	var lost []string
	for _, a := range asked.Names {
		if _, ok := d.allows(a.split()); !ok {
			lost = append(lost, quote(a.Name))
		}
	}
	return lost
}
