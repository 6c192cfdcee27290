package declared

import (
	"errors"
	"fmt"
	"slices"

	"code.sidecar.dev/sidecar/protocol"
)

// OfSockets are the unix sockets that a setting names.
func OfSockets(key string, texts []string) []Path {
	var all []Path
	for _, text := range texts {
		all = append(all, Path{Key: key, Text: text, Write: true})
	}
	return all
}

// Sockets gives the mounts of unix sockets that are declared. What is no socket is a bad request; so is one that a link
// leads to which a run may have made. written are the mounts of the same run.
func Sockets(paths []Path, h Host, written []Mount) ([]Mount, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	h = h.withoutLinks()
	writable := slices.Concat(h.Workspace, h.Writable)
	for _, m := range written {
		if m.Write {
			writable = append(writable, m.Source, m.Target)
		}
	}
	var all []Mount
	var errs []error
	for _, p := range paths {
		m, err := h.socket(p, writable)
		if err != nil {
			errs = append(errs, told(p, err))
			continue
		}
		all = append(all, m)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &protocol.Error{Kind: protocol.BadRequest, Message: err.Error(), Hint: "start what listens there, or take it out", Err: err}
	}
	return all, nil
}

// socket finds one, and refuses sidecar's own: over that, a run would ask for others without limits.
func (h Host) socket(p Path, writable []string) (Mount, error) {
	path, err := h.expand(p.Text)
	if err != nil {
		return Mount{}, err
	}
	w, err := h.walk(path)
	if err != nil {
		return Mount{}, err
	}
	for _, own := range h.Own {
		if inside(w.end, own) {
			return Mount{}, errors.New("is sidecar's own")
		}
	}
	if l := h.suspect(w, writable); l != nil {
		return Mount{}, fmt.Errorf("the symbolic link %s, which a run may have made, leads to %s", shown(l.at), shown(w.end))
	}
	if w.info.Mode()&socket == 0 {
		return Mount{}, errors.New("is no unix socket")
	}
	return Mount{Source: w.end, Target: path}, nil
}
