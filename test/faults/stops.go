//go:build linux

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap is how long something is stopped.
const nap = 300 * time.Millisecond

// stops are SIGSTOP and SIGCONT of each process, and of all at once as in a suspend.
func stops() (list []fault) {
	everything := role{"all processes", func(p process, _ []process) bool { return true }}
	for _, of := range []role{theServer, theClient, theBwrap, theFirst, theShim, theCode, everything} {
		for _, at := range []stage{launching, running} {
			if at.name == launching.name && (of.name == theShim.name || of.name == theCode.name || of.name == theFirst.name) {
				at = layingOut
			}
			if at.name == layingOut.name && of.name == theCode.name {
				continue
			}
			list = append(list, fault{what: "SIGSTOP and SIGCONT of " + of.name, stage: at.name, do: func(l *lab) error { return l.stop(of, at) }})
		}
	}
	for _, of := range []role{theBwrap, theFirst, theShim, theCode} {
		list = append(list, fault{what: "SIGSTOP of " + of.name, stage: "and the run is cancelled", do: func(l *lab) error { return l.cancelStopped(of) }})
	}
	return append(list, fault{what: "SIGSTOP of the sidecar", stage: "while it has the lock of the placeholders", do: stoppedWithLock})
}

// stop stops something for a while: the run goes on after it, to its end.
func (l *lab) stop(of role, at stage) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := l.reached(s, func() bool { return at.is(l) }); err != nil {
		return err
	}
	if err := of.signal(unix.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(nap)
	if err := of.signal(unix.SIGCONT); err != nil {
		return err
	}
	l.check("the answer")
	return l.answered(s)
}

// cancelStopped ends a run in which something stands still.
func (l *lab) cancelStopped(of role) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := l.begun(s); err != nil {
		return err
	}
	if err := of.signal(unix.SIGSTOP); err != nil {
		return err
	}
	if err := s.Process.Signal(unix.SIGINT); err != nil {
		return err
	}
	return l.answeredSomehow(s)
}

// stoppedWithLock has one sidecar stand still with the lock that all have to take.
func stoppedWithLock(l *lab) error {
	if err := l.next(); err != nil {
		return err
	}
	holder, err := l.start("flock", l.dir+"/state/sidecar/holds/lock", "sleep", "1000")
	if err != nil {
		return err
	}
	if err := await("the lock", func() bool { return len(processes()) > 2 }); err != nil {
		return err
	}
	s, err := l.run()
	if err == nil {
		err = l.answeredSomehow(s)
	}
	for _, p := range processes() {
		if p.parent == holder.Process.Pid || p.pid == holder.Process.Pid {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
	}
	return err
}
