package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// stale is the age at which Claude Code's own lock (npm's proper-lockfile) counts as left behind: its holder touches it
// more often.
const stale = 10 * time.Second

// Hold takes the lock under which Claude Code changes its settings: a folder beside them. It waits for who has it.
func Hold(path string) (release func(), err error) {
	lock := path + ".lock"
	for deadline := time.Now().Add(3 * stale); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		err := os.Mkdir(lock, 0o755) //nolint:gosec // as its other holders make it
		switch {
		case err == nil:
			return func() { _ = os.Remove(lock) }, nil
		case errors.Is(err, fs.ErrNotExist): // there is no folder, so nobody has settings in it
			return func() {}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
		if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > stale {
			_ = os.Remove(lock)
		}
	}
	return nil, fmt.Errorf("%s is held by another program", lock)
}
