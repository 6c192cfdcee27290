package seatbelt

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"code.sidecar.dev/sandbox"
)

// param is a parameter of a profile.
type param struct{ name, value string }

// writer writes a profile.
type writer struct {
	out    strings.Builder
	params []param
	named  map[string]string // by value
	counts map[string]int
	layout layout
	policy sandbox.Policy
}

// profile is the text of a profile, and its parameters.
func profile(p sandbox.Policy, h sandbox.Host, l layout) (string, []param) {
	w := &writer{named: map[string]string{}, counts: map[string]int{}, layout: l, policy: p}
	w.line("(version 1)")
	w.line("; What a run of sidecar may. Paths are parameters; what stands beside one is its value, for people.")
	w.line("(deny default (with message " + quote(h.Seat.Tag) + "))")
	w.line(base)
	w.register()
	w.shown(h)
	w.written()
	w.ports()
	w.pins()
	w.names()
	w.borders()
	w.line("\n; No program of the run changes whose it is.\n(deny file-write-setugid)")
	return w.out.String(), w.params
}

// register names the folders that the run writes first.
func (w *writer) register() {
	given, private := w.roots()
	for _, root := range given {
		stem := "WRITE"
		if sandbox.Inside(w.policy.Dir, root) {
			stem = "WORKSPACE"
		}
		w.filters("subpath", stem, root)
	}
	w.filters("subpath", "PRIVATE", private...)
}

func (w *writer) line(s string) { w.out.WriteString(s + "\n") }

// rule writes one rule with its filters, a line each; none writes nothing.
func (w *writer) rule(head string, filters []string) {
	if len(filters) == 0 {
		return
	}
	w.line("(" + head)
	for _, f := range filters {
		w.line("  " + f)
	}
	w.line(")")
}

// quote is a string of the language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// param is the name of a parameter with this value: the one that has it, or a new one.
func (w *writer) param(stem, value string) string {
	if name, ok := w.named[value]; ok {
		return name
	}
	name := stem
	if w.counts[stem]++; w.counts[stem] > 1 || numbered(stem) {
		name = stem + "_" + strconv.Itoa(w.counts[stem])
	}
	w.named[value] = name
	w.params = append(w.params, param{name, value})
	return name
}

// numbered are the stems of which there are usually several.
func numbered(stem string) bool {
	return slices.Contains([]string{"READ", "WRITE", "HELD", "HIDDEN", "ABOVE", "NAMES"}, stem)
}

// spelled are the paths under which the kernel may know one: links that every system has at its root resolved
// (/tmp, /var and /etc lead into /private), and as they were written; and without the volume that firmlinks hide.
func spelled(path string) []string {
	if rest, ok := strings.CutPrefix(path, "/System/Volumes/Data/"); ok {
		path = "/" + rest
	}
	for _, top := range []string{"/tmp", "/var", "/etc"} {
		switch {
		case sandbox.Inside(path, top):
			return []string{"/private" + path, path}
		case sandbox.Inside(path, "/private"+top):
			return []string{path, strings.TrimPrefix(path, "/private")}
		}
	}
	return []string{path}
}

// filters are filters of one kind for paths, each in its spellings.
func (w *writer) filters(kind, stem string, paths ...string) []string {
	var out []string
	for _, path := range paths {
		for _, s := range spelled(path) {
			f := fmt.Sprintf("(%s (param %s)) ; %s", kind, quote(w.param(stem, s)), strconv.QuoteToASCII(s))
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// The operations of what is read and executed, and of what is written, too. What is taken away again is taken by the same.
const (
	reading = "file-read* file-map-executable process-exec*"
	writing = "file-write*"
)

// shown is what the run reads and executes.
func (w *writer) shown(h sandbox.Host) {
	w.line("\n; Programs, and what is shown of this machine.")
	var read, given []string
	for _, m := range w.policy.Mounts {
		if m.Access == sandbox.ReadOnly {
			read = append(read, m.Source)
		}
		given = append(given, m.Source)
	}
	w.rule("allow "+reading, w.filters("subpath", "READ", read...))
	w.rule("allow "+reading, append(w.filters("subpath", "OWN", w.layout.own), w.filters("literal", "SHIM", h.Shim)...))
	for _, k := range w.policy.Picks {
		w.rule("allow "+reading, w.picked(k))
		given = append(given, k.Source)
	}
	given = append(given, w.layout.own, h.Shim)
	w.above(slices.Concat(given, w.layout.scratch, w.layout.bases))
}

// above lets the folders above what is shown be passed. One of several in the same folder will do.
func (w *writer) above(shown []string) {
	w.line("\n; The folders above can be passed, and not listed.")
	var paths, dirs []string
	for _, path := range shown {
		if dir := filepath.Dir(path); dir != "/" && !slices.Contains(dirs, dir) {
			paths, dirs = append(paths, path), append(dirs, dir)
		}
	}
	w.rule("allow file-read-metadata", w.filters("path-ancestors", "READ", paths...))
}

// picked are entries of a folder.
func (w *writer) picked(k sandbox.Pick) []string {
	store := w.param("STORE", k.Source)
	var out []string
	for _, name := range k.Names {
		out = append(out, fmt.Sprintf("(subpath (string-append (param %s) %s))", quote(store), quote("/"+name)))
	}
	return out
}

// roots are the folders that the run writes, those of the machine first.
func (w *writer) roots() (given, private []string) {
	for _, m := range w.policy.Mounts {
		if m.Access == sandbox.ReadWrite {
			given = append(given, m.Source)
		}
	}
	return given, append(slices.Clone(w.layout.scratch), w.layout.bases...)
}

// written is what the run writes.
func (w *writer) written() {
	given, private := w.roots()
	w.line("\n; The workspace, what git needs of it elsewhere, and folders that were given.")
	w.rule("allow "+reading+" "+writing, w.filters("subpath", "WRITE", given...))
	w.line("\n; The run's own home and temporary folders, in which its programs may also speak over sockets.")
	w.rule("allow "+reading+" "+writing+" network-bind network-inbound network-outbound", w.filters("subpath", "PRIVATE", private...))
}

// ports is what the run may connect to.
func (w *writer) ports() {
	w.line("\n; Ports of this machine: the filter's, and those that are allowed. Nothing else can be named here, so that there is no name service.")
	if w.policy.Ports.All {
		w.line(`(allow network-outbound (remote ip "localhost:*"))`)
		w.line(`(allow network-bind network-inbound (local ip "localhost:*"))`)
		return
	}
	var remote []string
	for _, port := range w.policy.Ports.List {
		remote = append(remote, fmt.Sprintf(`(remote tcp "localhost:%d")`, port))
	}
	w.rule("allow network-outbound", remote)
	w.rule("allow network-outbound", w.filters("literal", "SOCKET", w.policy.Unix...))
}

// pins takes away what is protected. Parents come before what lies in them, so that the innermost has the last word.
func (w *writer) pins() {
	w.line("\n; Protected: what programs of this machine would execute or obey, whether it exists or not.")
	for at := 0; at < len(w.policy.Pins); {
		kind, from := w.policy.Pins[at].Kind, at
		for at < len(w.policy.Pins) && w.policy.Pins[at].Kind == kind {
			at++
		}
		w.hold(kind, w.policy.Pins[from:at])
	}
}

func (w *writer) hold(kind sandbox.PinKind, pins []sandbox.Pin) {
	var paths []string
	for _, p := range pins {
		paths = append(paths, w.layout.at(p.Path))
	}
	switch kind {
	case sandbox.Frozen:
		w.rule("deny "+writing, w.held("HELD", paths))
	case sandbox.Thawed:
		w.rule("allow "+writing, w.filters("subpath", "WRITE", paths...))
	case sandbox.Covered:
		w.rule("deny "+reading+" "+writing+" network-outbound", w.held("HIDDEN", paths))
	}
}

// held are filters for paths and all below them, in any spelling of what comes after the root that they lie in.
func (w *writer) held(stem string, paths []string) []string {
	return append(w.filters("subpath", stem, paths...), w.respelled(paths, "(/|$)")...)
}

// respelled are expressions for paths as other spellings have them, but for those that the expressions for names hold.
func (w *writer) respelled(paths []string, end string) []string {
	given, private := w.roots()
	below := map[string][]string{}
	for _, path := range paths {
		root := ""
		for _, r := range slices.Concat(given, private) {
			if path != r && sandbox.Inside(path, r) && len(r) > len(root) {
				root = r
			}
		}
		if root != "" && !Named(w.policy.Names, path) {
			below[root] = append(below[root], strings.TrimPrefix(path, root+"/"))
		}
	}
	var out []string
	for _, root := range slices.Sorted(maps.Keys(below)) {
		for some := range slices.Chunk(below[root], together) {
			all := make([]string, len(some))
			for i, rel := range some {
				all[i] = spelling(literally(rel))
			}
			out = append(out, w.expressions(root, "("+strings.Join(all, "|")+")"+end, "the same in other spellings")...)
		}
	}
	return out
}

// literally has no part read as a pattern.
func literally(rel string) string { return strings.NewReplacer("*", "?", "[", "?").Replace(rel) }

// Named says that a path is held by one of the names, with all below it.
func Named(names []sandbox.Name, path string) bool {
	return slices.ContainsFunc(names, func(n sandbox.Name) bool {
		if path == n.Root || !sandbox.Inside(path, n.Root) || n.Alone || strings.Contains(n.Pattern, deep) {
			return false
		}
		parts, want := strings.Split(strings.TrimPrefix(path, n.Root+"/"), "/"), strings.Split(n.Pattern, "/")
		if len(parts) < len(want) || !n.Anywhere && len(parts) != len(want) {
			return false
		}
		if n.Anywhere {
			parts = parts[len(parts)-len(want):]
		}
		ok, err := filepath.Match(n.Pattern, strings.Join(parts, "/"))
		return ok && err == nil
	})
}

// expressions are regular expressions below a root. The text is a parameter, too: nothing of it is read as a rule.
func (w *writer) expressions(root, text, comment string) []string {
	var out []string
	name := w.param("NAMES", text)
	for _, s := range spelled(root) {
		out = append(out, fmt.Sprintf(`(regex (string-append "^" (regex-quote (param %s)) "/" (param %s))) ; %s`, quote(w.param("WRITE", s)), quote(name), comment))
	}
	return out
}

// names takes away what must not appear.
func (w *writer) names() {
	if len(w.policy.Names) == 0 {
		return
	}
	w.line("\n; The same by name, in folders and repositories that do not exist yet.")
	var filters []string
	for _, g := range groups(w.policy.Names) {
		where := "at the top"
		if g.anywhere {
			where = "anywhere"
		}
		list := w.expressions(g.root, g.expression(), where+": "+strconv.QuoteToASCII(strings.Join(g.patterns, " ")))
		if g.deep {
			list = but(list, w.expressions(g.root, references, ""))
		}
		filters = append(filters, list...)
	}
	w.rule("deny "+writing, filters)
}

// but are filters that do not hold where those of the same place in the other list do.
func but(list, not []string) []string {
	out := make([]string, len(list))
	for i, f := range list {
		f, comment, _ := strings.Cut(f, " ; ")
		n, _, _ := strings.Cut(not[i], " ; ")
		out[i] = "(require-all " + f + "\n    (require-not " + n + ")) ; " + comment + ", but no branch of that name"
	}
	return out
}

// borders keeps folders in their place: the roots, and every folder between one and something protected. One that is not
// there cannot be brought there with what it must not hold.
func (w *writer) borders() {
	given, private := w.roots()
	paths := slices.Concat(given, private)
	var above []string
	for _, p := range w.policy.Pins {
		if p.Kind == sandbox.Border || p.Kind == sandbox.Thawed {
			above = append(above, w.layout.at(p.Path))
		}
	}
	w.line("\n; Folders that stay where they are: a protected path is its folders' names, too.")
	filters := w.filters("literal", "ABOVE", append(paths, above...)...)
	w.rule("deny file-write-create file-write-unlink", append(filters, w.respelled(above, "$")...))
}
