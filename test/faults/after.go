//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// after is what must hold after every fault: the next request is answered; nothing is left of the placeholders, nor anything
// else in the project; the history is whole, and no run in it goes on; when the sidecars are told to stop no process stays,
// no mount, no socket, no lock of a dead one.
func (l *lab) after() error {
	if err := l.next(); err != nil {
		return err
	}
	if err := errors.Join(l.nothingLeft(), l.historyIsWhole()); err != nil {
		return err
	}
	return l.nobodyStays()
}

// next is the next request.
func (l *lab) next() error {
	out, status, err := l.sidecar("run", "--", "echo", "works")
	if err == nil && (status != 0 || out != "works\n") {
		err = fmt.Errorf("exit status %d, %q", status, out)
	}
	if err != nil {
		return fmt.Errorf("the next request: %w", err)
	}
	l.check("the next request is answered")
	return nil
}

// nothingLeft compares the project with what it was.
func (l *lab) nothingLeft() error {
	is, err := listing(l.project)
	if err != nil {
		return err
	}
	if diff := differences(l.before, is); len(diff) > 0 {
		return fmt.Errorf("the project is not as it was: %s", join(diff))
	}
	records, _ := filepath.Glob(filepath.Join(l.dir, "state/sidecar/holds/*.run"))
	if len(records) > 0 {
		return fmt.Errorf("records of placeholders are left: %v", records)
	}
	l.check("placeholders and files")
	return nil
}

// historyIsWhole reads all that is kept.
func (l *lab) historyIsWhole() error {
	out, status, err := l.sidecar("runs", "--all", "--json", "--limit", "0")
	if err != nil || status != 0 {
		return fmt.Errorf("the history: exit status %d, %s, %w", status, out, err)
	}
	var runs []protocol.Run
	if err := json.Unmarshal([]byte(out), &runs); err != nil {
		return fmt.Errorf("the history: %w: %s", err, out)
	}
	for _, r := range runs {
		if r.End == nil {
			return fmt.Errorf("the history has a run that goes on: %+v", r)
		}
	}
	if len(runs) == 0 {
		return errors.New("the history has no run")
	}
	aside, _ := filepath.Glob(filepath.Join(l.dir, "state/sidecar/history/*damaged*"))
	if len(aside) > 0 {
		return fmt.Errorf("the history was damaged: %v", aside)
	}
	l.check("history")
	return nil
}

// nobodyStays ends the sidecars.
func (l *lab) nobodyStays() error {
	if out, status, err := l.sidecar("stop", "--all"); err != nil || status != 0 {
		return fmt.Errorf("sidecar stop: exit status %d, %s, %w", status, out, err)
	}
	left := processes()
	if err := await("the end of all processes", func() bool { reap(); left = processes(); return len(left) == 0 }); err != nil {
		return fmt.Errorf("processes are left: %+v", left)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if at := strings.Fields(line)[4]; strings.HasPrefix(at, l.dir) && !l.isOwn(at) {
			return fmt.Errorf("a mount is left: %s", line)
		}
	}
	for _, pattern := range []string{"run/*.sock", "history/living/*"} {
		if left, _ := filepath.Glob(filepath.Join(l.dir, "state/sidecar", pattern)); len(left) > 0 {
			return fmt.Errorf("files are left: %v", left)
		}
	}
	l.check("processes", "mounts", "sockets")
	return nil
}

func (l *lab) isOwn(mount string) bool {
	for _, m := range l.mounted {
		if m == mount {
			return true
		}
	}
	return false
}
