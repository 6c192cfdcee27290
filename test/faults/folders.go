//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// folders are those that go away, or become others, while they are in use.
func folders() []fault {
	return []fault{
		{what: "the folder of sockets is deleted", stage: "while a run goes on", mounts: true, do: func(l *lab) error { return l.without(l.sockets()) }},
		{what: "the state folder is deleted", stage: "while a run goes on", mounts: true, do: func(l *lab) error { return l.without(filepath.Join(l.dir, "state")) }},
		{what: "the cache is deleted", stage: "while a run goes on", do: func(l *lab) error { return l.without(filepath.Join(l.dir, "cache")) }},
		{what: "the workspace is deleted", stage: "while a run goes on", do: deleted},
		{what: "the workspace is renamed", stage: "while a run goes on", do: func(l *lab) error { return l.moved(false) }},
		{what: "the workspace is replaced by a link", stage: "while a run goes on", do: func(l *lab) error { return l.moved(true) }},
		{what: "the workspace is renamed and the sidecar killed", stage: "while a run goes on", do: movedAndKilled},
		{what: "the workspace is unmounted (lazily)", stage: "while a run goes on", mounts: true, do: unmounted},
		{what: "the workspace is unmounted", stage: "after its sidecar was stopped", mounts: true, do: unmountedAfter},
	}
}

// sockets is where the sidecars of this lab have theirs.
func (l *lab) sockets() string {
	if dir := filepath.Join(sessions, strconv.Itoa(os.Getuid()), "sidecar"); isFolder(dir) {
		return dir
	}
	return filepath.Join(l.dir, "state/sidecar/run")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// without deletes a folder while a run goes on: another client is served, and the run is answered.
func (l *lab) without(dir string) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := errors.Join(l.begun(s), os.RemoveAll(dir), l.next()); err != nil {
		return err
	}
	l.check("the answer")
	return l.answered(s)
}

// deleted deletes the workspace: the run ends somehow, and a new one of that name is served.
func deleted(l *lab) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := errors.Join(l.begun(s), os.RemoveAll(l.project)); err != nil {
		return err
	}
	_ = await("the end of the sidecar or of the run", func() bool { return !theServer.isThere() || !isOpen(s.done) })
	if err := s.Process.Signal(unix.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) { // nothing tells the program to end
		return err
	}
	if err := errors.Join(l.answeredSomehow(s), os.Mkdir(l.project, 0o755)); err != nil {
		return err
	}
	l.before = map[string]string{".": "d--------- "}
	return nil
}

func isOpen(c chan struct{}) bool {
	select {
	case <-c:
		return false
	default:
		return true
	}
}

// moved gives the workspace another name, and perhaps the old name to a link; the run goes on where it is.
func (l *lab) moved(link bool) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	aside := l.project + ".aside"
	if err := errors.Join(l.begun(s), os.Rename(l.project, aside)); err != nil {
		return err
	}
	if link {
		err = os.Symlink(aside, l.project)
	}
	if err := errors.Join(err, os.WriteFile(filepath.Join(aside, "go"), nil, 0o644)); err != nil {
		return err
	}
	if err := l.answeredSomehow(s); err != nil {
		return err
	}
	is, err := listing(aside)
	if err != nil {
		return err
	}
	if diff := differences(l.before, is); len(diff) > 0 {
		return fmt.Errorf("in the folder that was moved: %s", join(diff))
	}
	if link {
		err = os.Remove(l.project)
	}
	l.check("the answer", "what was moved")
	return errors.Join(err, os.Rename(aside, l.project))
}

// movedAndKilled leaves nobody who knows where the placeholders are now; with the old name they are found.
func movedAndKilled(l *lab) error {
	s, err := l.run()
	if err != nil {
		return err
	}
	aside := l.project + ".aside"
	if err := errors.Join(l.begun(s), os.Rename(l.project, aside), theServer.signal(unix.SIGKILL)); err != nil {
		return err
	}
	return errors.Join(l.answeredSomehow(s), os.Rename(aside, l.project))
}

// unmounted takes the workspace's file system away below a run.
func unmounted(l *lab) error {
	if err := l.small(); err != nil {
		return err
	}
	keep, err := unix.OpenTree(unix.AT_FDCWD, l.project, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	s, err := l.run()
	if err != nil {
		return err
	}
	if err := errors.Join(l.begun(s), l.unmount(l.project)); err != nil {
		return err
	}
	under, err := listing(l.project)
	if err != nil {
		return err
	}
	go_, err := unix.Openat(keep, "go", unix.O_CREAT|unix.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_ = unix.Close(go_)
	if err := l.answeredSomehow(s); err != nil {
		return err
	}
	now, err := listing(l.project)
	if diff := differences(under, now); err == nil && len(diff) > 0 {
		err = fmt.Errorf("in the folder below: %s", join(diff))
	}
	if err != nil {
		return err
	}
	l.check("the answer", "the folder below")
	l.mounted = append(l.mounted, l.project)
	return unix.MoveMount(keep, "", unix.AT_FDCWD, l.project, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// unmountedAfter unmounts it, which a sidecar that serves it refuses by its watch, as an editor would.
func unmountedAfter(l *lab) error {
	if err := errors.Join(l.small(), l.next()); err != nil {
		return err
	}
	if err := unix.Unmount(l.project, 0); !errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("unmounting what is served is not refused as busy: %w", err)
	}
	if out, status, err := l.sidecar("stop"); err != nil || status != 0 {
		return fmt.Errorf("sidecar stop: exit status %d, %s, %w", status, out, err)
	}
	if err := await("unmounting", func() bool { return unix.Unmount(l.project, 0) == nil }); err != nil {
		return err
	}
	l.seen = "busy until `sidecar stop`"
	var err error
	l.mounted = nil
	l.before, err = listing(l.project)
	return err
}
