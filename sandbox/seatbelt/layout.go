package seatbelt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"code.sidecar.dev/sandbox"
)

// ours is where a policy puts what sidecar generates; here it lies in the private folder.
const ours = "/run/sidecar"

// place is where something of the policy is: what the policy calls target is real on this machine.
type place struct{ target, real string }

// layout is where everything of a policy is.
type layout struct {
	// places are all, the innermost target first.
	places []place
	// scratch are the private folders, which a run writes; bases those that it writes and that are kept.
	scratch, bases []string
	// own is what is generated, which it reads.
	own  string
	made sandbox.Private
}

// arrange finds a place for everything that a policy makes or shows.
func arrange(p sandbox.Policy, private string) (layout, error) {
	l := layout{own: filepath.Join(private, "own"), made: sandbox.Private{Dir: private}}
	l.put(ours, l.own)
	l.folder(l.own, 0o700)
	for i, s := range p.Scratch {
		real := filepath.Join(private, scratchName(s.Target, i))
		l.put(s.Target, real)
		l.folder(real, 0o700)
		l.scratch = append(l.scratch, real)
	}
	for _, b := range p.Bases {
		l.put(b.Target, b.Source)
		l.bases = append(l.bases, b.Source)
	}
	moved := slices.Clone(l.places)
	for _, m := range p.Mounts {
		if err := l.mount(m.Source, m.Target, moved); err != nil {
			return l, err
		}
	}
	for _, k := range p.Picks {
		if k.Source != k.Target {
			return l, fmt.Errorf("seatbelt: %s cannot be shown at %s: on macOS a store works at its own path only", k.Source, k.Target)
		}
	}
	slices.SortStableFunc(l.places, func(a, b place) int { return len(b.target) - len(a.target) })
	return l, l.make(p)
}

// scratchName is short: sockets in it have 104 bytes for their whole path.
func scratchName(target string, i int) string {
	if target == "/tmp" {
		return "tmp"
	}
	return "s" + strconv.Itoa(i)
}

func (l *layout) put(target, real string) { l.places = append(l.places, place{target, real}) }

func (l *layout) folder(path string, mode uint32) {
	l.made.Folders = append(l.made.Folders, sandbox.Folder{Path: path, Mode: mode})
}

// mount shows what is there. Within a folder that lies elsewhere here, such as the home, a link leads to it.
func (l *layout) mount(source, target string, moved []place) error {
	at, ok := innermost(moved, target)
	switch {
	case source == target && (!ok || sandbox.Inside(target, at.real)):
		l.put(target, source)
		return nil
	case !ok:
		return fmt.Errorf("seatbelt: %s cannot be shown at %s: macOS has no mounts for a run; declare it at its own path", source, target)
	case target == at.target:
		return fmt.Errorf("seatbelt: %s cannot be shown in the place of the private folder %s", source, target)
	}
	l.put(target, source)
	l.link(at.real+target[len(at.target):], source, at.real)
	return nil
}

// link makes a link, and the folders between it and one that is there.
func (l *layout) link(path, to, below string) {
	rel := strings.Split(strings.TrimPrefix(path, below+"/"), "/")
	for i := range rel[:len(rel)-1] {
		dir := filepath.Join(below, filepath.Join(rel[:i+1]...))
		if !slices.ContainsFunc(l.made.Folders, func(f sandbox.Folder) bool { return f.Path == dir }) {
			l.folder(dir, 0o700)
		}
	}
	l.made.Links = append(l.made.Links, sandbox.Link{Target: path, To: to})
}

// make lists files and links of the policy at their places.
func (l *layout) make(p sandbox.Policy) error {
	for _, f := range p.Files {
		at, ok := innermost(l.places, f.Target)
		if !ok || !l.isPrivate(at.real) || f.Target == at.target {
			return fmt.Errorf("seatbelt: a file cannot be put at %s: it is the machine's own", f.Target)
		}
		real := l.at(f.Target)
		l.above(real, at.real)
		l.made.Files = append(l.made.Files, sandbox.File{Target: real, Data: f.Data, Mode: f.Mode})
	}
	for _, k := range p.Links {
		at, ok := innermost(l.places, k.Target)
		if !ok || !l.isPrivate(at.real) || k.Target == at.target {
			return fmt.Errorf("seatbelt: a link cannot be put at %s: it is the machine's own", k.Target)
		}
		l.link(l.at(k.Target), l.at(k.To), at.real)
	}
	return nil
}

// above lists the folders between a private folder and what is put in it.
func (l *layout) above(path, below string) {
	rel := strings.Split(strings.TrimPrefix(filepath.Dir(path), below), "/")
	for i := range rel {
		dir := filepath.Join(below, filepath.Join(rel[:i+1]...))
		if dir != below && !slices.ContainsFunc(l.made.Folders, func(f sandbox.Folder) bool { return f.Path == dir }) {
			l.folder(dir, 0o700)
		}
	}
}

func (l *layout) isPrivate(real string) bool { return sandbox.Inside(real, l.made.Dir) }

// innermost is the place that a path lies in.
func innermost(places []place, path string) (place, bool) {
	var best place
	for _, at := range places {
		if sandbox.Inside(path, at.target) && len(at.target) > len(best.target) {
			best = at
		}
	}
	return best, best.target != ""
}

// at is where a path of the policy is here.
func (l layout) at(path string) string {
	at, ok := innermost(l.places, path)
	if !ok {
		return path
	}
	return at.real + path[len(at.target):]
}

// word changes what an argument or a variable names: a path, or a list of them as in PATH, also after a NAME= or --flag=. A
// path within other text stays what it is.
func (l layout) word(s string) string {
	name, value, ok := strings.Cut(s, "=")
	if !ok || strings.ContainsAny(name, "/ \n") {
		return l.paths(s)
	}
	return name + "=" + l.paths(value)
}

func (l layout) paths(s string) string {
	parts := strings.Split(s, ":")
	for i, part := range parts {
		if strings.HasPrefix(part, "/") {
			parts[i] = l.at(part)
		}
	}
	return strings.Join(parts, ":")
}
