//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// upgrades are what becomes of the binary while it serves. An agent's edge stays all the time, as it does for hours.
func upgrades() (list []fault) {
	for _, u := range []struct {
		stage string
		do    func(binary string) error
	}{
		{"another program takes its name", func(binary string) error {
			return errors.Join(os.WriteFile(binary+".new", []byte("#!/bin/sh\necho 'another version' >&2\nexit 1\n"), 0o755), os.Rename(binary+".new", binary))
		}},
		{"it is deleted", os.Remove},
		{"it is half written", func(binary string) error {
			text, err := os.ReadFile(binary)
			if err != nil {
				return err
			}
			return errors.Join(os.Remove(binary), os.WriteFile(binary, text[:len(text)/2], 0o755))
		}},
	} {
		list = append(list, fault{what: "an upgrade while it serves", stage: u.stage, do: func(l *lab) error { return l.upgrade(u.do) }})
	}
	return append(list, fault{what: "an upgrade while it serves", stage: "a later version takes over", do: takenOver},
		fault{what: "an upgrade while it serves", stage: "it is written in place", do: inPlace})
}

// upgrade does something to the binary: who is connected goes on being served, also when the sidecar is killed after it.
func (l *lab) upgrade(do func(string) error) error {
	kept := l.binary + ".kept"
	if err := copyFile(l.binary, kept); err != nil {
		return err
	}
	s, err := l.open(anMCP)
	if err != nil {
		return err
	}
	if err := errors.Join(l.begun(s), do(l.binary), l.goOn()); err != nil {
		return err
	}
	if err := l.reached(s, func() bool { return strings.Contains(s.out.String(), `answer\n`) }); err != nil {
		return err
	}
	for i := range 4 { // the later ones may find a sandbox that is ready
		word := fmt.Sprint("word", i)
		s.say(anMCP, strings.Replace(anMCP.run("echo "+word), `"id":2`, fmt.Sprintf(`"id":%d`, 3+i), 1))
		if err := l.reached(s, func() bool { return strings.Contains(s.out.String(), word+`\n`) }); err != nil {
			return fmt.Errorf("%w: %s", err, s.out.String())
		}
	}
	if _, err := os.Stat(l.binary); err != nil { // then the edge starts what it is itself
		if err := theServer.signal(unix.SIGKILL); err != nil {
			return err
		}
		s.say(anMCP, strings.Replace(anMCP.run("echo another"), `"id":2`, `"id":9`, 1))
		if err := l.reached(s, func() bool { return strings.Contains(s.out.String(), `another\n`) }); err != nil {
			return fmt.Errorf("%w: %s", err, s.out.String())
		}
	}
	l.check("the answer", "further ones of the same client")
	_ = s.in.Close()
	if _, err := s.ended(); err != nil {
		return err
	}
	return os.Rename(kept, l.binary)
}

// takenOver has a later build serve the next client, while the old one brings its run to its end.
func takenOver(l *lab) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := l.begun(s); err != nil {
		return err
	}
	later := time.Now().Add(time.Hour)
	if err := errors.Join(copyFile(l.binary, l.binary+".new"), os.Chtimes(l.binary+".new", later, later), os.Rename(l.binary+".new", l.binary), l.next()); err != nil {
		return err
	}
	if n := len(theServer.pids()); n != 2 {
		return fmt.Errorf("%d sidecars, want the old one and the new", n)
	}
	l.check("the answer")
	return l.answered(s)
}

// inPlace writes over it: the kernel refuses that, as long as it runs.
func inPlace(l *lab) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := l.begun(s); err != nil {
		return err
	}
	out, err := exec.Command("cp", "/bin/true", l.binary).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "busy") {
		return fmt.Errorf("writing over a program that runs: %s, %w", out, err)
	}
	l.seen = "the kernel refuses it"
	return l.answered(s)
}
