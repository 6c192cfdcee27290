package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Request is one call: code, and what is to be so from this call on.
type Request struct {
	Code string
	// Args are the code's arguments.
	Args []string
	// Dir is a folder to go to; "" stays where the call before has gone.
	Dir string
	// Env are variables to set.
	Env map[string]string
	// Input says that the call has a standard input; else that is empty.
	Input bool
}

// number is a call's number and word, and the name of the pipes that it prints into.
type number struct {
	n     int
	word  string
	pipes string
}

// object is a request as one line of JSON.
func object(id number, r Request) (line []byte, files map[string][]byte, err error) {
	line, err = json.Marshal(map[string]any{"n": id.n, "word": id.word, "pipes": id.pipes, "args": orEmpty(r.Args), "dir": r.Dir, "env": r.Env, "input": r.Input})
	return append(line, '\n'), nil, err
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// fields is a request as one line of fields, for who has no reader of JSON without loading one, which the code would see: the
// folder, how many arguments there are, they, and names and values of variables, each as a dot and hexadecimal digits.
func fields(id number, r Request) (line []byte, files map[string][]byte, err error) {
	input := "-"
	if r.Input {
		input = "in"
	}
	line = fmt.Appendf(nil, "%d %s %s %s %d .%x", id.n, id.word, id.pipes, input, len(r.Args), r.Dir)
	for _, a := range r.Args {
		line = fmt.Appendf(line, " .%x", a)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		line = fmt.Appendf(line, " .%x .%x", name, r.Env[name])
	}
	return append(line, '\n'), nil, nil
}

// settingsSuffix is of the file that has a shell's settings of a call.
const settingsSuffix = ".set"

// script is a request for a shell, which reads no JSON: files that it sources, and a line of words.
func script(id number, r Request) (line []byte, files map[string][]byte, err error) {
	input := "-"
	if r.Input {
		input = "in"
	}
	check := "-"
	if strings.Contains(r.Code, "set -") {
		check = "check"
	}
	var set bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		fmt.Fprintf(&set, "export %s=%s\n", name, quote(r.Env[name]))
	}
	if r.Dir != "" {
		fmt.Fprintf(&set, "builtin cd -- %s\n", quote(r.Dir))
	}
	if set.Len() == 0 && len(r.Args) == 0 {
		return fmt.Appendf(nil, "%d %s %s %s %s -\n", id.n, id.word, id.pipes, input, check), nil, nil
	}
	set.WriteString("set --")
	for _, a := range r.Args {
		set.WriteString(" " + quote(a))
	}
	set.WriteString("\n")
	return fmt.Appendf(nil, "%d %s %s %s %s set\n", id.n, id.word, id.pipes, input, check), map[string][]byte{fmt.Sprint(id.n) + settingsSuffix: set.Bytes()}, nil
}

// quote is a word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
