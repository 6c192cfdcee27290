package sidecar

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/protocol"
)

// capture keeps one stream of a run: the whole of a short one in memory, of a long one its head and its
// tail, and the whole in a file, which is made only then. Safe for one writer and one reader at a time.
type capture struct {
	mu    sync.Mutex
	limit int // bytes kept in memory
	// spillAt is how many bytes make the file.
	spillAt int
	head    []byte
	tail    []byte
	total   int64
	// open makes the file for the whole; nil keeps none.
	open func() (*os.File, error)
	file *os.File
	// closed says that file is, whose name is still told.
	closed bool
	err    error
}

// Write keeps b. It never fails: a run must not end because its output could not be stored.
func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil && c.err == nil && c.open != nil && c.total+int64(len(b)) > int64(min(c.limit, c.spillAt)) {
		c.spill()
	}
	if c.file != nil {
		c.store(b)
	}
	c.keep(b)
	c.total += int64(len(b))
	return len(b), nil
}

// spill starts the file with what was kept so far, which is everything.
func (c *capture) spill() {
	if c.file, c.err = c.open(); c.err != nil {
		return
	}
	c.store(c.head)
	c.store(c.tail)
}

func (c *capture) store(b []byte) {
	if _, err := c.file.Write(b); err != nil && c.err == nil {
		c.err = err
	}
}

// keep fills the head to half the limit and lets the tail slide over the rest.
func (c *capture) keep(b []byte) {
	if room := c.limit/2 - len(c.head); room > 0 {
		n := min(room, len(b))
		c.head = append(c.head, b[:n]...)
		b = b[n:]
	}
	c.tail = append(c.tail, b...)
	if over := len(c.tail) - (c.limit - c.limit/2); over > 0 {
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

// output is the stream as a result; the file is closed.
func (c *capture) output() protocol.Output {
	c.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown()
}

// close closes the file, once: later writes must not come.
func (c *capture) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil || c.closed {
		return
	}
	c.closed = true
	if err := c.file.Close(); err != nil && c.err == nil {
		c.err = err
	}
}

// Kept is what there is of one stream so far, as it was written.
type Kept struct {
	// Total is how many bytes the program wrote.
	Total int64
	// Head is all of it when File is "", unless storing it failed; then it is the beginning.
	Head []byte
	// File has the whole; absolute.
	File string
}

// kept is the stream up to now.
func (c *capture) kept() Kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := Kept{Total: c.total}
	if c.file != nil && c.err == nil {
		k.File = c.file.Name()
		return k
	}
	k.Head = slices.Clone(c.head)
	if c.total == int64(len(c.head)+len(c.tail)) {
		k.Head = append(k.Head, c.tail...)
	}
	return k
}

func (c *capture) shown() protocol.Output {
	out := protocol.Output{Bytes: c.total, Truncated: c.total > int64(len(c.head)+len(c.tail))}
	where := c.place(&out)
	if !out.Truncated {
		out.Text = protocol.Text(append(slices.Clone(c.head), c.tail...))
		return out
	}
	left := c.total - int64(len(c.head)+len(c.tail))
	out.Text = protocol.Text(c.head[:len(c.head)-protocol.Unfinished(c.head)]) + fmt.Sprintf("\n… %d bytes left out%s …\n", left, where) + protocol.Text(trimStart(c.tail))
	return out
}

// place names the file, in the result and in words.
func (c *capture) place(out *protocol.Output) (where string) {
	if c.file != nil {
		out.File = c.file.Name()
		where = ", the whole is in " + out.File
	}
	if c.err != nil {
		where = fmt.Sprintf(", and the whole could not be stored: %v", c.err)
	}
	return where
}

// trimStart drops the rest of a character that the cut went through at the start.
func trimStart(b []byte) []byte {
	i := 0
	for i < len(b) && i < utf8.UTFMax-1 && !utf8.RuneStart(b[i]) {
		i++
	}
	return b[i:]
}
