package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
)

// maxAlso is how many paths a project may add: each is a mount of every run.
const maxAlso = 256

func (l *loader) projectPath() string {
	if l.src.Project == "" {
		return ""
	}
	return filepath.Join(l.src.Project, ProjectName)
}

// projectFile applies what a project's file narrows, and notes what it would have widened. A mistake in it is an
// error like any other: who misspelt a limit wants it to hold.
func (l *loader) projectFile() {
	path := l.projectPath()
	if path == "" {
		return
	}
	text, err := readProject(path)
	l.apply(path, text, err, l.narrow)
}

// narrow applies one value of a project.
func (l *loader) narrow(f field, r raw, from origin) {
	v, ok := l.value(f, r, from)
	if !ok {
		return
	}
	if !f.mayNarrow() {
		l.refuse(f, from, "ignored: a project cannot set this")
		return
	}
	if domains, ok := v.Interface().(*Domains); ok {
		l.narrowDomains(f, domains, from)
		return
	}
	at := f.in(&l.settings)
	if refusal := f.refusal(at, v); refusal != "" {
		l.refuse(f, from, refusal)
		return
	}
	if !reflect.DeepEqual(at.Interface(), v.Interface()) {
		l.set(f, r, from)
	}
	if v.Kind() == reflect.String && v.String() == "none" {
		l.settings.narrowed.shut(f.key)
	}
}

// refuse notes what of a project's file was not applied.
func (l *loader) refuse(f field, from origin, why string) {
	l.notes = append(l.notes, Note{Key: f.key, File: from.name, Line: from.line,
		Text: why + "; it is only allowed in the user's config (" + l.ownPath() + ")"})
}

// ownPath is the file in which the person could allow it.
func (l *loader) ownPath() string {
	if l.src.Explicit != "" {
		return l.src.Explicit
	}
	return l.src.User
}

// mayNarrow says that projects may set the field at all.
func (f field) mayNarrow() bool { return f.tag.Get("project") == "narrow" }

// refusal says why a project may not change the value so; empty when it may.
func (f field) refusal(old, v reflect.Value) string {
	switch {
	case f.words() != nil:
		if slices.Index(f.words(), v.String()) < slices.Index(f.words(), old.String()) {
			return fmt.Sprintf("ignored: %s would widen %s", v, old)
		}
	case f.typ.Kind() == reflect.Slice:
		if v.Len() > maxAlso {
			return fmt.Sprintf("ignored: have %d, want at most %d", v.Len(), maxAlso)
		}
	case v.Int() > old.Int():
		return fmt.Sprintf("ignored: %s is more than %s, and a project may only lower it", show(v), show(old))
	}
	return ""
}
