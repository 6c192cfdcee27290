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
	PlanFD    = 3
	StatusFD  = 4
	ControlFD = 5 // with the first message, which may hold none, the shim begins
)

// KernelFiles are what is writable in /proc by user id alone, without any capability: for a host user who is
// root these are the machine's own settings, kernel.core_pattern among them, which names a program.
var KernelFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr"}

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

// Plan is what the shim does, in the order of the fields.
type Plan struct {
	// Picks are made first.
	Picks []Pick
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
}

// Encode is the plan as bytes.
func (p Plan) Encode() []byte {
	var e encoder
	e.number(len(p.Picks))
	for _, k := range p.Picks {
		e.text(k.From)
		e.text(k.To)
		e.texts(k.Names)
	}
	e.number(len(p.Pins))
	for _, pin := range p.Pins {
		e.number(int(pin.Kind))
		e.flag(pin.Folder)
		e.text(pin.Path)
	}
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
	return e.out
}

// Message frames pins for ControlFD: the length of a Plan that holds nothing else, in four bytes, and the Plan.
func Message(pins []Pin) []byte {
	b := Plan{Pins: pins}.Encode()
	n := len(b)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, b...)
}

// Decode reads what Encode wrote.
func Decode(b []byte) (Plan, error) {
	d := decoder{in: b}
	var p Plan
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Picks = append(p.Picks, Pick{d.text(), d.text(), d.texts()})
	}
	for n := d.number(); n > 0 && d.err == nil; n-- {
		p.Pins = append(p.Pins, Pin{byte(d.number()), d.flag(), d.text()})
	}
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
