package declared

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// item is a declared path that was found.
type item struct {
	Path
	text string // expanded
	way
}

// Resolve looks declared paths up and gives their mounts, those of outer folders first: what is declared inside of
// another path keeps its own rights. Of two declarations of one path the one that may write counts. The error is a
// *protocol.Error that names each path that is missing, is of another kind, or may not be shown.
func Resolve(paths []Path, h Host) ([]Mount, error) {
	h = h.withoutLinks()
	var items []item
	var errs []error
	for _, p := range paths {
		it, err := h.find(p)
		if err == nil {
			err = h.refuse(it)
		}
		if err != nil {
			errs = append(errs, told(p, err))
			continue
		}
		items = append(items, it)
	}
	errs = append(errs, h.planted(items)...)
	if err := errors.Join(errs...); err != nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Err: err}
	}
	return arranged(h.mounts(items)), nil
}

// withoutLinks also has the folders of the host as they are without links.
func (h Host) withoutLinks() Host {
	if h.Home != "" {
		h.homes = []string{filepath.Clean(h.Home)}
	}
	for _, folders := range []*[]string{&h.Workspace, &h.Own, &h.Writable, &h.homes} {
		both := slices.Clone(*folders)
		for _, folder := range *folders {
			if w, err := h.walk(folder); err == nil && !slices.Contains(both, w.end) {
				both = append(both, w.end)
			}
		}
		*folders = both
	}
	return h
}

func told(p Path, err error) error { return fmt.Errorf("%s: %s: %w", p.Key, shown(p.Text), err) }

// find looks one path up.
func (h Host) find(p Path) (item, error) {
	text, err := h.expand(p.Text)
	if err != nil {
		return item{}, err
	}
	w, err := h.walk(text)
	if errors.Is(err, errMissing) {
		return item{}, missing(p, w)
	}
	if err != nil {
		return item{}, err
	}
	return item{p, text, w}, kind(p, w)
}

// missing says how to make what is not there.
func missing(p Path, w way) error {
	if n := len(w.links); n > 0 {
		l := w.links[n-1]
		return fmt.Errorf("%w: the symbolic link %s leads to %s", errMissing, shown(l.at), shown(l.to))
	}
	if p.Folder {
		return fmt.Errorf("%w: make it with `mkdir -p %s`, or take it out", errMissing, quoted(p.Text))
	}
	return fmt.Errorf("%w: make it with `touch %s`, or take it out", errMissing, quoted(p.Text))
}

// kind says what is wrong with what a path turned out to be.
func kind(p Path, w way) error {
	other := strings.NewReplacer("_dirs", "_files", "_files", "_dirs", "-dir", "-file", "-file", "-dir").Replace(p.Key)
	mode := w.info.Mode()
	switch {
	case p.Folder && mode.IsRegular():
		return fmt.Errorf("is a file: name it in %s", other)
	case !p.Folder && mode.IsDir():
		return fmt.Errorf("is a folder: name it in %s", other)
	case p.Folder && mode.IsDir(), !p.Folder && mode.IsRegular():
		return nil
	case mode.Type() == socket:
		return errors.New("is a unix socket: name it in network.sockets")
	}
	return fmt.Errorf("is neither a file nor a folder (%s)", mode.Type())
}

// root is a folder or file with the rights that were declared for it.
type root struct {
	path  string
	write bool
}

// planted holds links that a run may have made to what is declared by itself.
func (h Host) planted(items []item) []error {
	writable := slices.Concat(h.Workspace, h.Writable)
	for _, it := range items {
		if it.Write {
			writable = append(writable, it.text, it.end)
		}
	}
	permitted := h.system()
	for _, folder := range h.Workspace {
		permitted = append(permitted, root{folder, false})
	}
	for _, it := range items {
		if h.suspect(it.way, writable) == nil {
			permitted = append(permitted, root{it.end, it.Write})
		}
	}
	var errs []error
	for _, it := range items {
		if l := h.suspect(it.way, writable); l != nil && !covered(it, permitted) {
			errs = append(errs, told(it.Path, fmt.Errorf("the symbolic link %s, which a run may have made, leads to %s: "+
				"declare that itself, if it is meant, or remove the link", shown(l.at), shown(it.end))))
		}
	}
	return errs
}

// suspect is the first link that lies where runs write, or once could.
func (h Host) suspect(w way, writable []string) *link {
	writable = slices.Clone(writable)
	for _, l := range w.links {
		writable = append(writable, h.writtenAround(l.at)...)
	}
	return suspect(w, writable)
}

// writtenAround are the folders around a path that runs could write once.
func (h Host) writtenAround(path string) []string {
	var all []string
	for at := filepath.Dir(path); h.Written != nil; at = filepath.Dir(at) {
		if h.Written(at) {
			all = append(all, at)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return all
}

// suspect is the first link that lies in one of some folders.
func suspect(w way, writable []string) *link {
	for i, l := range w.links {
		if slices.ContainsFunc(writable, func(folder string) bool { return below(l.at, folder) }) {
			return &w.links[i]
		}
	}
	return nil
}

func covered(it item, permitted []root) bool {
	return slices.ContainsFunc(permitted, func(r root) bool { return inside(it.end, r.path) && (r.write || !it.Write) })
}

// mounts are those of the items. A link below something else that is shown is there inside, too, and nothing can be
// mounted on it: what it leads to is.
func (h Host) mounts(items []item) []Mount {
	shown := slices.Clone(h.Workspace)
	for _, it := range items {
		shown = append(shown, it.text, it.end)
	}
	var all []Mount
	for _, it := range items {
		m := Mount{Source: it.end, Target: it.text, Write: it.Write, Folder: it.Folder}
		if suspect(it.way, shown) != nil {
			m.Target = m.Source
		}
		all = append(all, m)
	}
	return all
}
