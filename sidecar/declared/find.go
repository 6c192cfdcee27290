package declared

import (
	"errors"
	"slices"
)

// Find looks one path up that is a file or a folder, whichever it is. The error is a *protocol.Error.
func Find(p Path, h Host) (Mount, error) {
	if text, err := h.expand(p.Text); err == nil {
		w, err := h.walk(text)
		p.Folder = err == nil && w.info.IsDir()
	}
	mounts, err := Resolve([]Path{p}, h)
	if err != nil {
		return Mount{}, err
	}
	return mounts[0], nil
}

// IsMissing says whether an error is about what does not exist.
func IsMissing(err error) bool { return errors.Is(err, errMissing) }

// Shows says whether a run has a path, which is absolute, at its own place anyway: in the workspace, or in one of mounts that
// has its rights. Nothing is looked at: what there is, the run sees for itself.
func Shows(h Host, mounts []Mount, p Path) bool {
	if slices.ContainsFunc(h.Workspace, func(folder string) bool { return inside(p.Text, folder) }) {
		return true
	}
	outer := around(p.Text, mounts)
	return outer != nil && (outer.Write || !p.Write)
}

// Arrange sorts mounts of several lists, outer ones first, as Resolve does.
func Arrange(mounts []Mount) []Mount { return arranged(mounts) }
