package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

//go:generate go test . -run ^TestNixSettings$ -update

var update = flag.Bool("update", false, "write the files that are made from the schema")

// nixFile has the schema for the modules of NixOS and home-manager (nix/settings.nix).
const nixFile = "../../nix/settings.json"

// nixSetting is a setting as nix/settings.nix reads it. Bounds are bytes, nanoseconds or plain numbers.
type nixSetting struct {
	Key     string   `json:"key"`
	Type    string   `json:"type"`
	Want    string   `json:"want"`
	Default string   `json:"default"`
	About   string   `json:"about"`
	Words   []string `json:"words,omitempty"`
	Each    string   `json:"each,omitempty"`
	Value   string   `json:"value,omitempty"`
	Min     *int64   `json:"min,omitempty"`
	Max     *int64   `json:"max,omitempty"`
}

// TestNixSettings holds nix/settings.json to the schema. With -update (go generate) it writes it.
func TestNixSettings(t *testing.T) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(nixSettings(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(nixFile, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(nixFile)
	if err != nil || !bytes.Equal(have, text.Bytes()) {
		t.Errorf("nix/settings.json is not of this schema (%v): run go generate ./sidecar/config", err)
	}
}

func nixSettings(t *testing.T) []nixSetting {
	about := comments(t)
	keys := Keys()
	var all []nixSetting
	for i, f := range anywhere() {
		s := nixSetting{
			Key: keys[i].Name, Type: nixType(f), Want: keys[i].Want, Default: keys[i].Default,
			About: about[f.key], Words: f.words(), Each: f.tag.Get("each"),
			Value: f.tag.Get("value"),
		}
		if s.About == "" {
			t.Errorf("%s: no comment in settings.go", f.key)
		}
		s.Min, s.Max = f.bound(t, "min"), f.bound(t, "max")
		all = append(all, s)
	}
	return all
}

// nixType is the name of the setting's type in nix/settings.nix.
func nixType(f field) string {
	if form, ok := forms[f.typ]; ok {
		return form.nix
	}
	switch f.typ {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[Size]():
		return "size"
	case reflect.TypeFor[int]():
		return "integer"
	case reflect.TypeFor[bool]():
		return "boolean"
	case reflect.TypeFor[[]string]():
		return "list"
	case reflect.TypeFor[map[string]string]():
		return "map"
	}
	if f.words() != nil {
		return "word"
	}
	return "text"
}

func (f field) bound(t *testing.T, tag string) *int64 {
	text := f.tag.Get(tag)
	if text == "" {
		return nil
	}
	v, err := f.scalarValue(text)
	if err != nil {
		t.Fatal(err)
	}
	n := v.Int()
	return &n
}

// comments are what settings.go and profile.go say of each key, with the keys' names in place of Go's. A comment that stands above
// several fields is theirs all.
func comments(t *testing.T) map[string]string {
	structs := map[string]*ast.StructType{}
	for _, name := range []string{"settings.go", "profile.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				structs[spec.Name.Name], _ = spec.Type.(*ast.StructType)
			}
			return true
		})
	}
	about := map[string]string{}
	for _, section := range structs["Settings"].Fields.List {
		if section.Tag == nil {
			continue
		}
		prefix := yamlName(section) + "."
		fields := fieldsIn(structs, section.Type)
		if _, ok := section.Type.(*ast.MapType); ok {
			prefix += "*."
		}
		var pairs []string
		for _, f := range fields {
			pairs = append(pairs, f.Names[0].Name, yamlName(f))
		}
		last := ""
		for _, f := range fields {
			if f.Doc != nil {
				last = renamed(strings.Join(strings.Fields(f.Doc.Text()), " "), pairs)
			}
			about[prefix+yamlName(f)] = last
		}
	}
	return about
}

// fieldsIn are those of a struct, or of the struct that a map's values are.
func fieldsIn(structs map[string]*ast.StructType, typ ast.Expr) []*ast.Field {
	if of, ok := typ.(*ast.MapType); ok {
		typ = of.Value
	}
	return structs[fmt.Sprint(typ)].Fields.List
}

func yamlName(f *ast.Field) string {
	return reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml")
}

// renamed puts settings' names, quoted, where a text has Go's names of the fields.
func renamed(text string, pairs []string) string {
	return regexp.MustCompile(`\b[A-Z]\w*`).ReplaceAllStringFunc(text, func(word string) string {
		if at := slices.Index(pairs, word); at >= 0 && at%2 == 0 {
			return "`" + pairs[at+1] + "`"
		}
		return word
	})
}
