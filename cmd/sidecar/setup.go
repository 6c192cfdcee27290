package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"code.sidecar.dev/sidecar"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/setup"
)

// setupFlags are those of sidecar setup.
type setupFlags struct {
	*flags
	print, remove, project, force, json bool
	program                             string
}

func setupCommand(f *flags, t terminal) *cobra.Command {
	s := &setupFlags{flags: f}
	c := &cobra.Command{
		Use:   "setup [flags] [CLIENT]",
		Short: "Put sidecar into the settings of an MCP client, or print settings of an editor; without a name, list them",
		Long: `Put sidecar into the settings of an MCP client, or print settings of an editor. Without a name,
list the clients: which are on this machine, and which have sidecar.

Of the file only the entry changes: comments and formatting stay, a link stays a link, and what
was there before is kept in sidecar's state folder. An entry that is there already is left alone,
one that starts something else, too (--force replaces it), and so is a file that cannot be read.`,
		Example:   "  sidecar setup claude\n  sidecar setup codex --project\n  sidecar setup claude-desktop --workspace ~/shop\n  sidecar setup cursor --print\n  sidecar setup zed --remove",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: setupNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			if s.remove && s.print {
				return usage("give one of the two", "--print and --remove")
			}
			if len(args) == 0 && (s.remove || s.print) {
				return usage("name it: "+strings.Join(setupNames(), ", "), "of which client? --print and --remove are of one")
			}
			if len(args) == 0 {
				return s.list(t)
			}
			return s.one(args[0], t)
		},
	}
	fs := c.Flags()
	fs.BoolVar(&s.print, "print", false, "print the entry, and change nothing")
	fs.BoolVar(&s.remove, "remove", false, "take the entry out")
	fs.BoolVar(&s.project, "project", false, "in the settings that belong to the project, for everybody who opens it")
	fs.BoolVar(&s.force, "force", false, "replace an entry that starts something else, or is switched off")
	fs.StringVar(&s.program, "program", "", "what `program` the entry starts, in place of this sidecar")
	fs.BoolVar(&s.json, "json", false, "print the list as JSON")
	return c
}

func setupNames() (names []string) {
	for _, c := range setup.Clients() {
		names = append(names, c.Name)
	}
	for _, e := range setup.Editors() {
		names = append(names, e.Name)
	}
	return names
}

// nearSetup asks whether another name was meant: one that begins alike, or whose program this is.
func nearSetup(name string) string {
	low := strings.ToLower(name)
	for _, c := range setup.Clients() {
		if slices.Contains(c.Programs, low) {
			return "did you mean " + c.Name + "? "
		}
	}
	for _, e := range setup.Editors() {
		if e.Program == low {
			return "did you mean " + e.Name + "? "
		}
	}
	for _, known := range setupNames() {
		if low != "" && (strings.HasPrefix(known, low) || strings.HasPrefix(low, known)) {
			return "did you mean " + known + "? "
		}
	}
	return ""
}

// one does what the flags say for one client.
func (s *setupFlags) one(name string, t terminal) error {
	if e, ok := setup.EditorNamed(name); ok {
		if s.remove || s.project {
			return usage("leave --remove and --project out; the settings belong into: "+e.Where, "of "+e.Title+" settings are printed only: there is nothing to remove, and none of a project")
		}
		say(t, fmt.Sprintf("settings of %s: %s", e.Title, e.Where))
		_, err := fmt.Fprint(t.out, e.Settings())
		return err
	}
	if _, err := exec.LookPath(s.program); s.program != "" && !s.remove && err != nil {
		return usage("give the path of sidecar, or its name on the PATH", fmt.Sprintf("--program: %v", err))
	}
	c, ok := setup.Named(name)
	if !ok {
		return &protocol.Error{Kind: protocol.BadRequest, Message: fmt.Sprintf("no client is called %q", name), Hint: nearSetup(name) + "there are " + strings.Join(setupNames(), ", ")}
	}
	root, err := s.projectOf(c)
	if err != nil {
		return err
	}
	path := c.Path(s.scope(), machine(), root)
	if path == "" {
		return &protocol.Error{Kind: protocol.BadRequest, Message: c.Title + " has no settings of a project", Hint: "leave --project out"}
	}
	command := s.command(c, root)
	if s.print {
		say(t, fmt.Sprintf("for %s: %s", c.Title, path))
		_, err := fmt.Fprint(t.out, c.Render(command))
		return err
	}
	return s.edit(c, path, root, command, t)
}

func (s *setupFlags) scope() setup.Scope {
	if s.project {
		return setup.Project
	}
	return setup.User
}

// projectOf is the project's root where it matters: it holds the settings, or the client has to be told of it.
func (s *setupFlags) projectOf(c setup.Client) (string, error) {
	if s.project || c.Folderless && !s.remove || s.workspace != "" {
		return s.here()
	}
	return "", nil
}

// command is what an entry starts. A person's own has the whole path, since programs that a desktop starts have another
// PATH than a terminal; in a project's it is the name, which everybody has.
func (s *setupFlags) command(c setup.Client, root string) setup.Command {
	program := s.program
	switch {
	case program != "":
	case s.project:
		program = setup.Name
	default:
		program = ownPath()
	}
	args := []string{"mcp"}
	if root != "" && !s.project {
		args = append(args, "--workspace", root)
	}
	return setup.Command{Program: program, Args: args, Same: func(other string) bool { return sameProgram(other, program) }}
}

// ownPath is where PATH has this program, which stays when it is updated; else where it is.
func ownPath() string {
	own, err := os.Executable()
	if err != nil {
		return setup.Name
	}
	if found, ok := host.Tool(sidecar.Machine(projectHere()), setup.Name); ok && sameProgram(found, own) { // a run's link might lead elsewhere later
		return found
	}
	return own
}

func sameProgram(a, b string) bool {
	first, err := exec.LookPath(a)
	if err != nil {
		return false
	}
	second, err := exec.LookPath(b)
	if err != nil {
		return false
	}
	one, err := os.Stat(first)
	if err != nil {
		return false
	}
	two, err := os.Stat(second)
	return err == nil && os.SameFile(one, two)
}

func machine() setup.Machine {
	home, _ := os.UserHomeDir() // main made sure that there is one
	return setup.Machine{OS: runtime.GOOS, Home: home, Env: os.Getenv, Exists: func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}}
}
