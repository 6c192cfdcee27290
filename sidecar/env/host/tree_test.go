package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"code.sidecar.dev/sidecar/env"
)

// tree is a fake file system: one entry a line. "x PATH" is a program, "d PATH" a folder, "l PATH TARGET" a
// link, "f PATH TEXT" a file, with \n in its text.
func tree(t *testing.T, lines string) string {
	t.Helper()
	root := t.TempDir()
	for line := range strings.Lines(lines) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, arg, _ := strings.Cut(rest, " ")
		path = filepath.Join(root, strings.ReplaceAll(path, "%20", " "))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch kind {
		case "x":
			err = os.WriteFile(path, []byte("#!/bin/false\n"), 0o755)
		case "d":
			err = os.MkdirAll(path, 0o755)
		case "l":
			err = os.Symlink(arg, path)
		case "f":
			err = os.WriteFile(path, []byte(strings.ReplaceAll(arg, `\n`, "\n")), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// fake is a machine on a tree, with a home and a workspace in it. vars are NAME=VALUE.
func fake(t *testing.T, lines, path string, vars ...string) Machine {
	t.Helper()
	return Machine{Root: tree(t, "d /home/me/ws\n"+lines), Path: path, Home: "/home/me", Dir: "/home/me/ws", Getenv: lookup(vars)}
}

// lookup is a Getenv over NAME=VALUE.
func lookup(vars []string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// summary is what matters of an interpreter, in one line: program, bin, mounts; or the reason why it is missing.
func summary(e env.Environment, language string) string {
	interp, ok := e.Interpreters[language]
	if !ok {
		for _, m := range e.Missing {
			if m.Language.Name == language {
				return "missing: " + m.Hint
			}
		}
		return "neither found nor missing"
	}
	parts := []string{interp.Program, "via " + interp.Via}
	if interp.Bin != "" {
		parts = append(parts, "bin "+interp.Bin)
	}
	for _, m := range interp.Mounts {
		parts = append(parts, "mount "+m.Path)
	}
	return strings.Join(parts, ", ")
}

// findCase is one row of the tables: a tree, and what is found for one language.
type findCase struct {
	name, tree, path, language, want string
	vars                             []string
}

// check runs a table.
func check(t *testing.T, tests []findCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := Find(fake(t, tt.tree, tt.path, tt.vars...))
			if got := summary(e, tt.language); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.language, got, tt.want)
			}
		})
	}
}

// without is the hint for python when nothing of it was found, on an unknown system.
const without = "missing: install python so that it is on PATH"
