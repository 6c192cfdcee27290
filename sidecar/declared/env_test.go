package declared

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"code.sidecar.dev/sidecar/config"
	"github.com/google/go-cmp/cmp"
)

func environment(t *testing.T, h Host, root, value string, mounts ...Mount) (string, error) {
	t.Helper()
	v := config.EnvValue{}
	kind, text, _ := strings.Cut(value, " ")
	text = strings.ReplaceAll(text, "ROOT", root)
	switch kind {
	case "text":
		v.Text = text
	case "file":
		v.File = text
	case "command":
		v.Command = strings.Fields(text)
	case "variable":
		v.Variable = text
	}
	all, err := Environment(t.Context(), "env", map[string]config.EnvValue{"A": v}, h, mounts, Exec(nil))
	if err != nil {
		return "", errors.New(strings.ReplaceAll(err.Error(), root, "ROOT"))
	}
	return all["A"], nil
}

// script makes a program.
func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	h, root := machine(t, "home/token", "home/rw/", "home/rw/l -> ../.ssh/id", "home/.ssh/id", "home/rw/mine", "home/store/t -> ../token", "bin/", "home/ws/bin/",
		"rel/", "home/rw/bin -> ../../bin", "bin/away -> ../home/ws/bin/planted")
	script(t, root+"/bin/show", `printf 'hunter2 %s\r\n' "$*"`)
	script(t, root+"/bin/twice", `echo a; echo b`)
	script(t, root+"/bin/fails", `echo hunter2; echo hunter2 >&2; exit 3`)
	script(t, root+"/bin/endless", `while :; do echo hunter2hunter2hunter2hunter2hunter2hunter2hunter2; done | head -c 300000`)
	script(t, root+"/home/ws/bin/planted", `echo planted`)
	for name, text := range map[string]string{"long": strings.Repeat("x", maxValue+1), "nul": "a\x00b", "most": strings.Repeat("x", maxValue) + "\n"} {
		if err := os.WriteFile(filepath.Join(root, "home", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"PATH": "rel:" + root + "/home/ws/bin:" + root + "/bin", "TOKEN": "hunter2\n"}
	h.Getenv = func(name string) string { return env[name] }
	mount := Mount{Source: root + "/home/rw", Target: root + "/home/rw", Write: true, Folder: true}
	for value, want := range map[string]string{
		"text a b ":              "a b ",
		"text ":                  "",
		"file ~/token":           "text",
		"file ~/store/t":         "text",
		"file ~/rw/mine":         "text",
		"file ~/most":            strings.Repeat("x", maxValue),
		"variable TOKEN":         "hunter2\n",
		"command show a $HOME ;": "hunter2 a $HOME ;",
		"command ROOT/bin/twice": "a\nb",
		"command ~/../bin/show":  "hunter2 ",
		"file ~/rw/l":            "!env: A: ~/rw/l: the symbolic link ROOT/home/rw/l, which a run may have made, leads to ROOT/home/.ssh/id",
		"file ~/none":            "!env: A: ~/none: does not exist",
		"file ~/.ssh":            "!env: A: ~/.ssh: no regular file (d---------)",
		"file ~/long":            "!env: A: ~/long: more than 131071 bytes",
		"file ~/nul":             "!env: A: ~/nul: a NUL byte, which no variable can hold",
		"file $NONE/x":           "!env: A: $NONE/x: the variable NONE is not set where this was started",
		"variable NONE":          "!env: A: the variable NONE is not set where this was started",
		"command fails":          "!env: A: fails: exit status 3; start it by hand to see why",
		"command endless":        "!env: A: endless: more than 131071 bytes",
		"command nonesuch":       "!env: A: nonesuch: not found on PATH",
		"command planted":        "!env: A: planted: ROOT/home/ws/bin/planted lies where runs write, and would be started outside of the sandbox",
		"command away":           "!env: A: away: ROOT/home/ws/bin/planted lies where runs write, and would be started outside of the sandbox",
		"command ~/rw/bin/show":  "!env: A: ~/rw/bin/show: ROOT/home/rw/bin/show lies where runs write, and would be started outside of the sandbox",
		"command ~/token":        "!env: A: ~/token: ROOT/home/token is no program",
		"command bin/show":       "!env: A: bin/show: a relative path; want an absolute one, or ~, $HOME or another variable at its start",
	} {
		got, err := environment(t, h, root, value, mount)
		if err != nil {
			got = "!" + err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", value, diff)
		}
	}
}

// TestEnvironmentSays all that is wrong at once, and no value.
func TestEnvironmentSays(t *testing.T) {
	h, _ := machine(t)
	_, err := Environment(t.Context(), "profiles.x.env", map[string]config.EnvValue{"B": {Variable: "NONE"}, "A": {File: "~/none"}, "C": {Text: "hunter2"}}, h, nil, nil)
	const want = "profiles.x.env: A: ~/none: does not exist\nprofiles.x.env: B: the variable NONE is not set where this was started"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

// TestCommandEnds: a program that does not end is ended with its time.
func TestCommandEnds(t *testing.T) {
	h, root := machine(t, "bin/")
	script(t, root+"/bin/waits", `exec sleep 1000`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Environment(ctx, "env", map[string]config.EnvValue{"A": {Command: []string{root + "/bin/waits"}}}, h, nil, Exec(nil))
	if err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Error(err)
	}
}
