package sidecar

import (
	"cmp"
	"os"
	"slices"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/env"
	"code.sidecar.dev/sidecar/env/host"
	"code.sidecar.dev/sidecar/protocol"
)

// Ask is what a request has beside its parameters: what only a person's own programs may ask for.
type Ask struct {
	// Terminal, Session and Allow are as in protocol.RunRequest.
	Terminal *protocol.Terminal
	Session  bool
	Allow    *protocol.Allowance

	// calls is the folder of the calls of a named session, whose interpreter the run is; "" is none.
	calls string
}

// terminal is the policy's terminal. A size of nothing, as of a terminal that does not know its own, is the usual one.
func (a Ask) terminal() *sandbox.Terminal {
	t := a.Terminal
	if t == nil {
		return nil
	}
	if t.Rows <= 0 || t.Columns <= 0 || t.Rows > maxSize || t.Columns > maxSize {
		return &sandbox.Terminal{Rows: 24, Columns: 80}
	}
	return &sandbox.Terminal{Rows: t.Rows, Columns: t.Columns}
}

// maxSize is a terminal's largest number of rows or columns (struct winsize has 16 bits).
const maxSize = 1<<16 - 1

// variables are what a session of a person has otherwise than a run: who sits before it can answer, and page.
func (a Ask) variables(vars map[string]string, e env.Environment) {
	if a.Session {
		vars["SHELL"] = shell(e)
	}
	if a.Terminal == nil {
		return
	}
	for _, name := range []string{"GIT_TERMINAL_PROMPT", "GIT_PAGER", "PAGER"} {
		delete(vars, name)
	}
	vars["TERM"] = a.Terminal.Term
	if vars["TERM"] == "" {
		vars["TERM"] = "xterm"
	}
	if a.Terminal.Color != "" {
		vars["COLORTERM"] = a.Terminal.Color
	}
}

// shell is the shell that programs start for a person.
func shell(e env.Environment) string {
	if e.Store != nil {
		return cmp.Or(programOf(e, "bash"), "/bin/sh")
	}
	if _, err := os.Stat("/usr/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

// bounds are the run's limits: a session lasts and prints as long as it likes, unless its request says otherwise.
func (a Ask) bounds(l *sandbox.Limits, p protocol.RunParams) {
	if a.calls != "" { // each call has its own
		l.Output, l.Time = 0, 0
		return
	}
	if !a.Session {
		return
	}
	l.Output = 0
	if p.Timeout == 0 {
		l.Time = 0
	}
}

// located finds a session's program in the person's own PATH: an agent is seldom installed below /usr.
func (j *job) located(name string) (string, error) {
	if j.env.Store != nil || !j.Session {
		return "", os.ErrNotExist
	}
	p, err := host.Locate(j.machine, name)
	if err != nil {
		return "", err
	}
	j.env.Mounts = append(slices.Clone(j.env.Mounts), p.Mounts...)
	if p.Bin != "" && !slices.Contains(j.env.Path, p.Bin) {
		j.env.Path = append([]string{p.Bin}, j.env.Path...)
	}
	return p.Path, nil
}

// machine is this machine as the client sees it, for the workspace at root.
func (e *Engine) machine(root string) host.Machine {
	path := e.settings.Host.Path
	if path == "" {
		path = e.getenv("PATH")
	}
	m := e.programs(root)
	m.Path = path
	return m
}
