//go:build unix

package looks

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/locked"
)

// Unlock has looks below these folders, for which this user took rights from himself, go on all the same: see package locked.
func (l *Looks) Unlock(dirs ...string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlocked = append(l.unlocked, dirs...)
}

// unlocks says that a look failed for a lack of rights, and is to go on.
func (l *Looks) unlocks(path string, err error) bool {
	if l == nil || !locked.Refused(err) || filepath.Clean(path) != path {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, dir := range l.unlocked {
		if path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

// Past is for who failed to open a file that he takes note of by himself: not nil, all is open on the way until back is called.
func (l *Looks) Past(path string, err error) (back func()) {
	if !l.unlocks(path, err) {
		return nil
	}
	return locked.Way(path)
}

// reading reads a file, and where a right to it lacks once more with all open on the way.
func (l *Looks) reading(path string, read func(failed func(string, error)) ([]byte, error)) ([]byte, error) {
	again := false
	data, err := read(func(path string, err error) {
		if again = l.unlocks(path, err); !again {
			l.NotOpened(path, err)
		}
	})
	if !again {
		return data, err
	}
	defer locked.Way(path)()
	return read(l.NotOpened)
}
