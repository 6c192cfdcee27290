package declared

import (
	"errors"
	"fmt"
)

// errReplaced is what is no more what it was when it was looked up.
var errReplaced = errors.New("was replaced while it was looked at")

// Held are mounts with what their sources are now, so that who mounts them can tell whether they still are that. A source has
// no link on its way: one that is there meanwhile is an error.
func Held(mounts ...Mount) ([]Mount, error) {
	var all []Mount
	for _, m := range mounts {
		var err error
		if m.Dev, m.Ino, err = objectAt(m.Source); err != nil {
			return nil, fmt.Errorf("%s %w", shown(m.Source), err)
		}
		all = append(all, m)
	}
	return all, nil
}
