package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// field is one setting: its key ("limits.timeout"), where it lies in Settings, or in the profile of a name, and what its
// tags say.
type field struct {
	key     string
	profile string
	index   []int
	typ     reflect.Type
	tag     reflect.StructTag
}

// schema is every setting, in the order of the struct.
var schema = sync.OnceValue(func() []field {
	return fieldsOf(reflect.TypeFor[Settings](), "", nil)
})

// fieldsOf walks a struct; fields without a yaml name are not settings.
func fieldsOf(t reflect.Type, prefix string, index []int) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		at := append(slices.Clone(index), i)
		if name == profiles {
			continue // a section of sections, with profileSchema
		}
		if _, ok := forms[f.Type]; !ok && f.Type.Kind() == reflect.Struct {
			all = append(all, fieldsOf(f.Type, prefix+name+".", at)...)
			continue
		}
		all = append(all, field{key: prefix + name, index: at, typ: f.Type, tag: f.Tag})
	}
	return all
}

// lookup finds the setting of a key.
func lookup(key string) (field, bool) {
	if strings.HasPrefix(key, profiles+".") {
		return lookupProfile(key)
	}
	all := schema()
	i := slices.IndexFunc(all, func(f field) bool { return f.key == key })
	if i < 0 {
		return field{}, false
	}
	return all[i], true
}

// isSection says whether key is a group of settings ("limits").
func isSection(key string) bool {
	if _, ok := whole(key); ok || key == profiles {
		return true
	}
	return slices.ContainsFunc(schema(), func(f field) bool { return strings.HasPrefix(f.key, key+".") })
}

// variable is the environment variable that sets the field: SIDECAR_LIMITS_TIMEOUT. Profiles have none.
func (f field) variable() string {
	if f.profile != "" {
		return ""
	}
	return variableOf(f.key)
}

const variablePrefix = "SIDECAR_"

func variableOf(key string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// otherVariables are no settings, and nobody's to set but those who work on sidecar: the program that tests and editors' packages
// are made with.
var otherVariables = []string{"SIDECAR_BIN"}

// fromKubernetes are variables of a service whose name begins with "sidecar", which Kubernetes gives to every container
// (Service, "Environment variables").
var fromKubernetes = regexp.MustCompile(`_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

// isUnknownVariable says that a variable looks like a setting and is none.
func isUnknownVariable(name string) bool {
	return strings.HasPrefix(name, variablePrefix) && !strings.HasPrefix(name, "SIDECAR_TEST_") && !slices.Contains(variables(), name) && !fromKubernetes.MatchString(name)
}

// variables are all that sidecar knows.
func variables() []string { return slices.Concat(otherVariables, documented()) }

// documented are those that are for people.
func documented() []string {
	all := []string{"SIDECAR_WORKSPACE", "SIDECAR_CONFIG"}
	for _, section := range sortedNames(short) {
		all = append(all, variableOf(section))
	}
	for _, f := range schema() {
		all = append(all, f.variable())
	}
	return all
}

// in is the field's value inside settings.
func (f field) in(s *Settings) reflect.Value {
	if f.profile != "" {
		return f.profileIn(s).FieldByIndex(f.index)
	}
	return reflect.ValueOf(s).Elem().FieldByIndex(f.index)
}

// put sets the field inside settings.
func (f field) put(s *Settings, v reflect.Value) {
	if f.profile != "" {
		f.putProfile(s, v)
		return
	}
	f.in(s).Set(v)
}

// words are the values that an enumeration allows, widest first.
func (f field) words() []string {
	if list := f.tag.Get("oneof"); list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

// Key describes one setting, for help texts and completion.
type Key struct {
	// Name is the key in a file, with its sections: "limits.timeout", "profiles.*.home".
	Name string
	// Variable is the environment variable that sets it; those of profiles have none.
	Variable string
	// Want says what a value looks like.
	Want string
	// Default is the built-in value.
	Default string
	// Project says that a project's .sidecar.yaml may narrow it.
	Project bool
}

// Keys describes every setting.
func Keys() []Key {
	defaults := Defaults()
	var all []Key
	for _, f := range anywhere() {
		all = append(all, Key{
			Name: f.key, Variable: f.variable(), Want: f.want(),
			Default: show(f.in(&defaults)), Project: f.mayNarrow(),
		})
	}
	return all
}

// anywhere is the schema with that of profiles, whose name is "*".
func anywhere() []field {
	all := slices.Clone(schema())
	for _, f := range profileSchema() {
		all = append(all, f.of("*"))
	}
	return all
}

// want says what a value of the field looks like.
func (f field) want() string {
	if form, ok := forms[f.typ]; ok {
		return form.want
	}
	kind := "a text"
	switch f.typ {
	case reflect.TypeFor[time.Duration]():
		kind = "a duration such as 30s, 5m or a number of seconds"
	case reflect.TypeFor[Size]():
		kind = "a size such as 512MiB, 4GiB, 100kB or a number of bytes"
	case reflect.TypeFor[int]():
		kind = "a whole number"
	case reflect.TypeFor[bool]():
		kind = "true or false"
	case reflect.TypeFor[[]string]():
		kind = "a list of " + kinds[f.tag.Get("each")].many
	case reflect.TypeFor[map[string]string]():
		kind = "a map of " + kinds[f.tag.Get("each")].many + " to values"
	default:
		if words := f.words(); words != nil {
			return strings.Join(words, " or ")
		}
		if each := f.tag.Get("each"); each != "" {
			kind = kinds[each].one
		}
	}
	if low, high := f.tag.Get("min"), f.tag.Get("max"); low != "" {
		kind += ", from " + low + " to " + high
	}
	return kind
}
