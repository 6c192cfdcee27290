package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/mcp"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/server"
	"code.sidecar.dev/workspace"
)

// What goes where: a program's own output, and what a command was asked for, to stdout; everything that
// sidecar has to say beside it (findings, notes, errors, hints) to stderr, each line after "sidecar: ".
// Hints come on a line of their own. A program's exit status passes through.

// terminal is where a command reads and prints.
type terminal struct {
	in       *os.File
	out, err io.Writer
}

// exitStatus is an error that only carries a program's own exit status: there is nothing to print.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// flags are those of every command.
type flags struct {
	config    string
	workspace string
	verbose   bool
	// hosts are other machines to do the command on, hostProgram is sidecar there.
	hosts       []string
	hostProgram string
	// begun says that the command line was understood: what goes wrong from then on is no matter of --help.
	begun bool
}

// execute runs one command line and gives the exit status.
func execute(ctx context.Context, args []string, t terminal) int {
	f := new(flags)
	root := command(f, t)
	help := &written{to: t.out}
	root.SetArgs(args)
	root.SetOut(help)
	root.SetErr(t.err)
	if c, rest, err := root.Find(args); err == nil && c.Name() == "mcp" {
		if err := mcp.ReplacedFlag(rest); err != nil {
			return status(c.CommandPath(), err, t)
		}
	}
	strict(root)
	c, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !f.begun:
		err = plainly(err)
	case err != nil || help.err != nil:
		err = kinded(cmp.Or(err, help.err))
	}
	return status(c.CommandPath(), err, t)
}

// written takes note of what cobra does not: that its help, or a completion, could not be written.
type written struct {
	to  io.Writer
	err error
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// kinded is an error of a command that ran as one with a kind: what has none is no fault of the command line.
func kinded(err error) error {
	var exit exitStatus
	var kind *protocol.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &exit) || errors.As(err, &kind):
		return err
	case errors.Is(err, context.Canceled):
		return &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled", Err: err}
	case errors.As(err, &path) && path.Path == os.Stdout.Name():
		return &protocol.Error{Kind: protocol.Internal, Message: fmt.Sprintf("the output cannot be written: %v", err), Err: err}
	}
	return &protocol.Error{Kind: protocol.Internal, Message: err.Error(), Err: err}
}

func command(f *flags, t terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "sidecar",
		Short:         "Run an agent's code in the sandbox of your project",
		Version:       shown(version, buildSettings()),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	p := root.PersistentFlags()
	p.StringVar(&f.config, "config", "", "settings `file` in place of the user's own")
	p.StringVarP(&f.workspace, "workspace", "w", "", "project `folder`, in place of the one around the working folder")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "say on stderr what is done")
	p.StringArrayVar(&f.hosts, "host", nil, "do it on another machine: `[USER@]HOST`, through your ssh (docs/hosts.md); of status, may be repeated")
	p.StringVar(&f.hostProgram, "host-program", "", "sidecar on that machine, by its `path` (default: hosts.program, or sidecar on the PATH there)")
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		f.begun = true
		if err := noneEmpty(c); err != nil {
			return err
		}
		return f.elsewhere(c, args, t)
	}
	root.AddCommand(runCommand(f, t), execCommand(f, t), mcpCommand(f, t), lspCommand(f, t), serveCommand(f, t), statusCommand(f, t), runsCommand(f, t), showRunCommand(f, t), rerunCommand(f, t), sessionsCommand(f, t), outputCommand(f, t), logsCommand(f, t),
		cancelCommand(f, t), approveCommand(f, t), worktreeCommand(f, t), stopCommand(f, t), envsCommand(f, t), trustCommand(f, t), gcCommand(f, t), doctorCommand(f, t), workspaceCommand(f, t), configCommand(f, t), setupCommand(f, t), connectCommand(t))
	return root
}

// status prints an error of a command and gives its exit status.
func status(command string, err error, t terminal) int {
	if err == nil {
		return 0
	}
	var exit exitStatus
	if errors.As(err, &exit) {
		return int(exit)
	}
	say(t, err.Error())
	var known *protocol.Error
	if errors.As(err, &known) {
		return known.Kind.ExitStatus()
	}
	say(t, "see "+command+" --help")
	return 64 // what is left are usage errors
}

// settings are those that hold in a project; what is to be known of them is said.
func (f *flags) settings(root string, t terminal) (config.Settings, error) {
	settings, notes, err := config.Load(config.Sources{Explicit: f.config, Project: root})
	if err != nil {
		return settings, &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
	}
	for _, n := range append(notes, sidecar.SettingsNotes(settings)...) {
		say(t, fmt.Sprint(n))
	}
	return settings, nil
}

// engine makes an engine of the settings for a project.
func (f *flags) engine(root string, t terminal) (*sidecar.Engine, error) {
	settings, err := f.settings(root, t)
	if err != nil {
		return nil, err
	}
	h, err := f.history(t)
	if err != nil {
		return nil, err
	}
	return sidecar.New(sidecar.Options{Settings: &settings, Log: f.log(t), History: server.Recording(h), Version: version}), nil
}

func (f *flags) log(t terminal) *slog.Logger {
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: level}))
}

// workingFolder is the source of a project that nobody named.
const workingFolder = "working folder"

// folder is the project's folder: the flag, SIDECAR_WORKSPACE, or the working folder.
func (f *flags) folder() (dir, source string, err error) {
	if f.workspace != "" {
		return f.workspace, "--workspace", nil
	}
	if v := os.Getenv("SIDECAR_WORKSPACE"); v != "" {
		return v, "SIDECAR_WORKSPACE", nil
	}
	if dir, err = os.Getwd(); err != nil {
		err = &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("the working folder: %v", err), Hint: "go to a folder that is there, or name one with --workspace", Err: err}
	}
	return dir, workingFolder, err
}

// around is the project's root, or "" where there is none: that is said where a run needs it.
func (f *flags) around() string {
	dir, _, err := f.folder()
	if err != nil {
		return ""
	}
	root, err := sidecar.Root(dir)
	if err != nil {
		return ""
	}
	return root
}

// project is the project around here, for a program that may write to it; the working folder of the request becomes where the
// person is, if they said nothing else. The bare home folder is none unless it is named: everything in it would be writable.
func (f *flags) project(p *protocol.RunParams) (root, source string, err error) {
	dir, source, err := f.folder()
	if err != nil {
		return "", "", err
	}
	if root, err = sidecar.Root(dir); err != nil {
		return "", "", err
	}
	home, err := os.UserHomeDir()
	if real, missing := filepath.EvalSymlinks(home); err == nil && missing == nil && source == workingFolder && workspace.IsWide(root, real) {
		return "", "", usage("go to a project's folder; if you mean it, name this one with --workspace", root+" would be the project, with your whole home in it, and all of it writable")
	}
	if p.Cwd == "" {
		p.Cwd = sidecar.CwdIn(root)
	}
	return root, source, nil
}
