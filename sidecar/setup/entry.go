package setup

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
)

// Command is what starts the server.
type Command struct {
	Program string
	Args    []string
	// Same says that a program that an entry names is this one under another name, as sidecar on PATH is; nil for
	// never.
	Same func(program string) bool
}

// field is one line of an entry: a string or strings.
type field struct {
	name  string
	value any
	// usual says that clients take the value when there is none.
	usual bool
}

// entry is an entry's fields, in the order in which they are written.
type entry []field

// apart is the command with its arguments beside it, as most clients have it.
func apart(c Command) entry {
	return entry{{name: "command", value: c.Program}, {name: "args", value: c.Args}}
}

// typed is the same with the kind of the server.
func typed(c Command) entry {
	return append(entry{{name: "type", value: "stdio", usual: true}}, apart(c)...)
}

// together is the command with its arguments in one list (opencode).
func together(c Command) entry {
	return entry{{name: "type", value: "local"}, {name: "command", value: append([]string{c.Program}, c.Args...)}}
}

// state compares what a file has with what is wanted. Fields beside the wanted ones are the person's own.
func state(have any, want entry, c Command) State {
	if have == nil {
		return Absent
	}
	fields, ok := have.(map[string]any)
	if !ok {
		return Other
	}
	for _, f := range want {
		had, ok := fields[f.name]
		if (ok || !f.usual) && !reflect.DeepEqual(renamed(had, c), plain(f.value)) {
			return Other
		}
	}
	return switched(fields)
}

func switched(fields map[string]any) State {
	if fields["enabled"] == false || fields["disabled"] == true {
		return Off
	}
	return There
}

// starts says whether an entry is of `sidecar mcp`, in one list or in two fields.
func starts(have any) State {
	if have == nil {
		return Absent
	}
	fields, _ := have.(map[string]any)
	line, ok := fields["command"].([]any)
	if !ok || len(line) == 0 {
		args, _ := fields["args"].([]any)
		line = append([]any{fields["command"]}, args...)
	}
	program, _ := line[0].(string)
	if len(line) < 2 || filepath.Base(program) != Name || line[1] != "mcp" {
		return Other
	}
	return switched(fields)
}

// renamed is a value in which another name of the program is replaced by the wanted one.
func renamed(v any, c Command) any {
	same := func(v any) bool {
		name, ok := v.(string)
		return ok && c.Same != nil && filepath.Base(name) == filepath.Base(c.Program) && c.Same(name)
	}
	if same(v) {
		return c.Program
	}
	if list, ok := v.([]any); ok && len(list) > 0 && same(list[0]) {
		return append([]any{c.Program}, list[1:]...)
	}
	return v
}

// plain is a value as a parser gives it.
func plain(v any) any {
	list, ok := v.([]string)
	if !ok {
		return v
	}
	all := make([]any, 0, len(list))
	for _, s := range list {
		all = append(all, s)
	}
	return all
}

// quoted is a string or strings as JSON has them, which TOML shares.
func quoted(v any) string {
	list, ok := v.([]string)
	if !ok {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // a string always can be
		return string(bytes.TrimSpace(b.Bytes()))
	}
	text := "["
	for i, s := range list {
		if i > 0 {
			text += ", "
		}
		text += quoted(s)
	}
	return text + "]"
}

// at is the value at a path, or nil.
func at(all map[string]any, path []string) any {
	var v any = all
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// sameBut says that two files say the same, but for what is at the path of two; a table that holds nothing else may
// have come or gone with it.
func sameBut(a, b map[string]any, path []string) bool {
	return reflect.DeepEqual(without(a, path), without(b, path))
}

func without(all map[string]any, path []string) map[string]any {
	left := maps.Clone(all)
	table, ok := left[path[0]].(map[string]any)
	if !ok {
		return left
	}
	table = maps.Clone(table)
	delete(table, path[1])
	left[path[0]] = table
	if len(table) == 0 {
		delete(left, path[0])
	}
	return left
}
