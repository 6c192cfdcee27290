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
}

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
	_ = os.RemoveAll(f.dir)
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
	f.mu.Lock()
	f.calls++
	c := &Call{folder: f, number: number{f.calls, word()}, driver: d, late: o.Late}
	f.mu.Unlock()
	r.Input = o.Stdin != nil
	line, files, err := d.words(c.number, r)
	if err != nil {
		return nil, err
	}
	if files == nil {
		files = map[string][]byte{}
	}
	files[strconv.Itoa(c.n)+d.suffix] = []byte(r.Code)
	if err := c.open(files, o); err != nil {
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
