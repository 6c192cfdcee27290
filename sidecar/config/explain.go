package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// builtin is the origin of what nobody set.
var builtin = origin{name: "default"}

// Explained is an effective setting.
type Explained struct {
	// Key is its name in a file: "limits.timeout".
	Key string `json:"key"`
	// Value is as a file would have it, in one line.
	Value string `json:"value"`
	// From are all that shaped it: files with their lines, variables, "default".
	From []string `json:"from"`
	// Variable is the environment variable that sets it; those of profiles have none. Want says what a value looks like.
	Variable string `json:"variable,omitempty"`
	Want     string `json:"want"`
	// Project says that a project's .sidecar.yaml may narrow it.
	Project bool `json:"project"`
}

// Explain lists each effective value and where it comes from. Values of variables are left out: they may be
// secrets, and people paste this into reports.
func (s Settings) Explain() []Explained {
	if s.Network.AllowedDomains == nil {
		s.Network.AllowedDomains = s.narrowed.domains
	}
	var all []Explained
	for _, f := range slices.Concat(schema(), s.profileFields()) {
		all = append(all, Explained{Key: f.key, Value: show(f.in(&s)), From: s.origins(f.key), Variable: f.variable(), Want: f.want(), Project: f.mayNarrow()})
	}
	return all
}

// String is a line for people.
func (e Explained) String() string {
	return fmt.Sprintf("%-23s %-14s # %s", e.Key, e.Value, strings.Join(e.From, ", "))
}

// origins are all that shaped a value.
func (s Settings) origins(key string) (all []string) {
	for _, o := range s.from[key] {
		all = append(all, o.String())
	}
	if len(all) == 0 {
		return []string{builtin.String()}
	}
	return all
}

// origin is the last of them.
func (s Settings) origin(key string) origin {
	if all := s.from[key]; len(all) > 0 {
		return all[len(all)-1]
	}
	return builtin
}

// SetBy is where a setting comes from: a file with its line, a variable.
func (s Settings) SetBy(key string) string { return s.origin(key).String() }

// String is the settings as a config file would have them; values of variables are left out.
func (s Settings) String() string {
	var b strings.Builder
	section := ""
	for _, f := range schema() {
		head, name, _ := strings.Cut(f.key, ".")
		if head != section {
			section = head
			b.WriteString(head + ":\n")
		}
		if text := show(f.in(&s)); text != unset {
			fmt.Fprintf(&b, "  %s: %s\n", name, text)
		}
	}
	s.writeProfiles(&b)
	return b.String()
}

// writeProfiles has what is set in each profile, a line each.
func (s Settings) writeProfiles(b *strings.Builder) {
	if len(s.Profiles) > 0 {
		b.WriteString(profiles + ":\n")
	}
	fields := s.profileFields()
	for _, name := range sortedNames(s.Profiles) {
		b.WriteString("  " + name + ":\n")
		for _, f := range fields {
			if f.profile == name {
				fmt.Fprintf(b, "    %s: %s\n", leaf(f.key), show(f.in(&s)))
			}
		}
	}
}

// show is a value as YAML in one line.
func show(v reflect.Value) string {
	if form, ok := forms[v.Type()]; ok {
		return form.show(v)
	}
	switch x := v.Interface().(type) {
	case string:
		return showText(x)
	case []string:
		quoted := make([]string, 0, len(x))
		for _, item := range x {
			quoted = append(quoted, showText(item))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case map[string]string:
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(x)) {
			pairs = append(pairs, name+`: "…"`)
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

// showText quotes what YAML could take for something else.
func showText(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_-."
	if s != "" && strings.Trim(s, plain) == "" && strings.Trim(s, "-.") != "" {
		return s
	}
	return fmt.Sprintf("%q", s)
}
