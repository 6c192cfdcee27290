//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// fullDisks are file systems without room for one more byte, each at the time when something is written there.
func fullDisks() []fault {
	state := func(l *lab) string { return filepath.Join(l.dir, "state") }
	disk := func(what, stage string, do func(*lab) error) fault {
		return fault{what: "disk full: " + what, stage: stage, mounts: true, do: do}
	}
	return []fault{
		disk("the state folder", "before anything starts", func(l *lab) error { return l.fullAtStart(state(l)) }),
		disk("the state folder", "before a run", func(l *lab) error { return l.fullBefore(state(l)) }),
		disk("the state folder", "while a run goes on", func(l *lab) error { return l.fullMeanwhile(state(l), "") }),
		disk("the state folder", "while a run prints much", func(l *lab) error { return l.fullMeanwhile(state(l), "; head -c 300000 /dev/zero | tr '\\0' x") }),
		disk("the folder of sockets", "before anything starts", func(l *lab) error {
			return l.fullAtStart(filepath.Join(sessions, strconv.Itoa(os.Getuid())))
		}),
		disk("the cache", "before anything starts", func(l *lab) error { return l.fullAndFine(filepath.Join(l.dir, "cache")) }),
		disk("TMPDIR", "before anything starts", func(l *lab) error {
			l.env = append(l.env, "TMPDIR="+filepath.Join(l.dir, "tmp"))
			return l.fullAndFine(filepath.Join(l.dir, "tmp"))
		}),
		disk("the workspace", "before a run", fullWorkspace),
		disk("the workspace", "while a run goes on", fullWorkspaceMeanwhile),
	}
}

// filler takes the room of a folder.
func filler(dir string) string { return filepath.Join(dir, "filler") }

// fullAtStart has a folder full before there is a sidecar: the request is answered or refused, with words that say what is full.
func (l *lab) fullAtStart(dir string) error {
	if err := errors.Join(l.mount(dir, "4m"), fill(filler(dir))); err != nil {
		return err
	}
	return l.refused(dir)
}

// fullBefore has it full before a run of a sidecar that serves.
func (l *lab) fullBefore(dir string) error {
	if err := errors.Join(l.mount(dir, "4m"), l.next(), fill(filler(dir))); err != nil {
		return err
	}
	return l.refused(dir)
}

// refused asks for a run that cannot be; with room again all is well.
func (l *lab) refused(dir string) error {
	out, status, err := l.sidecar("run", "--", "echo", "works")
	if err != nil {
		return err
	}
	l.seen = fmt.Sprintf("exit status %d", status)
	if status != 0 {
		l.seen += ": " + strings.TrimPrefix(strings.SplitN(out, "\n", 2)[0], "sidecar: ")
		l.seen = strings.ReplaceAll(l.seen, l.dir, "")
	}
	if status != 0 && (!strings.Contains(out, "no space left") || !strings.Contains(out, "room")) {
		return fmt.Errorf("what is said of a full disk: %s", out)
	}
	l.check("what is said")
	return os.Remove(filler(dir))
}

// fullMeanwhile fills a folder while a run goes on: it is answered with all that it printed.
func (l *lab) fullMeanwhile(dir, more string) error {
	if err := l.mount(dir, "4m"); err != nil {
		return err
	}
	s, err := l.start("sidecar", "run", "--language", "bash", "-e", program+more)
	if err != nil {
		return err
	}
	if err := errors.Join(l.begun(s), fill(filler(dir)), l.goOn()); err != nil {
		return err
	}
	status, err := s.ended()
	if err == nil && (status != 0 || !strings.HasPrefix(s.out.String(), "answer\n") || more != "" && len(s.out.String()) != 300007) {
		err = fmt.Errorf("exit status %d, %d bytes, %s", status, len(s.out.String()), s.err.String())
	}
	l.check("the answer")
	return errors.Join(err, os.Remove(filler(dir)))
}

// fullAndFine has a folder full that nothing depends on.
func (l *lab) fullAndFine(dir string) error {
	return errors.Join(l.mount(dir, "4m"), fill(filler(dir)), l.next())
}

// small makes the project anew on a small file system.
func (l *lab) small() error {
	if err := l.mount(l.project, "4m"); err != nil {
		return err
	}
	_, err := l.sh("echo 1 >file && git init -q . && git add . && git commit -qm one")
	if err == nil {
		l.before, err = listing(l.project)
	}
	return err
}

func fullWorkspace(l *lab) error {
	if err := errors.Join(l.small(), fill(filler(l.project))); err != nil {
		return err
	}
	return l.refused(l.project)
}

func fullWorkspaceMeanwhile(l *lab) error {
	if err := l.small(); err != nil {
		return err
	}
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := errors.Join(l.begun(s), l.goOn(), fill(filler(l.project))); err != nil {
		return err
	}
	if err := l.answered(s); err != nil {
		return err
	}
	l.check("the answer")
	return os.Remove(filler(l.project))
}
