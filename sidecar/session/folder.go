//go:build unix

package session

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The two pipes of a session: the driver reads one and answers in the other.
const (
	requestsName = "requests"
	answersName  = "answers"
)

// mostAnswer is how long a line of the driver's may be; what is longer is no driver's.
const mostAnswer = 200

// Folder is the meeting place of a session.
type Folder struct {
	dir      string
	requests *os.File
	answers  *os.File
	lines    chan string
	closed   chan struct{}
	last     string // the line after which there are none

	mu    sync.Mutex
	calls int
	pairs int   // how many were made
	spare *pair // one that nobody uses
}

// pair are the two pipes that calls print into, one call after another: they are made anew only when a call has left
// something behind that still has them. Making and removing files for each call takes longer than the rest of it where many
// were removed just now: ext4 does not use an inode again for five seconds, and looks at all of them for the next one.
type pair struct {
	name string
	out  [2]*os.File
}

// suffixes are those of a pair.
var suffixes = [2]string{".out", ".err"}

// Make makes the folder of a session, which must not exist, and its pipes.
func Make(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the session's folder: %w", err)
	}
	f := &Folder{dir: dir, lines: make(chan string, 64), closed: make(chan struct{}), last: word() + "\n"}
	var err error
	if f.requests, err = f.pipe(requestsName); err == nil {
		f.answers, err = f.pipe(answersName)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	go f.listen()
	return f, nil
}

// Dir is where it is.
func (f *Folder) Dir() string { return f.dir }

// pipe makes a named pipe and opens both of its ends, so that opening waits for nobody (fifo(7)).
func (f *Folder) pipe(name string) (*os.File, error) {
	path := filepath.Join(f.dir, name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("making the pipe %s: %w", path, err)
	}
	return open(path, unix.O_RDWR)
}

func open(path string, mode int) (*os.File, error) {
	fd, err := unix.Open(path, mode|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the pipe %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// listen passes the driver's lines on, to who waits: until somebody does, who writes more has to wait, too. What is too
// long is cut, and is then nobody's answer.
func (f *Folder) listen() {
	defer close(f.lines)
	r := bufio.NewReaderSize(f.answers, 4<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		if string(line) == f.last {
			return
		}
		select {
		case f.lines <- string(line[:min(len(line), mostAnswer)]):
		case <-f.closed:
			return
		}
	}
}

// ErrClosed says that the interpreter has ended, or the folder was closed, while something was waited for.
var ErrClosed = errors.New("the session is closed")

// Ready waits until the driver runs.
func (f *Folder) Ready(ctx context.Context) error {
	for {
		select {
		case line, ok := <-f.lines:
			if !ok {
				return ErrClosed
			}
			if line == "ready\n" {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// End is said when the interpreter is gone: what it has answered until then is still heard, and then nothing is waited for
// any more. This side has both ends of each pipe, so that neither would ever read as ended by itself.
func (f *Folder) End() {
	_ = f.requests.SetWriteDeadline(time.Now())
	_ = f.answers.SetWriteDeadline(time.Now().Add(longestEnd))
	if _, err := f.answers.WriteString("\n" + f.last); err != nil { // it is full, and nobody listens
		_ = f.answers.Close()
	}
}

// longestEnd is how long the pipe of answers may be full.
const longestEnd = time.Second

// Close ends it, and takes the folder away.
func (f *Folder) Close() {
	close(f.closed)
	for _, file := range []*os.File{f.requests, f.answers} {
		if file != nil {
			_ = file.Close()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spare != nil {
		f.spare.close()
		f.spare = nil
	}
	_ = os.RemoveAll(f.dir)
}

// pair is one for the next call.
func (f *Folder) pair() (p pair, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spare != nil {
		p, f.spare = *f.spare, nil
		return p, nil
	}
	f.pairs++
	p.name = "pipes" + strconv.Itoa(f.pairs)
	for i, suffix := range suffixes {
		path := filepath.Join(f.dir, p.name+suffix)
		if err = unix.Mkfifo(path, 0o600); err != nil {
			err = fmt.Errorf("making the pipe %s: %w", path, err)
		} else {
			p.out[i], err = open(path, unix.O_RDONLY)
		}
		if err != nil {
			p.close()
			f.forget(p.name)
			return p, err
		}
	}
	return p, nil
}

func (p pair) close() {
	for _, file := range p.out {
		if file != nil {
			_ = file.Close()
		}
	}
}

// giveBack takes a pair of which nobody has the other ends.
func (f *Folder) giveBack(p pair) {
	for _, file := range p.out {
		_ = file.SetReadDeadline(time.Time{})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.closed:
	default:
		if f.spare == nil {
			f.spare = &p
			return
		}
	}
	p.close()
}

// forget takes a pair's names away: what has them open keeps them.
func (f *Folder) forget(name string) {
	for _, suffix := range suffixes {
		_ = os.Remove(filepath.Join(f.dir, name+suffix))
	}
}

// keepCode writes the code of a call, where tracebacks and debuggers find it, into the file of one long ago if there is one: a
// program that still reads that one sees it change.
// That one is never empty meanwhile: ext4 writes to the disk what was cut to nothing and then written (auto_da_alloc, ext4(5)).
func (f *Folder) keepCode(n int, suffix, code string) error {
	path := f.path(n, suffix)
	if n > keptCode {
		_ = os.Rename(f.path(n-keptCode, suffix), path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(code); err != nil {
		return err
	}
	if n > keptCode {
		return file.Truncate(int64(len(code)))
	}
	return nil
}

// Outputs take what a call prints. Late takes what comes after its end.
type Outputs struct {
	Stdout, Stderr, Late io.Writer
	// Stdin is the call's input; nil is none.
	Stdin io.Reader
}

// Call hands a call to the driver. One call goes on at a time. The error is ErrClosed when the interpreter has ended; after
// any other one the driver has heard nothing.
func (f *Folder) Call(d Driver, r Request, o Outputs) (*Call, error) {
	p, err := f.pair()
	if err != nil {
		return nil, err
	}
	f.calls++
	c := &Call{folder: f, number: number{f.calls, word(), p.name}, driver: d, late: o.Late, out: [2]*stream{{file: p.out[0], to: o.Stdout}, {file: p.out[1], to: o.Stderr}}}
	r.Input = o.Stdin != nil
	line, files, err := d.words(c.number, r)
	if err == nil {
		err = c.open(files, r.Code, o.Stdin)
	}
	if err != nil {
		c.abandon()
		return nil, err
	}
	if _, err = f.requests.Write(line); err != nil { // a part of it may be written
		c.abandon()
		return nil, fmt.Errorf("%w: handing code to it: %w", ErrClosed, err)
	}
	return c, nil
}

// word is one that cannot be guessed.
func word() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (f *Folder) path(n int, suffix string) string {
	return filepath.Join(f.dir, strconv.Itoa(n)+suffix)
}
