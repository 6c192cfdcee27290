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

// Explain lists each effective value and where it comes from. Values of variables are left out: they may be
// secrets, and people paste this into reports.
func (s Settings) Explain() string {
	var b strings.Builder
	if s.Network.AllowedDomains == nil {
		s.Network.AllowedDomains = s.narrowed.domains
	}
	for _, f := range slices.Concat(schema(), s.profileFields()) {
		fmt.Fprintf(&b, "%-23s %-14s # %s\n", f.key, show(f.in(&s)), s.origins(f.key))
	}
	return b.String()
}

// origins are all that shaped a value.
func (s Settings) origins(key string) string {
	if len(s.from[key]) == 0 {
		return builtin.String()
	}
	var all []string
	for _, o := range s.from[key] {
		all = append(all, o.String())
	}
	return strings.Join(all, ", ")
}

// origin is the last of them.
func (s Settings) origin(key string) origin {
	if all := s.from[key]; len(all) > 0 {
		return all[len(all)-1]
	}
	return builtin
}

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
