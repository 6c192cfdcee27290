package protocol

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wire is the protocol as other languages' types are made of it: by reflection, with the comments of the source.
type wire struct {
	records []record
	unions  []union
	seen    map[reflect.Type]bool
	docs    map[string]string   // of types, and of fields as Type.Field
	values  map[string][]string // of named strings, in the order of declaration
}

// record is a struct, union a named string with its values.
type record struct {
	name, doc, base string
	fields          []field
}

type field struct {
	name, doc string
	kind      reflect.Type
	optional  bool
}

type union struct {
	name, doc string
	values    []string
}

// theWire has all types that Methods, initialize and errors need, in the order in which they are met.
func theWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{seen: map[reflect.Type]bool{}, docs: map[string]string{}, values: map[string][]string{}}
	w.comments(t)
	w.add(reflect.TypeFor[InitializeOptions]())
	w.add(reflect.TypeFor[About]())
	w.add(reflect.TypeFor[Error]())
	for _, m := range Methods() {
		w.add(reflect.TypeOf(m.Params))
		if m.Result != nil {
			w.add(reflect.TypeOf(m.Result))
		}
	}
	return w
}

// add takes in a type and what it consists of.
func (w *wire) add(k reflect.Type) {
	switch {
	case k.Kind() == reflect.Pointer || k.Kind() == reflect.Slice || k.Kind() == reflect.Map:
		w.add(k.Elem())
		return
	case w.seen[k] || k.PkgPath() != reflect.TypeFor[Run]().PkgPath() || isNumber(k):
		return
	}
	w.seen[k] = true
	if k.Kind() == reflect.String {
		w.unions = append(w.unions, union{k.Name(), w.docs[k.Name()], w.values[k.Name()]})
		return
	}
	r := record{name: k.Name(), doc: w.docs[k.Name()]}
	at := len(w.records)
	w.records = append(w.records, r)
	for i := range k.NumField() {
		f := k.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous:
			r.base = f.Type.Name()
			w.add(f.Type)
		default:
			r.fields = append(r.fields, field{name, said(w.docs[k.Name()+"."+f.Name], f.Name, name), f.Type, options != ""})
			w.add(f.Type)
		}
	}
	w.records[at] = r
}

// isNumber: a Duration is milliseconds.
func isNumber(k reflect.Type) bool { return k == reflect.TypeFor[Duration]() }

// said is a field's comment with the name that it has on the wire.
func said(doc, name, wire string) string {
	if rest, ok := strings.CutPrefix(doc, name+" "); ok {
		return wire + " " + rest
	}
	return doc
}

// comments reads the source.
func (w *wire) comments(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				w.declared(g)
			}
		}
	}
}

func (w *wire) declared(g *ast.GenDecl) {
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			w.docs[s.Name.Name] = line(g.Doc)
			if st, ok := s.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, n := range f.Names {
						w.docs[s.Name.Name+"."+n.Name] = line(f.Doc)
					}
				}
			}
		case *ast.ValueSpec:
			of, ok := s.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			if lit, ok := s.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				value, _ := strconv.Unquote(lit.Value)
				w.values[of.Name] = append(w.values[of.Name], value)
			}
		}
	}
}

// line is a comment as one line.
func line(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.Join(strings.Fields(c.Text()), " ")
}

// codes are the codes of the kinds of errors.
func codes() (out []struct {
	kind ErrorKind
	code int
}) {
	for _, k := range Kinds() {
		out = append(out, struct {
			kind ErrorKind
			code int
		}{k, k.Code()})
	}
	return out
}

// current compares a generated file with what it has to be, and writes it anew with -update.
func current(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != want {
		t.Errorf("%s is stale (%v): go generate ./sidecar/protocol", path, err)
	}
}

// typeIn names a type in a language, by the names that it has for the parts.
func typeIn(k reflect.Type, number, list, table string) string {
	switch {
	case k == reflect.TypeFor[time.Time]() || k == reflect.TypeFor[[]byte]():
		return "string"
	case isNumber(k):
		return number
	}
	switch k.Kind() {
	case reflect.Pointer:
		return typeIn(k.Elem(), number, list, table)
	case reflect.Slice:
		return strings.ReplaceAll(list, "T", typeIn(k.Elem(), number, list, table))
	case reflect.Map:
		return strings.ReplaceAll(table, "T", typeIn(k.Elem(), number, list, table))
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return number
	case reflect.String:
		if k.Name() == "string" {
			return "string"
		}
	}
	return k.Name()
}

// The examples of the document have no field that the types lack: both come from the same structs.
func TestEveryFieldOfTheExamplesHasAType(t *testing.T) {
	fields := map[string]bool{}
	for _, r := range theWire(t).records {
		for _, f := range r.fields {
			fields[f.name] = true
		}
	}
	var check func(v any, where string)
	check = func(v any, where string) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if !fields[name] {
					t.Errorf("%s: no type has %q", where, name)
				}
				check(value, where)
			}
		case []any:
			for _, value := range v {
				check(value, where)
			}
		}
	}
	for _, m := range Methods() {
		text, err := json.Marshal([]any{m.Params, m.Result})
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		check(v, m.Name)
	}
}
