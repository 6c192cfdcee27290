package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/setup"
	"code.sidecar.dev/workspace/linked"
)

// edit changes the file, and says what it did.
func (s *setupFlags) edit(c setup.Client, path, root string, command setup.Command, t terminal) error {
	if c.Locked && !s.project {
		release, err := setup.Hold(path)
		if err != nil {
			return err
		}
		defer release()
	}
	f, err := setup.Open(path)
	if err != nil {
		return err
	}
	if s.project && !f.Within(root) {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("%s leads out of the project, to %s", path, f.Target), Hint: "remove the link itself: rm " + linked.ShellQuote(linkOn(path, root))}
	}
	change, err := s.change(c, f, command)
	if err != nil {
		return s.refused(c, f, command, err)
	}
	if !change.Changed {
		_, err := fmt.Fprintln(t.out, protocol.OneLine(unchanged(change.State, s.remove, path)))
		return err
	}
	kept, err := keep(c, f)
	if err != nil {
		return fmt.Errorf("keeping what %s was: %w", path, err)
	}
	mode := fs.FileMode(0o600)
	if s.project {
		mode = 0o644
	}
	if err := f.Replace(change.Text, mode); err != nil {
		return s.refused(c, f, command, err)
	}
	s.told(c, path, kept, command.Program, t)
	return nil
}

// linkOn is the first link on the way to a path, below root: what lies beyond it is not the project's to remove.
func linkOn(path, root string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	at := root
	for name := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, name)
		if info, err := os.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return at
		}
	}
	return path
}

func (s *setupFlags) change(c setup.Client, f setup.File, command setup.Command) (setup.Change, error) {
	if s.remove {
		return c.Remove(f.Text, command)
	}
	return c.Add(f.Text, command, s.force)
}

// refused says why a file stays as it is, with what to write by hand.
func (s *setupFlags) refused(c setup.Client, f setup.File, command setup.Command, err error) error {
	name := f.Path
	if f.Target != f.Path {
		name += " (" + f.Target + ")"
	}
	message, hint := fmt.Sprintf("%s is left as it is: %v", name, err), "write it by hand:\n"+c.Render(command)
	var broken *setup.SyntaxError
	switch {
	case errors.Is(err, setup.ErrOther):
		hint = "--force replaces it; what is wanted:\n" + c.Render(command)
	case errors.As(err, &broken):
		message = fmt.Sprintf("%s:%d:%d: %s; the file is left as it is", f.Target, broken.Line, broken.Column, broken.Problem)
		hint = "mend it, or " + hint
	case s.remove:
		hint = "take the entry out by hand"
	}
	return &protocol.Error{Kind: protocol.BadRequest, Message: message, Hint: strings.TrimRight(hint, "\n"), Err: err}
}

func unchanged(state setup.State, removed bool, path string) string {
	switch {
	case removed:
		return "is not there: " + path
	case state == setup.Off:
		return "is there, but switched off (--force writes it anew): " + path
	}
	return "is there already: " + path
}

// keep saves what a file was.
func keep(c setup.Client, f setup.File) (string, error) {
	state, err := config.StateDir()
	if err != nil {
		return "", err
	}
	return f.Backup(filepath.Join(state, "setup"), fmt.Sprintf("%s-%s-%s", c.Name, time.Now().Format("20060102-150405.000"), filepath.Base(f.Target)))
}

// told says what was done, and what is to do.
func (s *setupFlags) told(c setup.Client, path, kept, program string, t terminal) {
	verb := "added to "
	if s.remove {
		verb = "taken out of "
	}
	_, _ = fmt.Fprintln(t.out, protocol.OneLine(verb+path))
	if kept != "" {
		say(t, "what it was: "+kept)
	}
	if s.remove {
		return
	}
	if then := c.Then[s.scope()]; then != "" {
		say(t, c.Title+": "+then)
	}
	if strings.HasPrefix(program, "/nix/store/") {
		say(t, "it starts "+program+", which Nix may collect: install sidecar into a profile, or say --program")
	}
}
