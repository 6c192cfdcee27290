package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Rules are what the settings change about protected names. The zero value changes nothing.
type Rules struct {
	// Also are further names: a bare one ("eslint.config.js", "*.nix") anywhere, one with a slash
	// ("tools/deploy.sh") from the root.
	Also []string
	// Except are names, patterns or paths of the table that runs may change after all. Git's own files, other
	// version controls' and sidecar's cannot be excepted.
	Except []string
}

// DefaultRules is the table as it stands.
func DefaultRules() Rules { return Rules{} }

// String tells rules apart.
func (r Rules) String() string { return fmt.Sprintf("%q %q", r.Also, r.Except) }

const whyAlso = "your settings protect it"

// Match is Obeyed with the rules applied. A bare name is matched wherever it lies.
func (r Rules) Match(name string) (Entry, bool) {
	for _, also := range r.Also {
		if e := alsoEntry(also); e.matches(name) {
			return e, true
		}
	}
	e, ok := Obeyed(name)
	if !ok || r.excepts(e, name) {
		return Entry{}, false
	}
	return e, true
}

func alsoEntry(also string) Entry {
	name := strings.TrimPrefix(also, "./")
	return Entry{Name: strings.TrimSuffix(name, "/"), Folder: strings.HasSuffix(name, "/"),
		Anywhere: !strings.Contains(strings.TrimSuffix(name, "/"), "/"), Reason: whyAlso}
}

// excepts tells whether the rules take an entry, or the one name that matched it, out of the table.
func (r Rules) excepts(e Entry, name string) bool {
	if e.Reason == whySidecar {
		return false
	}
	return slices.ContainsFunc(r.Except, func(x string) bool {
		x = strings.TrimSuffix(strings.TrimPrefix(x, "./"), "/")
		return x == e.Name || Entry{Name: x}.matches(name)
	})
}

// Idle are the exceptions that take nothing out of the table: a name that it does not have, or one that cannot be excepted.
func (r Rules) Idle() []string {
	var idle []string
	for _, x := range r.Except {
		alone := Rules{Except: []string{x}}
		name := strings.TrimSuffix(strings.TrimPrefix(x, "./"), "/")
		if !slices.ContainsFunc(slices.Concat(obeyed, homeObeyed), func(e Entry) bool {
			return alone.excepts(e, e.Name) || e.matches(name) && alone.excepts(e, name)
		}) {
			idle = append(idle, x)
		}
	}
	return idle
}

// names protects what is at the top of a work tree by its name; absent says how a missing one is held.
func (p *protector) names(top string, rank int, absent Hold) {
	present, table := p.list(top), p.table(top)
	for name := range present {
		for _, e := range table.starting[name] {
			p.name(top, e, rank, absent)
		}
		for _, g := range table.globs {
			if strings.HasPrefix(name, g.prefix) && strings.HasSuffix(name, g.suffix) {
				p.pattern(top, g.Entry, listing{name: present[name]}, rank)
			}
		}
	}
	for _, e := range table.entries {
		switch {
		case isPattern(e.Name):
			if dir := filepath.Dir(e.Name); dir != "." && present.has(dir) {
				p.pattern(top, e, nil, rank)
			}
		case present.partial() || absent != nothing:
			p.name(top, e, rank, absent)
		}
	}
}

// name protects one name of the table.
func (p *protector) name(top string, e Entry, rank int, absent Hold) {
	if !p.rules.excepts(e, e.Name) {
		p.add(claim{path: filepath.Join(top, e.Name), folder: e.Folder, followed: e.Folder, reason: e.Reason, rank: rank, absent: absent, top: topOfText(top, e)})
	}
}

// nameTable is a table of entries, made for looking up what a folder holds.
type nameTable struct {
	entries []Entry
	// starting are the entries that are no patterns, by the first part of their path.
	starting map[string][]Entry
	globs    []glob
	// within are the entries that are paths, by their folder's name.
	within map[string][]Entry
}

// glob is an entry with one "*" in a base name.
type glob struct {
	Entry
	prefix, suffix string
}

func newNameTable(entries []Entry) *nameTable {
	t := &nameTable{entries: entries, starting: map[string][]Entry{}, within: map[string][]Entry{}}
	for _, e := range entries {
		if folder, _, ok := strings.Cut(e.Name, "/"); ok {
			t.within[folder] = append(t.within[folder], e)
		}
		if !isPattern(e.Name) {
			first, _, _ := strings.Cut(e.Name, "/")
			t.starting[first] = append(t.starting[first], e)
		} else if !strings.Contains(e.Name, "/") {
			prefix, suffix, _ := strings.Cut(e.Name, "*")
			t.globs = append(t.globs, glob{e, prefix, suffix})
		}
	}
	return t
}

var obeyedTable = sync.OnceValue(func() *nameTable { return newNameTable(obeyed) })

// table is what counts at the top of a work tree.
func (p *protector) table(top string) *nameTable {
	if p.ws.home != "" && inside(p.ws.home, top) {
		return newNameTable(slices.Concat(obeyed, p.homeEntries(top)))
	}
	return obeyedTable()
}

// homeEntries are the names of a home folder as seen from a folder that holds it.
func (p *protector) homeEntries(top string) []Entry {
	prefix := strings.TrimPrefix(p.ws.home[len(top):], "/")
	out := slices.Clone(homeObeyed)
	for i := range out {
		out[i].Name = filepath.Join(prefix, out[i].Name)
	}
	return out
}

// pattern protects what matches an entry among the names given, or, for one in a folder, among that one's.
func (p *protector) pattern(top string, e Entry, among listing, rank int) {
	dir := filepath.Dir(e.Name)
	if dir != "." {
		among = list(p.looks, filepath.Join(top, dir))
	}
	for _, name := range among.names() {
		path := filepath.Join(dir, name)
		if matchPattern(filepath.Base(e.Name), name) && !p.rules.excepts(e, path) {
			p.add(claim{path: filepath.Join(top, path), reason: e.Reason, rank: rank, absent: nothing, top: topOfText(top, e)})
		}
	}
}

// also protects the names that the settings add.
func (p *protector) also() {
	for _, name := range p.rules.Also {
		e := alsoEntry(name)
		p.alsoAt(p.ws.Root, e, rankRoot, Watch)
		if !e.Anywhere {
			continue
		}
		for _, r := range p.ws.repositories() {
			if r.WorkTree != "" && r.WorkTree != p.ws.Root {
				p.alsoAt(r.WorkTree, e, rankPointer, nothing)
			}
		}
	}
}

func (p *protector) alsoAt(top string, e Entry, rank int, absent Hold) {
	if isPattern(e.Name) {
		p.pattern(top, e, list(p.looks, top), rank)
		return
	}
	path := filepath.Join(top, e.Name)
	if inside(path, p.ws.Root) && path != p.ws.Root {
		p.add(claim{path: path, folder: e.Folder, reason: e.Reason, rank: rank, absent: absent})
	}
}
