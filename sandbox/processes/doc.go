//go:build darwin || linux

// Package processes finds the processes of a run where no namespace holds them together: by looking, again and again.
//
//	f := processes.Follow(pid)
//	f.Look()
//	for _, p := range f.Members() { … }
//
// A process belongs to a run when its parent, the leader of its group or of its session does, or did when it was last looked
// at. So one that forks twice, with a session of its own, between two looks is lost: Follow alone promises nothing. Who may
// belong to it all the same are Strangers; only the sandbox itself can tell (package shim, Plain).
package processes

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// Process is what is known of one.
type Process struct {
	PID, Parent, Group, Session int
	// Started is when, as finely as the system knows.
	Started time.Time
	// Stopped says that a signal has stopped it; Zombie that it has ended, and nobody has asked how.
	Stopped, Zombie bool
}

// key tells a process from a later one with the same number.
type key struct {
	pid     int
	started time.Time
}

func (p Process) key() key { return key{p.PID, p.Started} }

// Follower keeps track of one process and of what comes of it. It is not safe for several callers at once.
type Follower struct {
	uid, first int
	// since is when the first has started, by the system's own count.
	since time.Time
	known map[key]bool
	// leaders are numbers that are a member's, or were: of groups and sessions that members lead or led.
	leaders map[int]bool
	now     []Process
}

// Follow follows a process of this user, which is there.
func Follow(pid int) *Follower {
	return &Follower{uid: os.Getuid(), first: pid, known: map[key]bool{}, leaders: map[int]bool{}}
}

// Look looks at all processes of the user.
func (f *Follower) Look() error {
	list, err := List(f.uid)
	if err != nil {
		return err
	}
	f.now = list
	if f.since.IsZero() {
		i := slices.IndexFunc(list, func(p Process) bool { return p.PID == f.first })
		if i < 0 {
			return fmt.Errorf("process %d is not there", f.first)
		}
		f.since, f.known[list[i].key()], f.leaders[f.first] = list[i].Started, true, true
	}
	for grown := true; grown; {
		grown = false
		for _, p := range list {
			if !f.known[p.key()] && f.belongs(p) {
				f.known[p.key()], f.leaders[p.PID], grown = true, true, true
			}
		}
	}
	return nil
}

// belongs says so by the numbers of what is known. A number may be another's by now; what started before the run did not
// come of it.
func (f *Follower) belongs(p Process) bool {
	return !p.Started.Before(f.since) && (f.leaders[p.Parent] || f.leaders[p.Group] || f.leaders[p.Session])
}

// Members are those that were there at the last look, the first among them.
func (f *Follower) Members() []Process {
	return slices.DeleteFunc(slices.Clone(f.now), func(p Process) bool { return p.Zombie || !f.known[p.key()] })
}

// Strangers are those of the user that have started since and do not seem to belong to it.
func (f *Follower) Strangers() []Process {
	return slices.DeleteFunc(slices.Clone(f.now), func(p Process) bool {
		return p.Zombie || f.known[p.key()] || p.PID == os.Getpid() || p.Started.Before(f.since)
	})
}

// Use is what a process takes.
type Use struct {
	// Memory is its own, in bytes; Threads how many it has.
	Memory  int64
	Threads int
}
