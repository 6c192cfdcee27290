// Package shim is what runs first inside a sandbox: this project's own binary, started by bubblewrap under
// the name Program, before any other package of ours initialises. It makes the protecting mounts, sets
// limits, forks the program into a second user namespace without any capability, with the system call
// filter on, waits for it and reports how it ended.
//
// It imports only the standard library's lowest packages: Go initialises packages in the order of their
// import paths as far as dependencies allow, so this package's init runs before the rest of the binary's
// and the shim costs about a millisecond. It protects nothing by itself; the plan says what to do.
package shim

import "errors"

// Program is argv[0] of the shim, and where the sandbox sees it.
const Program = "/run/sidecar/shim"

// Descriptors of the shim: it reads its plan, reports, and reads pins to make while the program runs.
const (
	PlanFD   = 3
	StatusFD = 4
	// ControlFD is a stream socket. The shim reads orders from it, with the first of which, which may hold nothing, it
	// begins; and it writes records, some of which carry a descriptor.
	ControlFD = 5
	// OutFD and ErrFD become the program's standard output and error. Nobody but the program's processes has them while it
	// runs, so that their end is the end of what it prints.
	OutFD = 6
	ErrFD = 7
)

// Kinds of records that the shim writes on ControlFD, each of RecordSize bytes: the kind, and a number in two bytes, low
// byte first, and a zero.
const (
	// SocketRecord carries the socket of Plan.Sockets whose index the number is.
	SocketRecord = 'L'
	// TerminalRecord carries the controlling side of the program's terminal.
	TerminalRecord = 'T'
	// StoppedRecord says that the program was stopped by the signal that the number is.
	StoppedRecord = 'S'
	// FailedRecord says that the socket whose index the number is cannot be had.
	FailedRecord = 'F'
	// TreeRecord carries a copy of what a keeper keeps, or without a descriptor says by its number, of errno(3), why not.
	TreeRecord = 'K'
	// PinnedRecord says that all pins of the order are made whose Told the number is.
	PinnedRecord = 'P'

	RecordSize = 4
)

// KernelFiles are what is writable in /proc by user id alone, without any capability: for a host user who is
// root these are the machine's own settings, kernel.core_pattern among them, which names a program.
var KernelFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr"}

// KernelSecrets are what tells of the person's keys and, where they are root, of the kernel's addresses and of each page of the
// machine's memory; the names of keys say what they are for (keyrings(7), proc(5)).
var KernelSecrets = []string{"/proc/keys", "/proc/key-users", "/proc/slabinfo", "/proc/timer_list", "/proc/vmallocinfo", "/proc/pagetypeinfo",
	"/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup"}

// Devices are mounts of the machine's own nodes, as bubblewrap makes them: their owner, who is root, could change their modes
// and times for all. A read-only mount is no hindrance to reading and writing a device.
var Devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/console"}

// Pin kinds, in the plan's encoding.
const (
	Border  = 'b'
	Frozen  = 'f'
	Thawed  = 't'
	Covered = 'c'
)

// Pin is one protecting mount.
type Pin struct {
	Kind   byte
	Folder bool
	Path   string
}

// Pick attaches entries of a folder to another one, and lets go of the first.
type Pick struct {
	From, To string
	Names    []string
}

// Base puts what stands at From on To, beneath what is mounted at the paths of Above, and lets go of From.
type Base struct {
	From, To string
	Above    []string
}

// Same is a place, and what has to be shown there (stat(2)).
type Same struct {
	Path     string
	Dev, Ino uint64
}

// Scratch is a file system in memory, and how many files it may hold.
type Scratch struct {
	Path   string
	Inodes int
}

// Limit is one resource limit, soft and hard alike (getrlimit(2)).
type Limit struct {
	Resource int
	Value    uint64
}

// Socket is a socket in the sandbox's network that is handed to the executor, which serves it from outside: Packet is
// UDP, else it is TCP and listens.
type Socket struct {
	Packet bool
	// Address has 4 or 16 bytes.
	Address string
	Port    int
}

// File is a file that comes with the hand-over; Link a symbolic link.
type File struct {
	Path, Data string
	Mode       int
}

// Link is a symbolic link that comes with the hand-over.
type Link struct{ Path, To string }

// Handover is what a sandbox that was made ahead of its run is given for it.
type Handover struct {
	// Pins are as in Plan. Files and Links come into folders that the sandbox's own root has; a file may take the place of
	// the fifo.
	Pins  []Pin
	Files []File
	Links []Link
	// Dir, Argv and Env are the program's, where it is not started yet; Release is what one that waits reads.
	Dir       string
	Argv, Env []string
	Release   string
}

// Order is what the executor asks for while the sandbox stands.
type Order struct {
	// Pins are made, parents first. Where Told is not 0 a record with it says that all of them are.
	Pins []Pin
	Told int
	// Signal is sent to the program's process group; 0 is none.
	Signal int
	// Continue lets a program that was stopped go on, in the foreground of its terminal.
	Continue bool
	// Sockets are opened and handed over; their records count from First on.
	Sockets []Socket
	First   int
	// Tree asks a keeper for a copy of its pick: a mount with all that is on it, attached nowhere. The first order of a run
	// may carry one, in the place of the plan's first pick.
	Tree bool
	// Times asks for times in the report of the program's end. It comes with the first order.
	Times bool
	// Hand is for a sandbox that was made ahead (Plan.Stands); nil otherwise.
	Hand *Handover
}

// Plan is what the shim does, in the order of the fields.
type Plan struct {
	// Sockets are opened and handed over.
	Sockets []Socket
	// Terminal gives the program a terminal of its own, of Rows and Columns.
	Terminal      bool
	Rows, Columns int
	// NoInput gives the program the sandbox's own null device as its standard input: one that was opened outside would be
	// the host's to change.
	NoInput bool
	// Picks are made first.
	Picks []Pick
	// Keep says that nothing else is done: the shim hands over copies of the first pick until its control socket closes.
	Keep bool
	// Bases come next.
	Bases []Base
	// Pins are made in this order: parents before what lies below them.
	Pins []Pin
	// Scratch are bounded in the number of their files; bubblewrap bounds their size.
	Scratch []Scratch
	// PIDMax limits the PID namespace's processes; 0 leaves it.
	PIDMax int
	// NewUser says to put the program into a user namespace of its own, as UID and GID, and to forbid further ones.
	NewUser  bool
	UID, GID int
	Limits   []Limit
	// Filter is an array of struct sock_filter; empty installs none.
	Filter []byte
	Dir    string
	Argv   []string
	Env    []string
	// Late are places of mounts that others change, none inside another. They are let go of at the run's end, ahead of the
	// rest: whoever removes what is mounted on in there waits for that otherwise.
	Late []string
	// Stands says that the sandbox is made ahead of its run, and nothing is known of that yet: what is mounted at the paths
	// of Late is taken away until the hand-over, which is the first order.
	Stands bool
	// Waits is a fifo, made by the shim, at which the program waits, started before the hand-over; "" has it started by that.
	Waits string
	// Same is looked at when everything that others change is there, ahead of the pins: bubblewrap mounts what it finds at a
	// path, which somebody can have replaced, by a link that leads anywhere, since it was looked at outside.
	Same []Same
}

// Encode is the plan as bytes.
func (p Plan) Encode() []byte {
	var e encoder
	e.sockets(p.Sockets)
	e.flag(p.Terminal)
	e.number(p.Rows)
	e.number(p.Columns)
	e.flag(p.NoInput)
	e.number(len(p.Picks))
	for _, k := range p.Picks {
		e.text(k.From)
		e.text(k.To)
		e.texts(k.Names)
	}
	e.flag(p.Keep)
	e.number(len(p.Bases))
	for _, b := range p.Bases {
		e.text(b.From)
		e.text(b.To)
		e.texts(b.Above)
	}
	e.pins(p.Pins)
	e.number(len(p.Scratch))
	for _, s := range p.Scratch {
		e.text(s.Path)
		e.number(s.Inodes)
	}
	e.number(p.PIDMax)
	e.flag(p.NewUser)
	e.number(p.UID)
	e.number(p.GID)
	e.number(len(p.Limits))
	for _, l := range p.Limits {
		e.number(l.Resource)
		e.number(int(l.Value))
	}
	e.text(string(p.Filter))
	e.text(p.Dir)
	e.texts(p.Argv)
	e.texts(p.Env)
	e.texts(p.Late)
	e.flag(p.Stands)
	e.text(p.Waits)
	e.number(len(p.Same))
	for _, s := range p.Same {
		e.text(s.Path)
		e.number(int(s.Dev))
		e.number(int(s.Ino))
	}
	return e.out
}

// Message frames an order for ControlFD: its length in four bytes, low byte first, and the order.
func (o Order) Message() []byte {
	var e encoder
	e.pins(o.Pins)
	e.number(o.Told)
	e.number(o.Signal)
	e.flag(o.Continue)
	e.sockets(o.Sockets)
	e.number(o.First)
	e.flag(o.Tree)
	e.flag(o.Times)
	e.flag(o.Hand != nil)
	if o.Hand != nil {
		e.handover(*o.Hand)
	}
	n := len(e.out)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, e.out...)
}

// DecodeOrder reads a message without its length.
func DecodeOrder(b []byte) (Order, error) {
	d := decoder{in: b}
	o := Order{Pins: d.pins(), Told: d.number(), Signal: d.number(), Continue: d.flag(), Sockets: d.sockets(), First: d.number(), Tree: d.flag(), Times: d.flag()}
	if d.flag() {
		o.Hand = d.handover()
	}
	return o, d.err
}

// Decode reads what Encode wrote.
func Decode(b []byte) (Plan, error) {
	d := decoder{in: b}
	p := Plan{Sockets: d.sockets(), Terminal: d.flag(), Rows: d.number(), Columns: d.number(), NoInput: d.flag()}
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Picks = append(p.Picks, Pick{d.text(), d.text(), d.texts()})
	}
	p.Keep = d.flag()
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Bases = append(p.Bases, Base{d.text(), d.text(), d.texts()})
	}
	p.Pins = d.pins()
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Scratch = append(p.Scratch, Scratch{d.text(), d.number()})
	}
	p.PIDMax = d.number()
	p.NewUser = d.flag()
	p.UID, p.GID = d.number(), d.number()
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Limits = append(p.Limits, Limit{d.number(), uint64(d.number())})
	}
	p.Filter = []byte(d.text())
	p.Dir = d.text()
	p.Argv, p.Env = d.texts(), d.texts()
	p.Late, p.Stands, p.Waits = d.texts(), d.flag(), d.text()
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Same = append(p.Same, Same{d.text(), uint64(d.number()), uint64(d.number())})
	}
	return p, d.err
}

type encoder struct{ out []byte }

func (e *encoder) number(n int) {
	u := uint64(n)
	for u >= 0x80 {
		e.out = append(e.out, byte(u)|0x80)
		u >>= 7
	}
	e.out = append(e.out, byte(u))
}

func (e *encoder) flag(f bool) {
	if f {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) text(s string) {
	e.number(len(s))
	e.out = append(e.out, s...)
}

func (e *encoder) texts(l []string) {
	e.number(len(l))
	for _, s := range l {
		e.text(s)
	}
}

func (e *encoder) pins(pins []Pin) {
	e.number(len(pins))
	for _, pin := range pins {
		e.number(int(pin.Kind))
		e.flag(pin.Folder)
		e.text(pin.Path)
	}
}

func (e *encoder) sockets(sockets []Socket) {
	e.number(len(sockets))
	for _, s := range sockets {
		e.flag(s.Packet)
		e.text(s.Address)
		e.number(s.Port)
	}
}

func (e *encoder) handover(h Handover) {
	e.pins(h.Pins)
	e.number(len(h.Files))
	for _, f := range h.Files {
		e.text(f.Path)
		e.text(f.Data)
		e.number(f.Mode)
	}
	e.number(len(h.Links))
	for _, l := range h.Links {
		e.text(l.Path)
		e.text(l.To)
	}
	e.text(h.Dir)
	e.texts(h.Argv)
	e.texts(h.Env)
	e.text(h.Release)
}

var errShort = errors.New("the shim's plan is cut short")

type decoder struct {
	in  []byte
	err error
}

func (d *decoder) number() int {
	var u uint64
	for shift := 0; shift < 64; shift += 7 {
		if len(d.in) == 0 {
			d.err = errShort
			return 0
		}
		b := d.in[0]
		d.in = d.in[1:]
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int(u)
		}
	}
	d.err = errShort
	return 0
}

func (d *decoder) flag() bool { return d.number() != 0 }

func (d *decoder) text() string {
	n := d.number()
	if n < 0 || n > len(d.in) {
		d.err = errShort
		return ""
	}
	s := string(d.in[:n])
	d.in = d.in[n:]
	return s
}

func (d *decoder) texts() []string {
	var l []string
	for n := d.number(); n > 0 && d.err == nil; n-- {
		l = append(l, d.text())
	}
	return l
}

func (d *decoder) pins() []Pin {
	var l []Pin
	for n := d.number(); n > 0 && d.err == nil; n-- {
		l = append(l, Pin{byte(d.number()), d.flag(), d.text()})
	}
	return l
}

func (d *decoder) sockets() []Socket {
	var l []Socket
	for n := d.number(); n > 0 && d.err == nil; n-- {
		l = append(l, Socket{d.flag(), d.text(), d.number()})
	}
	return l
}

func (d *decoder) handover() *Handover {
	h := &Handover{Pins: d.pins()}
	for n := d.number(); n > 0 && d.err == nil; n-- {
		h.Files = append(h.Files, File{d.text(), d.text(), d.number()})
	}
	for n := d.number(); n > 0 && d.err == nil; n-- {
		h.Links = append(h.Links, Link{d.text(), d.text()})
	}
	h.Dir, h.Argv, h.Env, h.Release = d.text(), d.texts(), d.texts(), d.text()
	return h
}
