package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Entry is a line of a log. What the Go runtime printed at a crash is lines as well, without a time or values.
type Entry struct {
	Time    time.Time
	Level   slog.Level
	Message string
	Values  []Value
	// Plain says that the line is no record: Message is all of it.
	Plain bool
	// Workspace is whose log it is, as far as the log says.
	Workspace string
}

// workspace is the name of the value that says whose log it is.
const workspace = "workspace"

// Value is a name with its value, as text.
type Value struct{ Name, Value string }

// Get is the value of a name, "" if there is none.
func (e Entry) Get(name string) string {
	for _, v := range e.Values {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Parse reads a line in either format.
func Parse(line string) Entry {
	e := Entry{Level: slog.LevelError, Message: line, Plain: true}
	values, ok := values(line)
	if !ok || len(values) < 3 || values[0].Name != slog.TimeKey || values[1].Name != slog.LevelKey || values[2].Name != slog.MessageKey {
		return e
	}
	at, err := time.Parse(time.RFC3339Nano, values[0].Value)
	if err != nil || e.Level.UnmarshalText([]byte(values[1].Value)) != nil {
		return e
	}
	e.Time, e.Message, e.Values, e.Plain = at, values[2].Value, values[3:], false
	return e
}

func values(line string) ([]Value, bool) {
	if strings.HasPrefix(line, "{") {
		return fromJSON(line)
	}
	return fromText(line)
}

// fromText reads name=value, where either may be a quoted string of Go (slog.TextHandler).
func fromText(line string) (out []Value, ok bool) {
	for line != "" {
		var v Value
		if v.Name, line, ok = word(line, "="); !ok || !strings.HasPrefix(line, "=") {
			return nil, false
		}
		if v.Value, line, ok = word(line[1:], " "); !ok {
			return nil, false
		}
		out = append(out, v)
		line = strings.TrimPrefix(line, " ")
	}
	return out, true
}

// word reads a word up to an end, or a quoted string.
func word(line, end string) (text, rest string, ok bool) {
	if !strings.HasPrefix(line, `"`) {
		i := strings.Index(line, end)
		if i < 0 {
			i = len(line)
		}
		return line[:i], line[i:], true
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", false
	}
	text, err = strconv.Unquote(quoted)
	return text, line[len(quoted):], err == nil
}

// fromJSON reads an object, in its order.
func fromJSON(line string) (out []Value, ok bool) {
	d := json.NewDecoder(strings.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false
		}
		text := string(raw)
		if raw[0] == '"' {
			_ = json.Unmarshal(raw, &text)
		}
		out = append(out, Value{name.(string), text})
	}
	_, err := d.Token()
	return out, err == nil
}

// Text is the entry as one line for people; in is set where entries of several workspaces are shown.
func (e Entry) Text(in bool, now time.Time) string {
	var b strings.Builder
	if in && e.Workspace != "" {
		b.WriteString(shown(e.Workspace) + "  ")
	}
	if e.Plain {
		return b.String() + escaped(e.Message)
	}
	layout := "2006-01-02 15:04:05.000"
	if at := e.Time.Local(); at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		layout = "15:04:05.000"
	}
	fmt.Fprintf(&b, "%s %-5s %s", e.Time.Local().Format(layout), e.Level, escaped(e.Message))
	for _, v := range e.Values {
		b.WriteString(" " + shown(v.Name) + "=" + shown(v.Value))
	}
	return b.String()
}

// shown is a value, quoted where it would not be told from what stands around it.
func shown(text string) string {
	if text == "" || strings.ContainsAny(text, " \"=\\") || strings.ContainsFunc(text, hidden) {
		return strconv.Quote(text)
	}
	return text
}

// MarshalJSON is an object: time, level, msg, the workspace and the values, all as texts.
func (e Entry) MarshalJSON() ([]byte, error) {
	all := []Value{{slog.LevelKey, e.Level.String()}, {slog.MessageKey, e.Message}}
	if !e.Plain {
		all = append([]Value{{slog.TimeKey, e.Time.Format(time.RFC3339Nano)}}, all...)
	}
	if e.Workspace != "" && e.Get(workspace) == "" {
		all = append(all, Value{workspace, e.Workspace})
	}
	var b bytes.Buffer
	for i, v := range append(all, e.Values...) {
		name, err := json.Marshal(v.Name)
		value, err2 := json.Marshal(v.Value)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if b.WriteByte(','); i == 0 {
			b.Reset()
			b.WriteByte('{')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	return []byte(escaped(b.String()) + "}"), nil
}
