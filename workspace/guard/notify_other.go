//go:build unix && !linux

package guard

import "errors"

// notifier does not exist here: each End reads the whole tree.
type notifier struct{ file interface{ Close() error } }

func newNotifier() (*notifier, error) { return nil, errors.ErrUnsupported }

func noInstance(error) string {
	return "this system has no inotify, so that the whole tree is read after each run"
}

func (t *tree) watch(int, kind) int32   { return -1 }
func (t *tree) watchFile(*node, string) {}
func (t *tree) listen()                 {}
func (t *tree) drain()                  { t.judgeDirty() }
