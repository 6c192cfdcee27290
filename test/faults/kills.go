//go:build linux

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// stage is a moment of a run that can be seen from outside.
type stage struct {
	name string
	is   func(*lab) bool
	// ends says that the program is told to end, so that the stage comes.
	ends bool
}

var (
	connecting = stage{name: "while the client connects", is: func(*lab) bool { return theServer.isThere() }}
	holding    = stage{name: "when placeholders are made", is: func(l *lab) bool { return l.is(".git/commondir") }}
	launching  = stage{name: "while bubblewrap starts", is: func(*lab) bool { return theBwrap.isThere() }}
	layingOut  = stage{name: "while the shim makes its mounts", is: func(*lab) bool { return theShim.isThere() }}
	running    = stage{name: "while the program runs", is: func(l *lab) bool { return l.is("begun") }}
	ending     = stage{name: "when the program ends", is: func(l *lab) bool { return l.is("end") }, ends: true}
	clearing   = stage{name: "while placeholders are taken away", is: func(l *lab) bool { return l.is("end") && !l.is(".git/commondir") }, ends: true}
)

// kills are kill -9 of each process at each stage, and at moments that are chosen by chance.
func kills() (list []fault) {
	for _, k := range []struct {
		of     role
		stages []stage
	}{
		{theServer, []stage{connecting, holding, launching, layingOut, running, ending, clearing}},
		{theClient, []stage{connecting, holding, launching, layingOut, running, ending, clearing}},
		{theBwrap, []stage{launching, layingOut, running, ending}},
		{theFirst, []stage{layingOut, running, ending}},
		{theShim, []stage{layingOut, running}},
		{theCode, []stage{running}},
	} {
		for _, s := range k.stages {
			list = append(list, fault{what: "kill -9 of " + k.of.name, stage: s.name, do: func(l *lab) error { return l.kill(k.of, s) }})
		}
		list = append(list, fault{what: "kill -9 of " + k.of.name, stage: "at any moment", do: func(l *lab) error { return l.killOften(k.of) }})
	}
	return append(list, killsOfOthers()...)
}

// kill kills one process of a run at a stage. Whoever asked for the run is answered: by it, or with an error.
func (l *lab) kill(of role, at stage) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if at.ends {
		if err := l.begun(s); err != nil {
			return err
		}
		if err := l.goOn(); err != nil {
			return err
		}
	}
	if err := l.reached(s, func() bool { return at.is(l) }); err != nil && !at.ends {
		return err
	}
	err = of.signal(unix.SIGKILL)
	if err != nil && !at.ends { // at the end it may be gone already
		return err
	}
	if err := l.goOn(); err != nil {
		return err
	}
	err = l.answeredSomehow(s)
	if lost := s.err.String() == "" && s.ProcessState.ExitCode() == 137; err == nil && lost && of.name != theCode.name {
		err = errors.New("exit status 137, and nothing is said")
	}
	return err
}

// answeredSomehow says that who asked for a run whose process was killed heard of it.
func (l *lab) answeredSomehow(s *started) error {
	status, err := s.ended()
	if err != nil {
		return err
	}
	said := s.err.String()
	l.seen = fmt.Sprintf("exit status %d", status)
	switch {
	case status == -1:
		l.seen = "killed"
	case status == 0 && s.out.String() != "answer\n":
		return fmt.Errorf("exit status 0, and the run did not end: %q, %q", s.out.String(), said)
	case status != 0 && said == "" && status != 137: // that is the program's own, as in a shell
		return fmt.Errorf("exit status %d, and nothing is said", status)
	case status != 0:
		l.seen += ": " + strings.TrimPrefix(strings.SplitN(said, "\n", 2)[0], "sidecar: ")
	}
	l.check("the answer")
	return nil
}

// moments is how often a process is killed by chance.
const moments = 8

// killOften kills at moments of a whole run, which are chosen by chance; all runs are in one lab.
func (l *lab) killOften(of role) error {
	began := time.Now()
	if err := l.next(); err != nil {
		return err
	}
	whole := time.Since(began)
	met := 0
	for range moments {
		for _, name := range []string{"begun", "end"} {
			_ = unix.Unlink(l.in(name))
		}
		if err := l.goOn(); err != nil {
			return err
		}
		if of.name == theServer.name || of.name == theClient.name { // the others are at work soon enough
			if out, _, err := l.sidecar("stop"); err != nil {
				return errors.New(out)
			}
		}
		s, err := l.run()
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(l.chance.Int64N(int64(whole))))
		if of.signal(unix.SIGKILL) == nil {
			met++
		}
		if err := l.answeredSomehow(s); err != nil {
			return err
		}
		if err := l.next(); err != nil {
			return err
		}
		if err := l.nothingLeft(); err != nil {
			return err
		}
	}
	l.checked = []string{"the answer"}
	l.seen = fmt.Sprintf("met it %d times of %d", met, moments)
	return nil
}
