package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/remote"
	"code.sidecar.dev/workspace"
)

// onHost says how a command is done on another machine.
type onHost struct {
	// reads has it get standard input, terminal a terminal where this is one.
	reads, terminal bool
	// folder says that it is about a project: without --all, its folder has to be there.
	folder bool
	// protocol says that standard input and output are one: nobody is asked for a password, and the folder is named to it, since
	// what its client says of folders is about this machine.
	protocol bool
	// not is why it is done here only; empty for those that are not.
	not string
}

// onHosts are all commands.
var onHosts = map[string]onHost{
	"run":            {reads: true, folder: true},
	"exec":           {reads: true, terminal: true, folder: true},
	"rerun":          {reads: true, terminal: true},
	"mcp":            {reads: true, folder: true, protocol: true},
	"lsp":            {reads: true, folder: true, protocol: true},
	"approve":        {terminal: true},
	"status":         {},
	"runs":           {folder: true},
	"logs":           {folder: true},
	"show":           {},
	"output":         {},
	"cancel":         {},
	"stop":           {folder: true},
	"envs":           {folder: true},
	"workspace":      {folder: true},
	"config":         {folder: true},
	"sessions":       {folder: true},
	"sessions close": {folder: true},
	"worktree list":  {folder: true},
	"worktree drop":  {folder: true},
	"trust":          {folder: true},
	"trust list":     {},
	"gc":             {},
	"doctor":         {},
	"serve":          {not: "clients start it there by themselves; any command with --host does"},
	"setup":          {not: "it writes settings of this machine's clients; in the entry of one, put --host HOST before mcp"},
	"connect":        {not: "it is what --host starts there"},
}

// elsewhere does a command on another machine, if --host says so. It comes before the command, and ends it then.
func (f *flags) elsewhere(c *cobra.Command, args []string, t terminal) error {
	name := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	how, known := onHosts[name]
	switch {
	case len(f.hosts) == 0 && f.hostProgram != "":
		return usage("name the host with --host", "--host-program is of another machine")
	case len(f.hosts) == 0 || name == "status" && len(f.hosts) > 1:
		return nil
	case len(f.hosts) > 1:
		return usage("name one; only sidecar status takes several", "sidecar "+name+" cannot be done on "+strings.Join(f.hosts, " and ")+" at once")
	case !known || how.not != "":
		return usage(cmp.Or(how.not, "leave --host out"), "sidecar "+name+" is for this machine only, not for --host")
	}
	h, err := f.host(f.hosts[0])
	if err != nil {
		return err
	}
	h.Batch = how.protocol
	start, err := f.startOn(c, args, how)
	if err != nil {
		return err
	}
	start.Args = append(strings.Fields(name), start.Args...)
	status, err := how.perform(c.Context(), h, remote.Call{Start: start, Input: how.input(c, t)}, t)
	if err != nil {
		return err
	}
	return exitStatus(status) // also 0: there is nothing left to do here
}

// host is another machine as the settings have it: the person's own, whatever the project.
func (f *flags) host(name string) (remote.Host, error) {
	h := remote.Host{Name: name, Program: f.hostProgram, Machine: sidecar.Machine(projectHere())}
	if h.Program != "" {
		return h, nil
	}
	settings, err := personal()
	h.Program = settings.Hosts.Program
	return h, err
}

// projectHere is the project of the working folder; what --workspace names is on the other machine. A folder around the home
// is none: the person's own programs lie in it, and where runs wrote there, that is noted.
func projectHere() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	root, err := sidecar.Root(dir)
	if err != nil {
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil && workspace.IsWide(root, resolved(home)) {
		return ""
	}
	return root
}

// personal are the settings of this machine without a project's. --config is a file of the host's.
func personal() (config.Settings, error) {
	settings, _, err := config.Load(config.Sources{})
	if err != nil {
		err = &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
	}
	return settings, err
}

// startOn is the command for the other side: the flags that were given, but for those that say where, and the arguments.
func (f *flags) startOn(c *cobra.Command, args []string, how onHost) (s remote.Start, err error) {
	dir, named, err := f.folderThere()
	if err != nil {
		return s, err
	}
	s = remote.Start{Dir: dir, Named: named || how.protocol, Needed: named || how.folder && !c.Flags().Changed("all")}
	if how.protocol && !named && (dir == "~" || dir == "/") {
		return s, usage("name the project's folder there: --workspace FOLDER", "the working folder "+dir+" is no project")
	}
	c.Flags().Visit(func(fl *pflag.Flag) {
		if fl.Name != "host" && fl.Name != "host-program" && fl.Name != "workspace" && err == nil {
			s.Args, err = appendFlag(s.Args, fl)
		}
	})
	if dash := c.ArgsLenAtDash(); dash >= 0 {
		args = slices.Insert(slices.Clone(args), dash, "--")
	}
	s.Args = append(s.Args, args...)
	return s, err
}

// appendFlag appends a flag as it was given. A variable that is to be passed on is this machine's.
func appendFlag(args []string, fl *pflag.Flag) ([]string, error) {
	values := []string{fl.Value.String()}
	if list, ok := fl.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	if fl.Name == "env" {
		all, err := variables(values)
		if err != nil {
			return nil, err
		}
		values = nil
		for _, name := range slices.Sorted(maps.Keys(all)) {
			values = append(values, name+"="+all[name])
		}
	}
	for _, v := range values {
		args = append(args, "--"+fl.Name+"="+v)
	}
	return args, nil
}

// folderThere is the folder on the other machine: what --workspace or SIDECAR_WORKSPACE names, as it is there, else the one of
// the same path as the working folder here, from the home folder on where that is in it.
func (f *flags) folderThere() (dir string, named bool, err error) {
	dir, source, err := f.folder()
	if err != nil || source != workingFolder {
		return dir, true, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return dir, false, nil
	}
	if rel, err := filepath.Rel(resolved(home), resolved(dir)); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel), false, nil
	}
	return dir, false, nil
}

// resolved is a folder without links on the way, if it can be had.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// input is what the command reads there: from a terminal only as it would here.
func (how onHost) input(c *cobra.Command, t terminal) io.Reader {
	if !how.reads || t.in == nil || c.Name() == "run" && c.ArgsLenAtDash() < 0 && term.IsTerminal(int(t.in.Fd())) {
		return nil
	}
	return t.stdin()
}

// perform does a command there, with this terminal, its signals and its size.
func (how onHost) perform(ctx context.Context, h remote.Host, call remote.Call, t terminal) (int, error) {
	asked := ctx
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // signals are the command's
	defer stop()
	out := &printer{ctx: ctx, stop: stop, t: t}
	passes := &relay{stop: stop, grace: 2 * graceful}
	call.Output, call.Words = out.write, t.err
	call.Begun = func(l *remote.Link) { passes.begins(l) }
	if s, ok := t.screen(); ok && how.terminal {
		s.relay, passes.changed = passes, s.changed
		call.Terminal, call.Input = s.terminal(), s.in
		defer s.close()
		call.Begun = func(l *remote.Link) {
			s.begins()
			passes.begins(l)
			go s.changed(ctx, l) // since its size was asked for
		}
	}
	passes.follow(ctx)
	defer quiet()()
	status, err := h.Do(ctx, call)
	if failed := out.failed(); failed != nil {
		return 0, failed
	}
	var known *protocol.Error
	if errors.As(err, &known) && known.Kind == protocol.Gone && asked.Err() != nil { // a signal for all of a group ends ssh, too
		err = &protocol.Error{Kind: protocol.Cancelled, Message: "cancelled; what " + h.Name + " did for it ends", Err: err}
	}
	return status, err
}

// quiet keeps the modes of the terminal, which ssh has changed if it is ended while it asks for a password.
func quiet() (again func()) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return func() {}
	}
	state, err := term.GetState(int(tty.Fd()))
	return func() {
		defer tty.Close()
		if err == nil && inForeground(tty) {
			_ = term.Restore(int(tty.Fd()), state)
		}
	}
}

func connectCommand(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "connect",
		Short:  "Do what `sidecar --host` asks for from another machine, on standard input and output",
		Args:   noArgs,
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // writing to who is gone is an error like another (os/signal)
			return remote.Serve(c.Context(), t.in, t.out, program)
		},
	}
}
