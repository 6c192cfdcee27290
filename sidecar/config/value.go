package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rawText is the value of an environment variable or flag: lists and maps are written with commas.
func (f field) rawText(text string) raw {
	if form, ok := forms[f.typ]; ok {
		return form.text(text)
	}
	switch f.typ.Kind() {
	case reflect.Slice:
		return raw{shape: list, items: splitList(text, ",")}
	case reflect.Map:
		return raw{shape: mapping, pairs: splitPairs(text)}
	}
	return raw{shape: scalar, text: text}
}

func splitList(text, sep string) []raw {
	var items []raw
	for item := range strings.SplitSeq(text, sep) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, raw{shape: scalar, text: item})
		}
	}
	return items
}

// splitPairs reads "A=1, B=2"; of two values of one name the later one counts. A name alone has no value.
func splitPairs(text string) []rawPair {
	var pairs []rawPair
	for _, item := range splitList(text, ",") {
		name, value, ok := strings.Cut(item.text, "=")
		pairs = slices.DeleteFunc(pairs, func(p rawPair) bool { return p.name == name })
		if !ok {
			pairs = append(pairs, rawPair{name, raw{shape: nothing}})
			continue
		}
		pairs = append(pairs, rawPair{name, raw{shape: scalar, text: value}})
	}
	return pairs
}

// errShape says that a list was given where one value is wanted, or the like; the caller says what was wanted.
var errShape = errors.New("wrong shape")

// value turns what a source gave into a value of the field's type, inside its bounds.
func (f field) value(r raw) (reflect.Value, error) {
	if form, ok := forms[f.typ]; ok {
		return form.value(r)
	}
	if f.typ == reflect.TypeFor[Profile]() {
		return reflect.ValueOf(Profile{}), nil
	}
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
	items, err := r.texts(f.tag.Get("each"))
	return reflect.ValueOf(items), err
}

// texts are the items of a list, each of a kind. An empty list is one, too: "none", where unset is another thing.
func (r raw) texts(each string) ([]string, error) {
	texts := []string{}
	for _, item := range r.items {
		if item.shape != scalar {
			return nil, newItemError(item.line, string(item.shape)+" in the list", "a text")
		}
		if err := item.is(each, item.text); err != nil {
			return nil, err
		}
		texts = append(texts, item.text)
	}
	return texts, nil
}

// is says what is wrong with a text that should be of a kind.
func (r raw) is(kind, text string) error {
	if !kinds[kind].ok(text) {
		return newItemError(r.line, quote(text), kinds[kind].one)
	}
	return nil
}

func (f field) mapValue(r raw) (reflect.Value, error) {
	if r.shape != mapping {
		return reflect.Value{}, errShape
	}
	values := map[string]string{}
	for _, p := range r.pairs {
		if err := p.is(f.tag.Get("each"), p.name); err != nil {
			return reflect.Value{}, err
		}
		if err := f.mapItem(p); err != nil {
			return reflect.Value{}, err
		}
		values[p.name] = p.text
	}
	return reflect.ValueOf(values), nil
}

func (f field) mapItem(p rawPair) error {
	if p.shape != scalar {
		return newItemError(p.line, string(p.shape)+" for "+quote(p.name)+" in the map", "a text")
	}
	if strings.ContainsRune(p.text, 0) {
		return newItemError(p.line, quote(p.name), "a value without NUL bytes")
	}
	if kind := f.tag.Get("value"); kind != "" {
		return p.is(kind, p.text)
	}
	return nil
}

// itemError is about one item of a list or one name of a map.
type itemError struct {
	line       int
	have, want string
	// problem says it in other words.
	problem string
}

func newItemError(line int, have, want string) itemError {
	return itemError{line: line, have: have, want: want}
}

func (e itemError) Error() string {
	return cmp.Or(e.problem, "have "+e.have+", want "+e.want)
}
