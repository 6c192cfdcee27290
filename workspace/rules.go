package workspace

import (
	"path/filepath"
	"slices"
	"strings"
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

// names protects what is at the top of a work tree by its name; absent says how a missing one is held.
func (p *protector) names(top string, rank int, absent Hold) {
	present := p.namesIn(top)
	for _, e := range p.table(top) {
		if isPattern(e.Name) {
			p.pattern(top, e, present, rank)
			continue
		}
		if absent == nothing && !present.has(firstPart(e.Name)) || p.rules.excepts(e, e.Name) {
			continue
		}
		p.add(claim{path: filepath.Join(top, e.Name), folder: e.Folder, reason: e.Reason, rank: rank, absent: absent})
	}
}

// table is what counts at the top of a work tree.
func (p *protector) table(top string) []Entry {
	if p.ws.home != "" && inside(p.ws.home, top) {
		return slices.Concat(obeyed, p.homeEntries(top))
	}
	return obeyed
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

func (p *protector) pattern(top string, e Entry, present nameSet, rank int) {
	dir, names := filepath.Dir(e.Name), present
	if dir != "." {
		if !present.has(firstPart(dir)) {
			return
		}
		names = p.namesIn(filepath.Join(top, dir))
	}
	for _, name := range names.list {
		path := filepath.Join(dir, name)
		if matchPattern(filepath.Base(e.Name), name) && !p.rules.excepts(e, path) {
			p.add(claim{path: filepath.Join(top, path), reason: e.Reason, rank: rank, absent: nothing})
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
		p.pattern(top, e, p.namesIn(top), rank)
		return
	}
	path := filepath.Join(top, e.Name)
	if inside(path, p.ws.Root) && path != p.ws.Root {
		p.add(claim{path: path, folder: e.Folder, reason: e.Reason, rank: rank, absent: absent})
	}
}

// nameSet is what a folder holds. It is partial for a folder with more than maxEntries entries: every name may
// then be there.
type nameSet struct {
	list    []string
	set     map[string]bool
	partial bool
}

func (n nameSet) has(name string) bool { return n.partial || n.set[name] }

func (p *protector) namesIn(dir string) nameSet {
	n := nameSet{set: map[string]bool{}}
	f, err := openFolder(dir)
	if err != nil {
		return n
	}
	defer f.Close()
	n.list, _ = f.Readdirnames(maxEntries)
	n.partial = len(n.list) == maxEntries
	slices.Sort(n.list)
	for _, name := range n.list {
		n.set[name] = true
	}
	return n
}

func firstPart(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}
