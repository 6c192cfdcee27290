package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// form is how values of a type are written that is neither a single value nor a plain list or map.
type form struct {
	// want says what a value looks like, nix is the type's name in nix/settings.nix.
	want, nix string
	// text reads a variable or flag as what a file would have.
	text  func(string) raw
	value func(raw) (reflect.Value, error)
	show  func(reflect.Value) string
}

// forms are all of them, by type.
var forms = map[reflect.Type]form{
	reflect.TypeFor[*Domains](): {
		want:  "a list of domains, or a map from domains to \"*\" or lists of HTTP methods; [] is none",
		nix:   "domains",
		text:  textDomains,
		value: func(r raw) (reflect.Value, error) { return valueOf(readDomains(r)) },
		show:  func(v reflect.Value) string { return v.Interface().(*Domains).String() },
	},
	reflect.TypeFor[Ports](): {
		want: wantPorts, nix: "ports", text: textPorts,
		value: func(r raw) (reflect.Value, error) { return valueOf(readPorts(r)) },
		show:  func(v reflect.Value) string { ports := v.Interface().(Ports); return ports.String() },
	},
	reflect.TypeFor[*Ports](): {
		want: wantPorts, nix: "ports", text: textPorts,
		value: func(r raw) (reflect.Value, error) {
			ports, err := readPorts(r)
			return reflect.ValueOf(&ports), err
		},
		show: func(v reflect.Value) string { return v.Interface().(*Ports).String() },
	},
	reflect.TypeFor[map[string]EnvValue](): {
		want:  "a map of names of environment variables to texts, {file: PATH}, {command: [PROGRAM, ARGUMENT]} or {variable: NAME}",
		nix:   "env",
		text:  func(text string) raw { return raw{shape: mapping, pairs: splitPairs(text)} },
		value: func(r raw) (reflect.Value, error) { return valueOf(readEnv(r)) },
		show:  func(v reflect.Value) string { return showEnv(v.Interface().(map[string]EnvValue)) },
	},
}

const wantPorts = "a list of ports from 1 to 65535, or all"

// unset is what is shown for a value that nobody set and that has no default.
const unset = "unset"

// isNone says whether a variable's text is an empty list.
func isNone(text string) bool { return text == "none" || text == "[]" }

// Ports are TCP ports.
type Ports struct {
	// All is every port; List says which otherwise.
	All  bool
	List []int
}

// String is the ports as a config file has them.
func (p *Ports) String() string {
	switch {
	case p == nil:
		return unset
	case p.All:
		return "all"
	}
	var all []string
	for _, port := range p.List {
		all = append(all, strconv.Itoa(port))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func textPorts(text string) raw {
	if text == "all" || text == "null" {
		return raw{shape: scalar, text: "all"}
	}
	if isNone(text) {
		return raw{shape: list}
	}
	return raw{shape: list, items: splitList(text, ",")}
}

// readPorts takes a list, "all", or a null that somebody wrote: a line that was left unfinished opens nothing.
func readPorts(r raw) (Ports, error) {
	if r.shape == nothing && r.text == "null" || r.shape == scalar && r.text == "all" {
		return Ports{All: true}, nil
	}
	if r.shape != list {
		return Ports{}, errShape
	}
	ports := Ports{List: []int{}}
	for _, item := range r.items {
		port, err := strconv.Atoi(item.text)
		if item.shape != scalar || err != nil || port < 1 || port > 65535 {
			return Ports{}, newItemError(item.line, item.have(), "a port from 1 to 65535")
		}
		ports.List = append(ports.List, port)
	}
	return ports, nil
}

func readEnv(r raw) (map[string]EnvValue, error) {
	if r.shape != mapping {
		return nil, errShape
	}
	all := map[string]EnvValue{}
	for _, p := range r.pairs {
		if err := p.is("variable", p.name); err != nil {
			return nil, err
		}
		value, err := readEnvValue(p)
		if err != nil {
			return nil, err
		}
		all[p.name] = value
	}
	return all, nil
}

// readEnvValue never shows what it had: it may be a secret.
func readEnvValue(p rawPair) (EnvValue, error) {
	wrong := newItemError(p.line, "something else for "+p.name, "a text, {file: PATH}, {command: [PROGRAM, ARGUMENT]} or {variable: NAME}")
	if p.shape == scalar && !strings.ContainsRune(p.text, 0) {
		return EnvValue{Text: p.text}, nil
	}
	if p.shape != mapping || len(p.pairs) != 1 {
		return EnvValue{}, wrong
	}
	source := p.pairs[0]
	switch {
	case source.name == "file" && source.shape == scalar:
		return EnvValue{File: source.text}, source.is("place", source.text)
	case source.name == "variable" && source.shape == scalar:
		return EnvValue{Variable: source.text}, source.is("variable", source.text)
	case source.name == "command" && source.shape == list && len(source.items) > 0:
		argv, err := source.texts("text")
		return EnvValue{Command: argv}, err
	}
	return EnvValue{}, wrong
}

// showEnv leaves out values and the arguments of commands, since either may be a secret.
func showEnv(env map[string]EnvValue) string {
	var pairs []string
	for _, name := range sortedNames(env) {
		pairs = append(pairs, name+": "+env[name].String())
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// String says where the value comes from.
func (v EnvValue) String() string {
	switch {
	case v.File != "":
		return "{file: " + showText(v.File) + "}"
	case v.Variable != "":
		return "{variable: " + showText(v.Variable) + "}"
	case len(v.Command) == 1:
		return "{command: [" + showText(v.Command[0]) + "]}"
	case len(v.Command) > 1:
		return "{command: [" + showText(v.Command[0]) + `, "…"]}`
	}
	return `"…"`
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
