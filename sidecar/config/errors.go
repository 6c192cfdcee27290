package config

import (
	"errors"
	"fmt"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// Error is one mistake in one place.
type Error struct {
	// File is the file, variable or flag; Line is 0 where there are no lines.
	File string
	Line int
	// Key is the setting, as it was written.
	Key string
	// Problem is what is wrong: what was had and what was wanted.
	Problem string
	Hint    string
	Err     error
}

// Error is "file:line: key: problem".
func (e *Error) Error() string {
	parts := []string{origin{e.File, e.Line}.String()}
	if e.Key != "" {
		parts = append(parts, showKey(strings.TrimSuffix(e.Key, ".")))
	}
	text := strings.Join(append(parts, e.Problem), ": ")
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// showKey quotes a key that is no plain name, since it may come from a hostile file.
func showKey(key string) string {
	if len(key) <= 64 && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == "" {
		return key
	}
	return quote(key)
}

// badRequest is what Load returns: all mistakes, a line each.
func badRequest(errs []error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
}

// Note is something about the settings that a person should know and that stopped nothing.
type Note struct {
	// Key is the setting; empty when the note is about a file.
	Key  string
	File string
	Line int
	Text string
}

// String is "file:line: key: text".
func (n Note) String() string {
	return (&Error{File: n.File, Line: n.Line, Key: n.Key, Problem: n.Text}).Error()
}

// NoteOn is a note about a setting, with where it was set.
func (s Settings) NoteOn(key, text string) Note {
	from := s.origin(key)
	return Note{Key: key, File: from.name, Line: from.line, Text: text}
}

// origin is where a setting comes from.
type origin struct {
	name string
	line int
}

func (o origin) String() string {
	if o.line == 0 {
		return o.name
	}
	return fmt.Sprintf("%s:%d", o.name, o.line)
}
