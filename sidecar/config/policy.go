package config

import (
	"errors"
	"path/filepath"
	"strings"
)

// maxPolicy bounds the file of a profile.
const maxPolicy = 256 << 10

// ReadPolicy reads the file of a profile (ParsePolicy), without looking at what it says. The error is a *protocol.Error.
func ReadPolicy(file string) (string, error) {
	text, err := readBounded(file, 0, maxPolicy)
	if err == nil && text == nil {
		err = &Error{File: file, Problem: "no such file"}
	}
	return string(text), badRequest([]error{err})
}

// ParsePolicy reads a profile that has a file of its own: what stands below profiles.NAME in the settings, as YAML or JSON.
// Its name is PolicyName. The error is a *protocol.Error that names each mistake by file and line.
func ParsePolicy(file, text string) (name string, p Profile, err error) {
	name = PolicyName(file)
	if !isName(name) {
		return "", p, badRequest([]error{&Error{File: file, Problem: "the file's name is the profile's: have " + quote(name) + ", want " + kinds["name"].one}})
	}
	section := profiles + "." + name + "."
	l := &loader{}
	l.settings.from = map[string][]origin{}
	entries, err := documentIn(file, []byte(text), section)
	l.fail(err)
	for _, e := range entries {
		l.set(e.field, e.raw, origin{file, e.line})
	}
	for i, err := range l.errs {
		l.errs[i] = without(section, err)
	}
	return name, l.settings.Profiles[name], badRequest(l.errs)
}

// PolicyName is the name of the profile in a file: the file's, without its extension.
func PolicyName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// without takes a section, which a file of its own does not have, out of the keys of errors.
func without(section string, err error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range many.Unwrap() {
			all = append(all, without(section, one))
		}
		return errors.Join(all...)
	}
	var known *Error
	if !errors.As(err, &known) {
		return err
	}
	e := *known
	e.Key, e.Hint = strings.TrimPrefix(e.Key, section), strings.ReplaceAll(e.Hint, section, "")
	return &e
}
