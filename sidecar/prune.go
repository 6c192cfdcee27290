package sidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"code.sidecar.dev/sidecar/protocol"
	"golang.org/x/sys/unix"
)

// What is kept of the outputs of past runs.
const (
	// outputAge is how long a file is kept after it was last written to.
	outputAge = 7 * 24 * time.Hour
	// outputTotal is how many bytes of files are kept in all; the oldest go first.
	outputTotal = 1 << 30
	// outputGrace is how long a file stays even so: whoever was just told its name is still to read it.
	outputGrace = time.Hour
	// pruneEvery is how often an engine looks, at most.
	pruneEvery = time.Hour
)

// keeping are the limits to what is kept of outputs.
type keeping struct {
	age, grace time.Duration
	total      int64
}

// tidy removes what is not to be kept of outputs, in the background, when it was not done lately.
func (e *Engine) tidy() {
	state, err := e.stateDir()
	if err != nil {
		return // the run says so
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.tidied.IsZero() && time.Since(e.tidied) < pruneEvery {
		return
	}
	e.tidied = time.Now()
	h := e.settings.History
	age := outputAge
	if h.Keep != "full" { // who does not want it kept wants it for as long as it takes to read it
		age = outputGrace
	}
	e.background.Go(func() {
		if err := prune(e.life, filepath.Join(state, outputFolder), keeping{age, outputGrace, outputTotal}, time.Now()); err != nil {
			e.log.Warn("removing old outputs", "err", err)
		}
		if e.history.Tidy == nil {
			return
		}
		if err := e.history.Tidy(e.life, h.Age, int64(h.Size)); err != nil && e.life.Err() == nil {
			e.log.Warn("forgetting old runs", "err", err)
		}
	})
}

// createOutput makes the file of an output. As long as it is open, a lock on it tells every process that its run goes on.
func createOutput(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) // where this fails prune's own fails too, and removes nothing
	}
	return f, err
}

// outputFile is a file that prune found.
type outputFile struct {
	name    string
	size    int64
	written time.Time
}

// prune removes outputs from dir: what is too old and then, oldest first, what is too much. When another process is
// at it, it is left to that. It touches only files that runs of this user wrote, by their names in this very folder.
func prune(ctx context.Context, dir string, keep keeping, now time.Time) error {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	// Two that look at the same files take each other's locks for runs that go on, and remove younger ones instead.
	if errors.Is(unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return nil
	}
	files, total, err := outputsIn(d)
	errs := []error{err}
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		age := now.Sub(f.written)
		if age <= keep.age && (total <= keep.total || age <= keep.grace) {
			continue
		}
		gone, err := removeEnded(d, f.name)
		if gone {
			total -= f.size
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// outputsIn are the outputs in a folder, oldest first, and their size in all.
func outputsIn(d *os.File) (files []outputFile, total int64, err error) {
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		var st unix.Stat_t
		if !isOutput(name) || unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG && int(st.Uid) == os.Geteuid() {
			files = append(files, outputFile{name, st.Size, time.Unix(st.Mtim.Unix())})
			total += st.Size
		}
	}
	slices.SortFunc(files, func(a, b outputFile) int { return a.written.Compare(b.written) })
	return files, total, err
}

func isOutput(name string) bool {
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	return ext == string(protocol.Stdout) || ext == string(protocol.Stderr)
}

// removeEnded removes an output unless its run goes on, in whatever process.
func removeEnded(d *os.File, name string) (gone bool, err error) {
	fd, err := unix.Openat(int(d.Fd()), name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err == nil {
		err = unix.Unlinkat(int(d.Fd()), name, 0)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return false, fmt.Errorf("output %q: %w", name, err)
	}
	return true, nil
}
