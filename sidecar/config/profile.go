package config

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Profile is how a program is started: what it sees beside the workspace, its variables, and what it may reach. A zero
// field is as the other settings say.
type Profile struct {
	// Command is the program with its arguments, for when none is given.
	Command []string `yaml:"command" each:"text"`
	// Home is "empty" (default), gone after the session, or "kept": a home of the profile's own, which its next sessions
	// find as this one left it.
	Home string `yaml:"home" oneof:"kept,empty"`
	// RWDirs are folders of the host that the program may change, RWFiles files, beside those of the section `files`.
	RWDirs  []string `yaml:"rw_dirs" each:"place"`
	RWFiles []string `yaml:"rw_files" each:"place"`
	// RODirs are folders of the host that the program may read, ROFiles files.
	RODirs  []string `yaml:"ro_dirs" each:"place"`
	ROFiles []string `yaml:"ro_files" each:"place"`
	// Env are variables: each a text, or where its value is read when the program starts: {file: PATH}, {command: [PROGRAM,
	// ARGUMENT]} or {variable: NAME}. The program that is named runs outside of the sandbox.
	Env map[string]EnvValue `yaml:"env" each:"variable"`
	// Pass are names of variables to copy from the host where it has them.
	Pass []string `yaml:"pass" each:"variable"`
	// Environment is the id of an environment, Packages are packages of Nix.
	Environment string   `yaml:"environment" each:"text"`
	Packages    []string `yaml:"packages" each:"text"`
	// Network is "open" or "none", in place of `network.exec`.
	Network string `yaml:"network" oneof:"open,none"`
	// AllowedDomains and AllowedPorts stand in the place of those of the section `network`.
	AllowedDomains *Domains `yaml:"allowed_domains"`
	AllowedPorts   *Ports   `yaml:"allowed_ports"`
	// Sockets are unix sockets of the host, beside those of `network.sockets`.
	Sockets []string `yaml:"sockets" each:"place"`
	// AllowNix lets the program use the machine's Nix: it sees the whole store, and asks the daemon, whose fetches no list of
	// names filters.
	AllowNix bool `yaml:"allow_nix"`
	// Memory and Processes stand in the place of `limits.memory` and `limits.processes`.
	Memory    Size `yaml:"memory" min:"16MiB" max:"1024TiB"`
	Processes int  `yaml:"processes" min:"1" max:"4194304"`
}

// EnvValue is the value of a variable, or where it is read: at most one field is set. Only Text is the value itself.
type EnvValue struct {
	Text string
	// File holds the value; a newline at its end is no part of it.
	File string
	// Command is a program with its arguments that prints the value. No shell is asked.
	Command []string
	// Variable is a variable of the host.
	Variable string
}

// profiles is the section of sections.
const profiles = "profiles"

// profileSchema is every setting of a profile; the keys are those inside it.
var profileSchema = sync.OnceValue(func() []field {
	return fieldsOf(reflect.TypeFor[Profile](), "", nil)
})

// inProfile splits "profiles.NAME.REST"; rest is empty for the profile itself.
func inProfile(key string) (name, rest string, ok bool) {
	inside, ok := strings.CutPrefix(key, profiles+".")
	name, rest, _ = strings.Cut(inside, ".")
	return name, rest, ok && isName(name)
}

// whole is a profile as one field, which an empty section sets.
func whole(key string) (field, bool) {
	name, rest, ok := inProfile(key)
	return field{key: key, profile: name, typ: reflect.TypeFor[Profile]()}, ok && rest == ""
}

// lookupProfile finds the setting of a key in a profile.
func lookupProfile(key string) (field, bool) {
	name, rest, ok := inProfile(key)
	all := profileSchema()
	i := slices.IndexFunc(all, func(f field) bool { return f.key == rest })
	if !ok || i < 0 {
		return field{}, false
	}
	return all[i].of(name), true
}

// of is a field of a profile's schema in the profile of a name.
func (f field) of(name string) field {
	f.profile, f.key = name, profiles+"."+name+"."+f.key
	return f
}

// profileIn is a copy of the field's profile.
func (f field) profileIn(s *Settings) reflect.Value {
	p := s.Profiles[f.profile]
	return reflect.ValueOf(&p).Elem()
}

// putProfile sets the field in its profile, or makes the profile where the field is the whole of it.
func (f field) putProfile(s *Settings, v reflect.Value) {
	p := f.profileIn(s)
	if f.index != nil {
		p.FieldByIndex(f.index).Set(v)
	}
	s.Profiles = both(s.Profiles, map[string]Profile{f.profile: p.Interface().(Profile)})
}

// profileFields are the settings that somebody set in profiles, by name.
func (s Settings) profileFields() []field {
	var all []field
	for _, name := range sortedNames(s.Profiles) {
		for _, f := range profileSchema() {
			if f = f.of(name); s.isSet(f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// isSet says whether somebody set the field. Settings that were not loaded are set where they are not zero.
func (s Settings) isSet(f field) bool {
	return len(s.from[f.key]) > 0 || !f.in(&s).IsZero()
}
