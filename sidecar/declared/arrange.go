package declared

import (
	"path/filepath"
	"slices"
	"strings"
)

// arranged sorts mounts, outer ones first, and drops what says nothing new.
func arranged(mounts []Mount) []Mount {
	slices.SortFunc(mounts, func(a, b Mount) int {
		if by := slices.Compare(parts(a.Target), parts(b.Target)); by != 0 {
			return by
		}
		return strings.Compare(access(b), access(a)) // who may write first
	})
	var all []Mount
	for _, m := range mounts {
		if !repeats(m, all) {
			all = append(all, m)
		}
	}
	return all
}

func access(m Mount) string {
	if m.Write {
		return "write"
	}
	return "read"
}

// repeats says whether the mounts before show the same at the same place with the same rights, or stand there already.
func repeats(m Mount, before []Mount) bool {
	outer := around(m.Target, before)
	if outer == nil {
		return false
	}
	rest := strings.TrimPrefix(m.Target, outer.Target)
	return rest == "" || outer.Write == m.Write && outer.Source+rest == m.Source
}

// around is the innermost of sorted mounts that a path lies in.
func around(path string, mounts []Mount) *Mount {
	for i := range slices.Backward(mounts) {
		if inside(path, mounts[i].Target) {
			return &mounts[i]
		}
	}
	return nil
}

// Pins are the folders that have to be mount points of their own, for a mount that lies inside of one that runs may
// write: a run could rename the folders in between, mount and all, and put others in their place. The mounts are those of
// Resolve.
func Pins(mounts []Mount) []string {
	var all []string
	for i, m := range mounts {
		outer := around(filepath.Dir(m.Target), mounts[:i])
		if outer == nil || !outer.Write {
			continue
		}
		for at := filepath.Dir(m.Target); at != outer.Target; at = filepath.Dir(at) {
			if !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return all
}
