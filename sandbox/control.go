package sandbox

import (
	"errors"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"code.sidecar.dev/sandbox/shim"
)

// Control is the way to a sandbox that stands. The zero value is ready; what is sent before the run started is
// done when it has, and after its end it goes nowhere. Nothing waits until it is done. Safe for many callers.
type Control struct {
	mu       sync.Mutex
	to       io.WriteCloser
	terminal *os.File
	size     *Terminal
	queued   []shim.Order
	closed   bool
	// made are those that wait to hear that pins are made, by the number of their order; orders is how many had one.
	made   map[int]func()
	orders int
	// held is how many hold the clock, since when, and how long it was held before.
	held  int
	since time.Time
	stood time.Duration
}

// Hold stops the clock of the run's limit of time until release is called: while a person is asked something, say.
func (c *Control) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 {
		c.since = time.Now()
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 {
			c.stood += time.Since(c.since)
		}
	})
}

// stand is how long the clock has stood still, and whether it does now.
func (c *Control) stand() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held > 0 {
		return c.stood + time.Since(c.since), true
	}
	return c.stood, false
}

// longestStand is how long the clock stands still at most in all: a run must not buy time by asking on and on.
const longestStand = 15 * time.Minute

// timeLeft is how much is left of the time that a run may last, not counting what the clock stood still; while it does, there
// is some.
func (c *Control) timeLeft(limit time.Duration, started time.Time) time.Duration {
	stood, stands := c.stand()
	left := limit + min(stood, longestStand) - time.Since(started)
	if stands && stood < longestStand {
		left = max(left, 50*time.Millisecond)
	}
	return left
}

// Pin asks for pins, parents first. made, unless it is nil, is called once all of them are there, on a goroutine of its own.
func (c *Control) Pin(pins []Pin, made func()) {
	o := shim.Order{Pins: shimPins(pins)}
	if made != nil {
		o.Told = c.waits(made)
	}
	c.send(o)
}

// mostWaiting is how many may wait for pins: those that cannot be made are never told of.
const mostWaiting = 1000

// waits gives an order a number, under which its pins are told to be made.
func (c *Control) waits(made func()) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil || len(c.made) > mostWaiting {
		c.made = map[int]func(){}
	}
	c.orders = c.orders%math.MaxUint16 + 1
	c.made[c.orders] = made
	return c.orders
}

// pinned passes on that the pins of an order are made.
func (c *Control) pinned(order int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if made := c.made[order]; made != nil {
		delete(c.made, order)
		go made()
	}
}

// Signal sends a signal to the program's process group.
func (c *Control) Signal(signal int) { c.send(shim.Order{Signal: signal}) }

// Continue lets a program that was stopped go on, in the foreground of its terminal.
func (c *Control) Continue() { c.send(shim.Order{Continue: true}) }

// Open asks for further sockets in the sandbox's network, which IO.Socket gets, counted from first on.
func (c *Control) Open(sockets []Socket, first int) {
	c.send(shim.Order{Sockets: shimSockets(sockets), First: first})
}

// Resize gives the program's terminal another size; without a terminal nothing happens.
func (c *Control) Resize(t Terminal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size = &t
	if c.terminal != nil {
		Resize(c.terminal, t)
	}
}

func (c *Control) send(o shim.Order) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.to == nil {
		if !c.closed {
			c.queued = append(c.queued, o)
		}
		return
	}
	c.write(o)
}

// write gives up soon: the reader may be dead while its socket still stands, and what a lost pin would have
// held is the audit's.
func (c *Control) write(o shim.Order) {
	c.writeFor(o, 100*time.Millisecond)
}

// first writes the first order, without which nothing begins. It may be large, and the shim still at its own start; and on a
// busy machine this goroutine may well wait longer for a processor than the shim for it.
func (c *Control) first(o shim.Order) { c.writeFor(o, time.Minute) }

func (c *Control) writeFor(o shim.Order, patience time.Duration) {
	message := o.Message()
	for range 2 { // the deadline can have passed before the first was even tried
		if f, ok := c.to.(interface{ SetWriteDeadline(time.Time) error }); ok {
			_ = f.SetWriteDeadline(time.Now().Add(patience))
		}
		if n, err := c.to.Write(message); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// open connects to the shim, which goes on with the first message. That carries the tree, unless it is nil.
func (c *Control) open(to *os.File, first shim.Order, tree *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connect(to, first, tree)
}

// openUnlessClosed is open for whoever may come after the run's end.
func (c *Control) openUnlessClosed(to *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = to.Close()
		return
	}
	c.connect(to, shim.Order{}, nil)
}

// connect does so; the caller has c.mu.
func (c *Control) connect(to *os.File, first shim.Order, tree *os.File) {
	c.to, c.closed = to, false
	if tree == nil || sendWith(to, first.Message(), tree) != nil {
		c.first(first)
	}
	for _, o := range c.queued {
		c.write(o)
	}
	c.queued = nil
}

// has takes note of the program's terminal; nil when it is gone.
func (c *Control) has(terminal *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.terminal = terminal; terminal != nil && c.size != nil {
		Resize(terminal, *c.size)
	}
}

// close closes the way to a sandbox, unless there is one to another meanwhile: a run is over before its sandbox is gone.
func (c *Control) close(to *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = to.Close()
	if c.to == nil || c.to == io.WriteCloser(to) {
		c.to, c.closed = nil, true
	}
}

func shimPins(pins []Pin) []shim.Pin {
	list := make([]shim.Pin, len(pins))
	for i, p := range pins {
		list[i] = p.Shim()
	}
	return list
}

func shimSockets(sockets []Socket) []shim.Socket {
	list := make([]shim.Socket, len(sockets))
	for i, s := range sockets {
		list[i] = s.Shim()
	}
	return list
}

// Shim is the socket in the shim's encoding.
func (s Socket) Shim() shim.Socket {
	return shim.Socket{Packet: s.Packet, Address: string(s.Address.Addr().AsSlice()), Port: int(s.Address.Port())}
}

// Shim is the pin in the shim's encoding.
func (p Pin) Shim() shim.Pin {
	kinds := [...]byte{Border: shim.Border, Frozen: shim.Frozen, Thawed: shim.Thawed, Covered: shim.Covered}
	return shim.Pin{Kind: kinds[p.Kind], Folder: p.Folder, Path: p.Path}
}
