package logs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"
)

// file is written a line at a time, and is another one when it has grown too large. Several processes may write to it and
// rotate it: the sidecar that finishes its runs, and its successor.
type file struct {
	path  string
	size  int64
	files int
	// head is the first line of a file, or the one after lines that were lost.
	head func(lost int) []byte

	mu  sync.Mutex
	out *os.File
	// stderr says that the process's standard error follows it.
	stderr bool
	closed bool
	lost   int
}

// open begins, and gives a standard error that is the log's file from then on to each next one as well: what the Go runtime
// says of a crash belongs there.
func (f *file) open() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stderr = IsStderr(f.path)
	return f.reopen()
}

func (f *file) reopen() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	info, err := out.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.path, Err: errors.New("is no regular file")}
	}
	if err != nil {
		return errors.Join(err, out.Close())
	}
	if f.out != nil {
		_ = f.out.Close()
	}
	if f.out = out; f.stderr {
		_ = becomeStderr(out)
	}
	if info.Size() == 0 {
		_, err = out.Write(f.head(0))
	}
	return err
}

// Write writes a line, to the next file if this one is full.
func (f *file) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	if err := f.write(line); err != nil {
		f.lost++
		return 0, err
	}
	return len(line), nil
}

func (f *file) write(line []byte) error {
	have, err := f.out.Stat() // of none, too
	there, err2 := os.Lstat(f.path)
	switch {
	case err != nil || err2 != nil || !os.SameFile(have, there): // another process has begun the next one, or somebody took it away
		err = f.reopen()
	case have.Size() > 0 && have.Size()+int64(len(line)) > f.size:
		err = f.rotate()
	}
	if err != nil {
		return err
	}
	if f.lost > 0 {
		if _, err := f.out.Write(f.head(f.lost)); err != nil {
			return err
		}
		f.lost = 0
	}
	_, err = f.out.Write(line)
	return err
}

// rotate gives each file the next number, and begins one. Who does is decided by a lock on the file; the others write on
// meanwhile.
func (f *file) rotate() error {
	if syscall.Flock(int(f.out.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	have, err := f.out.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(f.path); err == nil && os.SameFile(have, there) {
		for _, path := range Files(f.path) {
			if n := number(path); n >= f.files-1 {
				err = errors.Join(err, os.Remove(path))
			} else {
				err = errors.Join(err, os.Rename(path, numbered(f.path, n+1)))
			}
		}
		if err != nil {
			_ = syscall.Flock(int(f.out.Fd()), syscall.LOCK_UN)
			return err
		}
	}
	return f.reopen()
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.out == nil {
		return nil
	}
	f.closed = true
	return f.out.Close()
}

// Files are those of the log at path that there are, the oldest first.
func Files(path string) []string {
	var out []string
	for n := 0; ; n++ {
		name := numbered(path, n)
		if _, err := os.Lstat(name); err == nil {
			out = append([]string{name}, out...)
		} else if n > 0 {
			return out
		}
	}
}

// Tidy removes what was last written before a time: logs of projects that nobody works in any more.
func Tidy(state string, before time.Time) {
	found, _ := filepath.Glob(filepath.Join(Dir(state), "*"+Suffix+"*"))
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(path)
		}
	}
}

func numbered(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

// number is that of a log's file; the one that is written to has 0.
func number(path string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(path), "."))
	return n
}

// IsStderr says that the file at path is this process's standard error.
func IsStderr(path string) bool {
	a, err := os.Lstat(path)
	b, err2 := os.Stderr.Stat()
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// plain escapes what slog leaves as it is, and a terminal would obey or hide: control characters of JSON's strings beyond
// ASCII's first 32, and characters that only format.
type plain struct{ to io.Writer }

func (p plain) Write(line []byte) (int, error) {
	if _, err := p.to.Write([]byte(escaped(string(bytes.TrimSuffix(line, []byte("\n")))) + "\n")); err != nil {
		return 0, err
	}
	return len(line), nil
}

// escaped is a line in which every character is one that is shown. The escapes are those that JSON and Go's quoted strings
// have in common; slog quotes what has such characters.
func escaped(line string) string {
	if !strings.ContainsFunc(line, hidden) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteRune(utf8.RuneError)
		default:
			const digits = "0123456789abcdef"
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(digits[r>>shift&0xf])
			}
		}
	}
	return b.String()
}

func hidden(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
