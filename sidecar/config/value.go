package config

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shape is the form in which a source gives a value.
type shape string

const (
	scalar  shape = "a single value"
	list    shape = "a list"
	mapping shape = "a map"
	nothing shape = "nothing"
)

// raw is a value as a source gives it, before the schema is asked.
type raw struct {
	shape shape
	text  string
	items []string
	pairs map[string]string
}

// have describes the value for an error message.
func (r raw) have() string {
	if r.shape == scalar {
		return quote(r.text)
	}
	return string(r.shape)
}

// rawText is the value of an environment variable or flag: lists and maps are written with commas.
func (f field) rawText(text string) raw {
	switch f.typ.Kind() {
	case reflect.Slice:
		return raw{shape: list, items: splitList(text)}
	case reflect.Map:
		pairs := map[string]string{}
		for _, item := range splitList(text) {
			name, value, _ := strings.Cut(item, "=")
			pairs[name] = value
		}
		return raw{shape: mapping, pairs: pairs}
	}
	return raw{shape: scalar, text: text}
}

func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// errShape says that a list was given where one value is wanted, or the like; the caller says what was wanted.
var errShape = errors.New("wrong shape")

// value turns what a source gave into a value of the field's type, inside its bounds.
func (f field) value(r raw) (reflect.Value, error) {
	switch f.typ.Kind() {
	case reflect.Slice:
		return f.listValue(r)
	case reflect.Map:
		return f.mapValue(r)
	}
	if r.shape != scalar {
		return reflect.Value{}, errShape
	}
	v, err := f.scalarValue(r.text)
	if err != nil {
		return v, err
	}
	return v, f.bounded(v)
}

func (f field) scalarValue(text string) (reflect.Value, error) {
	switch f.typ {
	case reflect.TypeFor[time.Duration]():
		return valueOf(ParseDuration(text))
	case reflect.TypeFor[Size]():
		return valueOf(ParseSize(text))
	case reflect.TypeFor[int]():
		return valueOf(strconv.Atoi(text))
	case reflect.TypeFor[bool]():
		if text != "true" && text != "false" {
			return reflect.Value{}, fmt.Errorf("neither true nor false: %s", quote(text))
		}
		return reflect.ValueOf(text == "true"), nil
	}
	if words := f.words(); words != nil && !slices.Contains(words, text) {
		return reflect.Value{}, fmt.Errorf("no such word: %s", quote(text))
	}
	if strings.ContainsRune(text, 0) {
		return reflect.Value{}, errors.New("a NUL byte")
	}
	if each := f.tag.Get("each"); each != "" && text != "" && !kinds[each].ok(text) {
		return reflect.Value{}, fmt.Errorf("not %s", kinds[each].one)
	}
	return reflect.ValueOf(text), nil
}

func valueOf[T any](v T, err error) (reflect.Value, error) { return reflect.ValueOf(v), err }

// bounded checks min and max, which are written in the field's own notation.
func (f field) bounded(v reflect.Value) error {
	low, high := f.tag.Get("min"), f.tag.Get("max")
	if low == "" {
		return nil
	}
	least, err1 := f.scalarValue(low)
	most, err2 := f.scalarValue(high)
	if err := errors.Join(err1, err2); err != nil {
		return err // a mistake in a tag; the test of the schema meets it first
	}
	if v.Int() < least.Int() || v.Int() > most.Int() {
		return errors.New("out of bounds")
	}
	return nil
}

func (f field) listValue(r raw) (reflect.Value, error) {
	if r.shape != list {
		return reflect.Value{}, errShape
	}
	for _, item := range r.items {
		if !kinds[f.tag.Get("each")].ok(item) {
			return reflect.Value{}, itemError{item, kinds[f.tag.Get("each")].one}
		}
	}
	return reflect.ValueOf(append([]string{}, r.items...)), nil // an empty list is one, too: "none", where unset is another thing
}

func (f field) mapValue(r raw) (reflect.Value, error) {
	if r.shape != mapping {
		return reflect.Value{}, errShape
	}
	for _, name := range slices.Sorted(maps.Keys(r.pairs)) {
		if !kinds[f.tag.Get("each")].ok(name) {
			return reflect.Value{}, itemError{name, kinds[f.tag.Get("each")].one}
		}
		if strings.ContainsRune(r.pairs[name], 0) {
			return reflect.Value{}, itemError{name, "a value without NUL bytes"}
		}
	}
	return reflect.ValueOf(r.pairs), nil
}

// itemError is about one item of a list or one name of a map.
type itemError struct{ item, want string }

func (e itemError) Error() string { return fmt.Sprintf("have %s, want %s", quote(e.item), e.want) }

// kinds are what the items of lists, the names of maps and some texts have to be.
var kinds = map[string]struct {
	one, many string
	ok        func(string) bool
}{
	"text":     {"a text without control characters", "names", isText},
	"inside":   {"a name or a path inside the workspace, without ..", "names or paths inside the workspace", isInside},
	"absolute": {"an absolute path", "absolute paths", func(s string) bool { return isText(s) && path.IsAbs(s) }},
	"id":       {"an id with letters, digits, ., _ and -", "ids", isID},
	"variable": {"the name of an environment variable", "names of environment variables", isVariable},
}

func isText(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func isInside(s string) bool {
	clean := path.Clean(s)
	return isText(s) && !path.IsAbs(s) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../")
}

func isID(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters+"._-") == "" && strings.Contains(letters, s[:1])
}

func isVariable(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	return s != "" && strings.Trim(s, letters+"0123456789") == "" && strings.Contains(letters, s[:1])
}
