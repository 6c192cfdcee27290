package main

import (
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"

	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/sidecar/setup"
)

// listed is a client as `sidecar setup` shows it.
type listed struct {
	Client  string      `json:"client"`
	Title   string      `json:"title"`
	Found   bool        `json:"found"`
	User    fileOfSetup `json:"user"`
	Project fileOfSetup `json:"project"`
}

// fileOfSetup is one settings file of a client.
type fileOfSetup struct {
	Path string `json:"path,omitempty"`
	// State is what the file has, or empty where there is no such file for the client.
	State setup.State `json:"state,omitempty"`
	// Problem is why it cannot be read.
	Problem string `json:"problem,omitempty"`
}

// list prints all clients.
func (s *setupFlags) list(t terminal) error {
	m := machine()
	root, err := s.here()
	if err != nil || root == m.Home {
		root = ""
	}
	var all []listed
	for _, c := range setup.Clients() {
		one := listed{Client: c.Name, Title: c.Title, Found: c.Installed(m, onPath), User: look(c, c.Path(setup.User, m, ""))}
		if root != "" {
			one.Project = look(c, c.Path(setup.Project, m, root))
		}
		all = append(all, one)
	}
	if s.json {
		return printJSON(t, all)
	}
	_, err = fmt.Fprint(t.out, listText(all))
	return err
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// look says what a file has.
func look(c setup.Client, path string) fileOfSetup {
	if path == "" {
		return fileOfSetup{}
	}
	f, err := setup.Open(path)
	if err != nil {
		return fileOfSetup{Path: path, Problem: err.Error()}
	}
	state, err := c.Starts(f.Text)
	if err != nil {
		return fileOfSetup{Path: path, Problem: fmt.Sprintf("%s:%v", f.Target, err)}
	}
	return fileOfSetup{Path: path, State: state}
}

func listText(all []listed) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "client\there\tyour settings\tthis project's\t")
	var problems []string
	for _, l := range all {
		here := "no"
		if l.Found {
			here = "yes"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", l.Client, here, l.User.word(), l.Project.word())
		for _, f := range []fileOfSetup{l.User, l.Project} {
			if f.Problem != "" {
				problems = append(problems, f.Problem)
			}
		}
	}
	_ = w.Flush()
	for _, p := range problems {
		_, _ = fmt.Fprintln(&b, protocol.OneLine(p))
	}
	names := make([]string, 0, len(setup.Editors()))
	for _, e := range setup.Editors() {
		names = append(names, e.Name)
	}
	_, _ = fmt.Fprintf(&b, "\n`sidecar setup CLIENT` writes the entry; of %s it prints settings of the language server\n", strings.Join(names, ", "))
	return b.String()
}

// word is a file's state, for people.
func (f fileOfSetup) word() string {
	switch {
	case f.Problem != "":
		return "cannot be read"
	case f.State == setup.There:
		return "sidecar"
	case f.State == setup.Off:
		return "switched off"
	case f.State == setup.Other:
		return "another command"
	}
	return "-"
}
