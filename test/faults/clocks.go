//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// clocks are files with times that a clock gave which has been set since, in either direction. The clock itself is the
// machine's, and is left alone.
func clocks() (list []fault) {
	for _, c := range []struct {
		name string
		jump time.Duration
	}{{"set back by ten years", 10 * 365 * 24 * time.Hour}, {"set on by ten years", -10 * 365 * 24 * time.Hour}} {
		list = append(list, fault{what: "a clock that was " + c.name, stage: "between two runs", do: func(l *lab) error { return l.between(c.jump) }},
			fault{what: "a clock that was " + c.name, stage: "while a run goes on", do: func(l *lab) error { return l.meanwhileAt(c.jump) }})
	}
	return list
}

// stamp gives all files of the lab another time.
func (l *lab) stamp(jump time.Duration) error {
	at := time.Now().Add(jump)
	return filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() && !d.IsDir() {
			return nil //nolint:nilerr // it went meanwhile
		}
		if err := os.Chtimes(path, at, at); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// between has the next run meet what an earlier one left: with a sidecar that serves, and with a new one.
func (l *lab) between(jump time.Duration) error {
	if err := errors.Join(l.next(), l.stamp(jump), l.next()); err != nil {
		return err
	}
	if _, _, err := l.sidecar("stop"); err != nil {
		return err
	}
	return errors.Join(l.stamp(jump), l.next())
}

// meanwhileAt has it all change while a run goes on.
func (l *lab) meanwhileAt(jump time.Duration) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	l.check("the answer")
	return errors.Join(l.begun(s), l.stamp(jump), l.next(), l.answered(s))
}
