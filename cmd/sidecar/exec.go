package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/client"
	"code.sidecar.dev/sidecar/protocol"
)

// execFlags are those of sidecar exec: what a person lets the program see and reach.
type execFlags struct {
	*flags
	allow       protocol.Allowance
	policy      string
	environment string
	packages    []string
	cwd         string
	worktree    string
	base        string
	env         []string
	envFile     string
	domains     []string
	ports       []string
	noDomains   bool
	timeout     time.Duration
	noTerminal  bool
	dryRun      bool
	json        bool
}

func execCommand(f *flags, t terminal) *cobra.Command {
	x := &execFlags{flags: f}
	c := &cobra.Command{
		Use:   "exec [flags] [--] PROGRAM [ARGS…]",
		Short: "Run a program, such as an agent, with a terminal in the project's sandbox",
		Long: `Run a program, such as an agent, with a terminal in the project's sandbox.

The project is writable, except what the host would later execute or obey. The home folder
is empty (or, with a profile, one of its own that is kept), and of the machine the program
sees its system, and what is named here or in the settings. It reaches the internet, but no
service of this machine, unless the settings or flags say otherwise.

Profiles say what an agent needs: see profiles in the settings. Ready ones are there for
well-known agents: sidecar exec --profile claude.`,
		Example: "  sidecar exec -- bash\n  sidecar exec --profile claude\n  sidecar exec --worktree fix-login --profile claude\n  sidecar exec --allow-domain github.com=GET,HEAD --allow-domain api.anthropic.com -- claude",
		RunE:    func(c *cobra.Command, args []string) error { return x.run(c.Context(), c, args, t) },
	}
	fs := c.Flags()
	fs.SetInterspersed(false)
	fs.StringVar(&x.allow.Profile, "profile", "", "the `name` of a profile")
	fs.StringVar(&x.policy, "policy", "", "the `file` of a profile, as YAML or JSON, in place of --profile")
	fs.StringVar(&x.allow.Home, "home", "", "what `kind` of home folder: empty, or kept (one of the profile's own)")
	fs.StringArrayVar(&x.allow.RWDirs, "rw-dir", nil, "a `folder` that the program may read and write (may be repeated)")
	fs.StringArrayVar(&x.allow.RWFiles, "rw-file", nil, "a `file` that it may read and write")
	fs.StringArrayVar(&x.allow.RODirs, "ro-dir", nil, "a `folder` that it may read")
	fs.StringArrayVar(&x.allow.ROFiles, "ro-file", nil, "a `file` that it may read")
	fs.StringVar(&x.allow.Network, "network", "", "what `kind` of network when no domains are named: open, or none")
	fs.StringArrayVar(&x.domains, "allow-domain", nil, "a `name` that it may reach, with all below it: example.com, or example.com=GET,HEAD (may be repeated)")
	fs.BoolVar(&x.noDomains, "no-domains", false, "it may reach no name")
	fs.StringArrayVar(&x.ports, "allow-port", nil, "a TCP `port` of this machine that it may reach, or all (may be repeated)")
	fs.StringArrayVar(&x.allow.Sockets, "allow-socket", nil, "a unix socket of this machine, by its `path`")
	fs.BoolVar(&x.allow.Nix, "allow-nix", false, "let nix itself work inside")
	fs.StringVar(&x.environment, "environment", "", "run in the environment with this `id` (see sidecar envs)")
	fs.StringArrayVarP(&x.packages, "package", "p", nil, "have Nix give it a `package` of nixpkgs (may be repeated)")
	fs.StringVar(&x.cwd, "cwd", "", "working `folder`, inside the project (default: where you are)")
	fs.StringVar(&x.worktree, "worktree", "", "work in a linked worktree of this `name`, on a branch of its own; made when it is not there")
	fs.StringVar(&x.base, "base", "", "with --worktree: the `commit` or branch that it starts from (default: HEAD)")
	fs.StringArrayVar(&x.env, "env", nil, "set a `NAME=VALUE`, or pass NAME from here (may be repeated)")
	fs.StringVar(&x.envFile, "env-file", "", "set the variables of a `file`: NAME=VALUE, each ended by a NUL byte")
	stretchVar(fs, &x.timeout, "timeout", 0, "end it after this `time`")
	fs.BoolVar(&x.noTerminal, "no-terminal", false, "give it pipes, also when this is a terminal")
	fs.BoolVar(&x.dryRun, "dry-run", false, "print the policy, or with --json the whole plan, and run nothing")
	fs.BoolVar(&x.json, "json", false, "with --dry-run: print JSON")
	completeFlag(c, "profile", f.profileNames)
	completeFlag(c, "worktree", f.worktreeNames)
	return c
}

func (x *execFlags) run(ctx context.Context, c *cobra.Command, args []string, t terminal) error {
	req, err := x.request(c, args)
	if err != nil {
		return err
	}
	root, _, err := x.project(&req.RunParams)
	if err == nil {
		err = x.readPolicy(root)
	}
	if err != nil {
		return err
	}
	if x.worktree == "" && x.base != "" {
		return usage("name the worktree with --worktree", "--base is of a worktree")
	}
	if x.dryRun {
		return x.plan(ctx, root, req, t)
	}
	if x.worktree != "" {
		w, err := x.begin(ctx, root, x.worktree, x.base, t)
		if err != nil {
			return err
		}
		defer w.finish(context.WithoutCancel(ctx), x.worktree, t)
		root, req.Cwd = w.tree.Path, x.cwd
	}
	result, err := x.session(ctx, root, req, t)
	if err != nil {
		return err
	}
	report(t, result)
	if status := result.ExitStatus(); status != 0 || result.Limit != "" {
		return exitStatus(status)
	}
	return nil
}

// plan shows what the session would be. A worktree that is to be made is none yet, and nothing can be said of it.
func (x *execFlags) plan(ctx context.Context, root string, req protocol.RunRequest, t terminal) error {
	if x.worktree != "" {
		path, err := x.treePath(root, t)
		if err != nil {
			return err
		}
		root, req.Cwd = path, x.cwd
	}
	e, err := x.engine(root, t)
	if err != nil {
		return err
	}
	defer e.Close()
	return showPlan(ctx, e, sidecar.Request{Dir: root, Params: req.RunParams, Ask: sidecar.Ask{Session: true, Allow: req.Allow, Terminal: req.Terminal}}, x.json, t)
}

// treePath is where the worktree lies that --worktree names.
func (x *execFlags) treePath(root string, t terminal) (string, error) {
	e, err := x.engine(root, t)
	if err != nil {
		return "", err
	}
	defer e.Close()
	trees, err := e.Worktrees(root)
	if err != nil {
		return "", err
	}
	tree, err := trees.Find(x.worktree)
	if err != nil {
		return "", sidecar.WorktreeError(err)
	}
	return tree.Path, nil
}

// request is what the sidecar is asked for.
func (x *execFlags) request(c *cobra.Command, args []string) (protocol.RunRequest, error) {
	p := protocol.RunParams{Command: args, Cwd: x.cwd, Timeout: protocol.Duration(x.timeout), Client: "terminal", Environment: x.environment, Packages: x.packages}
	if len(args) == 0 && x.allow.Profile == "" && x.policy == "" {
		return protocol.RunRequest{}, usage("give a program and its arguments, or a profile that has one", "nothing to run")
	}
	var err error
	if p.Env, err = variables(x.env); err != nil {
		return protocol.RunRequest{}, err
	}
	if x.envFile != "" {
		if err = readVariables(x.envFile, x.around(), p.Env); err != nil {
			return protocol.RunRequest{}, err
		}
	}
	if err = x.allowance(); err != nil {
		return protocol.RunRequest{}, err
	}
	return protocol.RunRequest{RunParams: p, Session: true, Allow: &x.allow}, nil
}

// allowance reads the flags that are lists of their own kind. Paths are as from here.
func (x *execFlags) allowance() error {
	for _, list := range [][]string{x.allow.RWDirs, x.allow.RWFiles, x.allow.RODirs, x.allow.ROFiles, x.allow.Sockets} {
		for i, path := range list {
			if strings.HasPrefix(path, "~") || strings.HasPrefix(path, "$") {
				continue // expanded when it starts
			}
			abs, err := filepath.Abs(path)
			if err != nil {
				return usage("give an absolute path", fmt.Sprintf("%q: %v", path, err))
			}
			list[i] = abs
		}
	}
	if err := x.words(); err != nil {
		return err
	}
	if x.noDomains || len(x.domains) > 0 {
		x.allow.AllowedDomains = map[string][]string{}
	}
	for _, d := range x.domains {
		name, methods, limited := strings.Cut(d, "=")
		if _, twice := x.allow.AllowedDomains[name]; twice {
			return usage("name it once, with all of its methods", fmt.Sprintf("--allow-domain names %q twice", name))
		}
		x.allow.AllowedDomains[name] = nil
		if limited {
			x.allow.AllowedDomains[name] = strings.FieldsFunc(methods, func(r rune) bool { return r == ',' || r == '|' })
		}
	}
	for _, port := range x.ports {
		if port == "all" {
			x.allow.AllPorts = true
			continue
		}
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 {
			return usage("give a number from 1 to 65535, or all", fmt.Sprintf("--allow-port %q is no port", port))
		}
		x.allow.AllowedPorts = append(x.allow.AllowedPorts, n)
	}
	return nil
}

// words refuses words that are none, and flags that contradict each other.
func (x *execFlags) words() error {
	home, network := x.allow.Home, x.allow.Network
	switch {
	case home != "" && home != "kept" && home != "empty":
		return usage("", fmt.Sprintf("--home: have %q, want kept or empty", home))
	case network != "" && network != "open" && network != "none":
		return usage("", fmt.Sprintf("--network: have %q, want open or none", network))
	case x.noDomains && len(x.domains) > 0:
		return usage("give one of the two", "--no-domains and --allow-domain "+x.domains[0])
	case network == "none" && len(x.domains) > 0:
		return usage("give one of the two", "--network none and --allow-domain "+x.domains[0])
	case x.json && !x.dryRun:
		return usage("add --dry-run, or leave --json out", "--json is of --dry-run: the output is the program's own")
	}
	return nil
}

// session has the project's sidecar run the program, on the terminal if this is one.
func (x *execFlags) session(ctx context.Context, root string, req protocol.RunRequest, t terminal) (protocol.RunResult, error) {
	pool := client.NewPool(x.as("terminal", t))
	defer pool.Close()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // signals are the program's
	defer stop()
	out := &printer{ctx: ctx, stop: stop, t: t}
	passes := &relay{stop: stop}
	watch := client.Watch{Output: out.write, Building: tellBuilding(t), Begun: func(r client.Reach) { passes.begins(r) }}
	stdin := t.stdin()
	if s, ok := t.screen(); ok && !x.noTerminal {
		s.relay, passes.changed = passes, s.changed
		req.Terminal, stdin = s.terminal(), s.in
		defer s.close()
		watch.Begun = func(r client.Reach) {
			s.begins()
			passes.begins(r)
			go s.changed(ctx, r) // since its size was asked for
		}
		watch.Stopped = func(string) { go s.suspend(ctx) }
	}
	passes.follow(ctx)
	result, err := pool.Run(ctx, root, req, stdin, watch)
	if failed := out.failed(); failed != nil {
		return result, failed
	}
	return result, err
}

// stdin is what a program reads that has no terminal; nil is nothing.
func (t terminal) stdin() io.Reader {
	if t.in == nil || isNothing(t.in) || term.IsTerminal(int(t.in.Fd())) && !inForeground(t.in) {
		return nil
	}
	return t.in
}

// isNothing says that a file is the null device, of which a container may have its own, or was closed.
func isNothing(f *os.File) bool {
	var is, null unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &is); err != nil {
		return true
	}
	return unix.Stat(os.DevNull, &null) == nil && is.Mode&unix.S_IFMT == unix.S_IFCHR && is.Rdev == null.Rdev
}
