package linked

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/workspace/plainfile"
)

// record is what is kept of a worktree beside it, where no run can write: what a session has in reach (HEAD, the
// admin folder) says what the session wants.
type record struct {
	Name   string    `json:"name"`
	Common string    `json:"common"`
	Admin  string    `json:"admin"`
	Base   string    `json:"base"`
	Start  string    `json:"start"`
	Made   time.Time `json:"made"`
	// NewBranch says that the branch was made with the worktree.
	NewBranch bool `json:"newBranch"`
	// Stage is the name in the common git dir under which the admin folder is filled.
	Stage string `json:"stage"`
	// Making says that the worktree is not whole yet: whoever finds this, with the lock held, clears it away.
	Making bool `json:"making"`
}

const recordsName = ".records"

func (t *Trees) recordPath(name string) string {
	return filepath.Join(t.Folder, recordsName, folderName(name)+".json")
}

// path is a worktree's folder.
func (t *Trees) path(name string) string { return filepath.Join(t.Folder, folderName(name)) }

// readRecord is nil without error when there is none.
func (t *Trees) readRecord(name string) (*record, error) {
	path := t.recordPath(name)
	data, err := plainfile.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil || r.Name != name || r.Common != t.Common {
		return nil, &Error{Kind: ErrCondition, Msg: fmt.Sprintf("worktree %q: its record %s is not its own", name, path),
			Hint: "move that file away, then make the worktree under another name", Err: err}
	}
	return r, nil
}

// writeRecord replaces a record in one step.
func (t *Trees) writeRecord(r *record) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	path := t.recordPath(r.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (t *Trees) removeRecord(name string) error {
	err := os.Remove(t.recordPath(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// records are those of all worktrees of the repository, in the order of their files' names. What cannot be read is
// left out.
func (t *Trees) records() []*record {
	files, _ := os.ReadDir(filepath.Join(t.Folder, recordsName))
	var out []*record
	for _, f := range files {
		stem, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		if r, err := t.readRecord(nameOf(stem)); err == nil && r != nil {
			out = append(out, r)
		}
	}
	return out
}

// locked runs f, with Trees that hold the lock, while no other process makes or drops a worktree of this repository.
// The gits that f starts inherit the lock: one that goes on when this process is killed keeps the next maker waiting.
func (t *Trees) locked(ctx context.Context, f func(*Trees) error) error {
	if err := t.makeFolder(); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(t.Folder, ".lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := waitLock(ctx, lock); err != nil {
		return fmt.Errorf("waiting for another sidecar that makes or drops a worktree (%s): %w", lock.Name(), err)
	}
	held := *t
	held.lock = lock
	return f(&held)
}

// waitLock asks again and again: flock(2) itself cannot be told to give up.
func waitLock(ctx context.Context, f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
