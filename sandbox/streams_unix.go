//go:build darwin || linux

package sandbox

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// counted passes output on, to nobody if to is nil, until both streams of the run have printed more than most, unless that is
// 0; then it ends the run.
type counted struct {
	most    int64
	printed *atomic.Int64
	end     func(limit string)
	to      io.Writer
}

func (c *counted) Write(b []byte) (int, error) {
	kept := b
	over := c.printed.Add(int64(len(b))) - c.most
	if c.most > 0 && over > 0 {
		kept = b[:max(0, int64(len(b))-over)]
	}
	if c.to != nil && len(kept) > 0 {
		_, _ = c.to.Write(kept) // a client that stopped reading must not stop the run's other stream
	}
	if c.most > 0 && over > 0 {
		c.end(LimitOutput)
	}
	return len(b), nil // all of it is read, so that the pipe never blocks what is being killed
}

// tail keeps the last bytes written.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - 4096; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}

// connected are two connected sockets; ours is of Go's poller.
func connected(name string) (theirs, ours *os.File, err error) {
	syscall.ForkLock.RLock() // not every system can have them closed in children from the first
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a pair of sockets: %w", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	_ = unix.SetNonblock(fds[1], true)
	return os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name), nil
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// onlyReader and onlyWriter keep io.Copy from splice(2), which terminals do not have.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

// Resize gives a terminal another size.
func Resize(terminal *os.File, t Terminal) {
	if conn, err := terminal.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(t.Rows), Col: uint16(t.Columns)}) //nolint:gosec // characters
		})
	}
}
