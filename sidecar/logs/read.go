package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Query says which entries are wanted.
type Query struct {
	// Level is the least; the zero time of Since is from the beginning.
	Level slog.Level
	Since time.Time
	// Follow goes on with what is written from now on, until the context ends.
	Follow bool
}

// followEvery is how often is looked for what was written.
const followEvery = 200 * time.Millisecond

// longestLine is how much of a line is read: ours are shorter, but anything may be in a file.
const longestLine = 64 << 10

// All are the logs in a state folder, by the paths of the files that are written to.
func All(state string) []string {
	found, _ := filepath.Glob(filepath.Join(Dir(state), "*"+Suffix+"*"))
	var out []string
	for _, path := range found {
		i := strings.LastIndex(path, Suffix)
		if path = path[:i+len(Suffix)]; !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// There is a log's path, if there is anything of the log.
func There(path string) []string {
	if len(Files(path)) == 0 {
		return nil
	}
	return []string{path}
}

// Print gives entries to show, in the order of their times: first what is there, across files that were rotated, and then,
// with Follow, what comes, of logs that begin meanwhile as well. paths names the logs, and is asked again. The error is
// show's; the end of the context is none.
func Print(ctx context.Context, paths func() []string, q Query, show func(Entry) error) error {
	readers := map[string]*reader{}
	defer func() {
		for _, r := range readers {
			r.close()
		}
	}()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		var all []Entry
		for _, path := range paths() {
			if readers[path] == nil {
				readers[path] = &reader{path: path}
			}
			all = append(all, readers[path].read(!q.Follow)...)
		}
		slices.SortStableFunc(all, func(a, b Entry) int { return a.Time.Compare(b.Time) })
		for _, e := range all {
			if e.Level < q.Level || e.Time.Before(q.Since) {
				continue
			}
			if e.Plain {
				e.Time = time.Time{}
			}
			if err := show(e); err != nil {
				return err
			}
		}
		if !q.Follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// reader reads one log on from where it came to, from file to file.
type reader struct {
	path string
	file *os.File
	// rest is the beginning of a line that is not written to its end yet; last the entry before, with which plain lines belong.
	rest []byte
	last Entry
}

// read gives all entries since the last time. final says that nothing more will be asked for.
func (r *reader) read(final bool) (out []Entry) {
	for r.file != nil || r.next() {
		out = append(out, r.drain()...)
		if r.isNewest() {
			break
		}
		out = append(out, r.drain()...) // what was written before it was rotated
		r.forward()
	}
	if final && len(r.rest) > 0 {
		out = append(out, r.entry(r.rest))
	}
	return out
}

// next opens the oldest file; false when there is none.
func (r *reader) next() bool {
	for _, path := range Files(r.path) {
		if r.open(path) {
			return true
		}
	}
	return false
}

func (r *reader) open(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return false
	}
	r.file, r.rest = f, nil
	return true
}

// isNewest says that the file is the one that is written to, or that no newer one is there yet.
func (r *reader) isNewest() bool {
	there, err := os.Lstat(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	have, err2 := r.file.Stat()
	return err != nil || err2 != nil || os.SameFile(have, there)
}

// forward opens the file that follows the one that is open, or the oldest, where that is gone. Nothing is rotated meanwhile:
// who does, locks the newest.
func (r *reader) forward() {
	if newest, err := os.Open(r.path); err == nil {
		defer newest.Close()
		_ = syscall.Flock(int(newest.Fd()), syscall.LOCK_SH)
	}
	have, err := r.file.Stat()
	r.close()
	files := Files(r.path)
	for i, path := range files {
		if there, err2 := os.Lstat(path); err == nil && err2 == nil && os.SameFile(have, there) && i+1 < len(files) {
			r.open(files[i+1])
		}
	}
}

// drain reads to the end of the file, and keeps a line that has no end yet.
func (r *reader) drain() (out []Entry) {
	in := bufio.NewReader(r.file)
	for {
		line, err := in.ReadSlice('\n')
		if len(r.rest) < longestLine {
			r.rest = append(r.rest, line...)
		}
		if err == nil {
			out = append(out, r.entry(bytes.TrimSuffix(r.rest, []byte("\n"))))
			r.rest = r.rest[:0]
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return out
		}
	}
}

func (r *reader) entry(line []byte) Entry {
	e := Parse(string(line))
	if e.Plain { // of a crash: as late as what was said before it
		e.Time = r.last.Time
	}
	if e.Workspace = r.last.Workspace; e.Get(workspace) != "" {
		e.Workspace = e.Get(workspace)
	}
	r.last = e
	return e
}

func (r *reader) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
	r.file = nil
}
