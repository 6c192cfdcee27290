package config

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// SystemFile holds the machine's settings.
const SystemFile = "/etc/sidecar/config.yaml"

// ProjectName is the name of a project's file in the workspace's root.
const ProjectName = ".sidecar.yaml"

// Sources are where settings come from, later ones first asked last. The zero value is the machine's and the
// person's files and the environment of this process.
type Sources struct {
	// System is the machine's file; empty is SystemFile.
	System string
	// User is the person's file; empty is ConfigFile().
	User string
	// Explicit is the file that --config names instead of the person's; it has to exist. The variable
	// SIDECAR_CONFIG means the same, and the flag wins.
	Explicit string
	// Project is the workspace's root; empty is none.
	Project string
	// Env reads an environment variable; nil is os.Getenv. Names are the variables that there are, among which one that looks
	// like a setting and is none is a mistake; nil, with an Env, is not known.
	Env   func(string) string
	Names []string
	// Flags are values by key: {"limits.timeout": "30s"}.
	Flags map[string]string
}

// Load reads all sources. The error is a *protocol.Error that names each mistake; notes are for the person.
func Load(src Sources) (Settings, []Note, error) {
	l := &loader{src: src.complete(), settings: Defaults()}
	l.settings.from = map[string][]origin{}
	l.ownFile(l.src.System, false)
	l.userFile()
	l.projectFile()
	l.environment()
	l.flags()
	l.timeouts()
	l.settings.Protect.Also = union(l.settings.Protect.Also, l.guarded)
	if err := badRequest(l.errs); err != nil {
		return Settings{}, l.notes, err
	}
	return l.settings, l.notes, nil
}

func (src Sources) complete() Sources {
	if src.Env == nil {
		src.Env = os.Getenv
		for _, kv := range os.Environ() {
			name, _, _ := strings.Cut(kv, "=")
			src.Names = append(src.Names, name)
		}
	}
	if src.System == "" {
		src.System = SystemFile
	}
	if src.Explicit == "" {
		src.Explicit = src.Env("SIDECAR_CONFIG")
	}
	if src.User == "" {
		src.User = ConfigFile()
	}
	return src
}

// Person is the file of the person's own settings, which what they allow is written to: what --config or SIDECAR_CONFIG
// names, else User.
func (src Sources) Person() string {
	src = src.complete()
	if src.Explicit != "" {
		return src.Explicit
	}
	return src.User
}

// loader gathers the settings of one Load.
type loader struct {
	src      Sources
	settings Settings
	notes    []Note
	errs     []error
	// guarded are the person's own files in the workspace; nothing that sets protect.also takes them away.
	guarded []string
	project string // its root without links, once it is known
}

func (l *loader) fail(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

func (l *loader) userFile() {
	if l.src.Explicit != "" {
		l.ownFile(l.src.Explicit, true)
		return
	}
	l.ownFile(l.src.User, false)
}

// ownFile applies a file of the person or the machine.
func (l *loader) ownFile(path string, required bool) {
	l.guard(path)
	text, err := readOwn(path)
	if err == nil && text == nil && required {
		err = &Error{File: path, Problem: "no such file; it is what --config or SIDECAR_CONFIG names"}
	}
	l.apply(path, text, err, l.set)
}

// apply hands each entry of a file that was read to set; no text is no file.
func (l *loader) apply(path string, text []byte, err error, set func(field, raw, origin)) {
	if err != nil || text == nil {
		l.fail(err)
		return
	}
	entries, err := document(path, text)
	l.fail(err)
	for _, e := range entries {
		set(e.field, e.raw, origin{path, e.line})
	}
}

// guard protects a file of the person that lies in the workspace, as with a repository of dotfiles, also when it
// does not exist yet: a run that could write it would widen the policy of the next.
func (l *loader) guard(path string) {
	if l.src.Project == "" {
		return
	}
	if l.project == "" {
		l.project = resolve(l.src.Project)
	}
	rel, err := filepath.Rel(l.project, resolve(path))
	if err != nil || !isInside(rel) {
		return
	}
	l.guarded = append(l.guarded, rel)
	l.notes = append(l.notes, Note{File: path, Text: "lies in the workspace; runs cannot change it"})
}

// resolve follows the links of the part of a path that exists, and links to what does not.
func resolve(path string) string {
	for range 40 { // as many as the kernel follows
		real, target := resolveOnce(path)
		if target == "" {
			return real
		}
		path = target
	}
	return path
}

// resolveOnce gives the path without links, or, where one leads nowhere yet, the path that it means.
func resolveOnce(path string) (real, target string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, ""
	}
	for head, tail := path, ""; ; head, tail = filepath.Dir(head), filepath.Join(filepath.Base(head), tail) {
		if real, err := filepath.EvalSymlinks(head); err == nil {
			return filepath.Join(real, tail), ""
		}
		if to, err := os.Readlink(head); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(head), to)
			}
			return "", filepath.Join(to, tail)
		}
		if head == filepath.Dir(head) {
			return path, ""
		}
	}
}

// set applies one value of the person or the machine.
func (l *loader) set(f field, r raw, from origin) {
	v, ok := l.value(f, r, from)
	if !ok {
		return
	}
	origins := []origin{from}
	if f.adds() {
		v, origins = join(f.in(&l.settings), v), append(l.settings.from[f.key], from)
	}
	f.put(&l.settings, v)
	l.settings.from[f.key] = origins
	l.settings.narrowed.undo(f.key)
}

// value reads a value, or records what is wrong with it.
func (l *loader) value(f field, r raw, from origin) (reflect.Value, bool) {
	v, err := f.value(r)
	if err == nil {
		return v, true
	}
	problem := "have " + r.have() + ", want " + f.want()
	var item itemError
	if errors.As(err, &item) {
		problem, from.line = item.Error(), cmp.Or(item.line, from.line)
	}
	l.fail(&Error{File: from.name, Line: from.line, Key: f.key, Problem: problem, Err: err})
	return v, false
}

// adds says that a later source adds to the value: always for maps, and for lists that say so.
func (f field) adds() bool {
	return f.typ.Kind() == reflect.Map || f.tag.Get("merge") == "add"
}

// join is old and what v adds; neither is changed.
func join(old, v reflect.Value) reflect.Value {
	switch add := v.Interface().(type) {
	case []string:
		return reflect.ValueOf(union(old.Interface().([]string), add))
	case map[string]string:
		return reflect.ValueOf(both(old.Interface().(map[string]string), add))
	case map[string]EnvValue:
		return reflect.ValueOf(both(old.Interface().(map[string]EnvValue), add))
	}
	return v
}

// both is a map with the pairs of a and b; those of b win.
func both[V any](a, b map[string]V) map[string]V {
	all := map[string]V{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (l *loader) environment() {
	if len(l.src.Names) > 0 && !slices.ContainsFunc(l.src.Names, func(name string) bool { return strings.HasPrefix(name, variablePrefix) }) {
		return
	}
	for _, name := range slices.Sorted(slices.Values(l.src.Names)) {
		if isUnknownVariable(name) && l.src.Env(name) != "" {
			l.fail(&Error{File: name, Problem: "no such setting", Hint: nearestVariable(name)})
		}
	}
	for _, section := range sortedNames(short) {
		name := variableOf(section)
		if text := l.src.Env(name); text != "" {
			f, _ := lookup(short[section])
			l.set(f, f.rawText(text), origin{name: name})
		}
	}
	for _, f := range schema() {
		if text := l.src.Env(f.variable()); text != "" {
			l.set(f, f.rawText(text), origin{name: f.variable()})
		}
	}
}

func (l *loader) flags() {
	for _, key := range slices.Sorted(maps.Keys(l.src.Flags)) {
		from := origin{name: "flag"}
		f, ok := lookup(key)
		if !ok {
			l.fail(&Error{File: from.name, Key: key, Problem: "no such setting", Hint: nearest(key)})
			continue
		}
		l.set(f, f.rawText(l.src.Flags[key]), from)
	}
}

// timeouts keeps limits.timeout within limits.timeout_max. A lowered maximum lowers the default with it, but a
// timeout that a later, or the same, source asks for beyond the maximum is a mistake.
func (l *loader) timeouts() {
	limits := &l.settings.Limits
	if limits.Timeout <= limits.TimeoutMax {
		return
	}
	asked, most := l.settings.origin("limits.timeout"), l.settings.origin("limits.timeout_max")
	if l.rank(asked) < l.rank(most) {
		limits.Timeout = limits.TimeoutMax
		l.settings.from["limits.timeout"] = []origin{most}
		return
	}
	l.fail(&Error{File: asked.name, Line: asked.line, Key: "limits.timeout",
		Problem: "have " + limits.Timeout.String() + ", want at most limits.timeout_max, " + limits.TimeoutMax.String()})
}

// rank orders origins by precedence.
func (l *loader) rank(o origin) int {
	order := []string{builtin.name, l.src.System, l.src.User, l.src.Explicit, l.projectPath()}
	if i := slices.Index(order, o.name); i >= 0 {
		return i
	}
	if strings.HasPrefix(o.name, "SIDECAR_") {
		return len(order)
	}
	return len(order) + 1
}
