//go:build unix

package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Call is one call that goes on.
type Call struct {
	number
	folder *Folder
	driver Driver
	files  []string
	out    [2]*stream
	input  *os.File
	feed   io.Reader
	late   io.Writer
}

// Answer is how a call ended.
type Answer struct {
	// Status is the code's exit status, as a program of its own would have it.
	Status int
	// Ends says that the code has ended the interpreter (exit).
	Ends bool
	// Interrupted says that a signal has ended it.
	Interrupted bool
}

// keptCode is of how many calls the code is kept in the folder, where tracebacks and debuggers find it.
const keptCode = 200

// open makes the call's files, and the pipe of its input.
func (c *Call) open(files map[string][]byte, code string, input io.Reader) error {
	f := c.folder
	for name, data := range files {
		path := filepath.Join(f.dir, name)
		c.files = append(c.files, path)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	err := f.keepCode(c.n, c.driver.suffix, code)
	if input == nil || err != nil {
		return err
	}
	c.feed = input
	c.files = append(c.files, f.path(c.n, ".in"))
	c.input, err = f.pipe(fmt.Sprint(c.n) + ".in")
	return err
}

// Wait waits for the call's end. What the call printed until then has been written to its outputs after Finish; where it ends
// the interpreter, after Abandon, which is for when the interpreter is gone. The error is ErrClosed, when that has ended without
// an answer: nothing else ends a wait but the folder's End.
func (c *Call) Wait() (Answer, error) {
	for line := range c.folder.lines {
		if a, done := c.hear(line); done {
			return a, nil
		}
	}
	return Answer{}, ErrClosed
}

// hear takes a line of the driver's: "WORD begun", "WORD done STATUS", "WORD exit STATUS", "WORD interrupted STATUS".
func (c *Call) hear(line string) (a Answer, done bool) {
	word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if word != c.word {
		return a, false
	}
	kind, status, _ := strings.Cut(rest, " ")
	if kind == "begun" {
		c.begins()
		return a, false
	}
	if n, err := fmt.Sscan(status, &a.Status); n != 1 || err != nil || a.Status < 0 || a.Status > 255 {
		a.Status = 1
	}
	a.Ends, a.Interrupted = kind == "exit", kind == "interrupted"
	return a, kind == "done" || a.Ends || a.Interrupted
}

// begins starts to read, now that the driver has opened its ends: before that the pipes would read as ended.
func (c *Call) begins() {
	for _, path := range c.files {
		if !strings.HasSuffix(path, settingsSuffix) { // the shell reads them only now
			_ = os.Remove(path)
		}
	}
	for _, s := range c.out {
		s.start()
	}
	if c.feed == nil {
		return
	}
	go func(w *os.File, from io.Reader) {
		_, _ = io.Copy(w, from)
		_ = w.Close()
	}(c.input, c.feed)
	c.feed = nil
}

// Finish takes what the pipes hold, and lets what comes later be late.
func (c *Call) Finish() {
	c.clear()
	if c.input != nil { // what was not read is nobody's
		_ = c.input.Close()
	}
	ended := true
	for _, s := range c.out {
		ended = s.cut(c.late) && ended
	}
	if ended {
		c.folder.giveBack(pair{c.pipes, [2]*os.File{c.out[0].take(), c.out[1].take()}})
		return
	}
	c.folder.forget(c.pipes)
	for _, s := range c.out {
		s.goesOn()
	}
}

// Abandon ends a call whose interpreter is gone: what is in its pipes is still its output.
func (c *Call) Abandon() {
	for _, s := range c.out {
		s.cut(c.late)
	}
	c.abandon()
}

func (c *Call) abandon() {
	c.clear()
	for _, s := range c.out {
		s.close()
	}
	c.folder.forget(c.pipes)
	if c.input != nil {
		_ = c.input.Close()
	}
}

func (c *Call) clear() {
	for _, path := range c.files {
		_ = os.Remove(path)
	}
	c.files = nil
}

// Lingers says whether something still holds the call's outputs, as a program left in the background does.
func (c *Call) Lingers() bool { return c.out[0].isOpen() || c.out[1].isOpen() }

// Close stops listening to what the call has left behind, which then gets SIGPIPE.
func (c *Call) Close() { c.abandon() }

// stream is one output of a call.
type stream struct {
	mu      sync.Mutex
	file    *os.File // nil when it was taken
	to      io.Writer
	started bool
	over    chan struct{} // closed when its reader has ended
	ended   bool          // nobody had the other end when it was cut
}

// start reads until the pipe's end, or until it is cut.
func (s *stream) start() {
	if s.started {
		return
	}
	s.started, s.over = true, make(chan struct{})
	go s.read(s.over)
}

// read copies to the writer. A reader that a deadline stops goes no further.
func (s *stream) read(over chan struct{}) {
	defer close(over)
	b := make([]byte, 32<<10)
	for {
		n, err := s.file.Read(b)
		s.write(b[:n])
		if err != nil {
			return
		}
	}
}

func (s *stream) write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b) > 0 {
		_, _ = s.to.Write(b)
	}
}

// cut ends the call's part of a stream: the bytes that are in the pipe now are still the call's, and what follows is late.
// It says whether nothing can follow, since nobody has the other end any more.
func (s *stream) cut(late io.Writer) (ended bool) {
	if s.started {
		_ = s.file.SetReadDeadline(time.Now())
		<-s.over
	}
	s.ended = s.drain()
	s.mu.Lock()
	s.to = late
	s.mu.Unlock()
	return s.ended
}

// goesOn reads what is late, until nobody has the other end.
func (s *stream) goesOn() {
	if s.ended {
		s.close()
		return
	}
	_ = s.file.SetReadDeadline(time.Time{})
	s.over = make(chan struct{})
	go func() {
		s.read(s.over)
		s.close()
	}()
}

// take gives the file away, of a stream that has ended.
func (s *stream) take() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.file
	s.file = nil
	return f
}

// drain takes what is in the pipe, which is all that was written before the driver answered, and says whether nobody
// has the other end any more.
func (s *stream) drain() (ended bool) {
	conn, err := s.file.SyscallConn()
	if err != nil {
		return true
	}
	_ = conn.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), queued)
		b := make([]byte, 64<<10)
		for err == nil && left > 0 {
			n, failed := unix.Read(int(fd), b[:min(left, len(b))])
			if failed != nil || n <= 0 {
				break
			}
			s.write(b[:n])
			left -= n
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor
		_, _ = unix.Poll(poll, 0)
		ended = poll[0].Revents&unix.POLLHUP != 0 && poll[0].Revents&unix.POLLIN == 0
	})
	return ended
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close()
	}
}

func (s *stream) isOpen() bool {
	if s.over == nil {
		return false
	}
	select {
	case <-s.over:
		return false
	default:
		return true
	}
}
