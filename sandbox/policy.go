// Package sandbox turns a Policy (what a run may do, as data) into a Plan (what to start, as data) and a Plan
// into a process. The planners are pure: sandbox/bubblewrap computes argument lists and asks the operating
// system nothing, so that everything it decides can be asserted in a table test on any platform.
//
//	plan, err := bubblewrap.New(policy, host)
//	proc, err := sandbox.Start(plan, sandbox.IO{Stdout: w, Stderr: w})
//	end, err := proc.Wait()
//
// It does not protect against faults of the kernel, against programs that the policy lets a run reach, or
// against what a person does with the files that a run leaves in the workspace.
package sandbox

import (
	"cmp"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Access is what a run may do with a mount.
type Access int

// Kinds of access.
const (
	ReadOnly Access = iota
	ReadWrite
)

func (a Access) String() string {
	if a == ReadWrite {
		return "rw"
	}
	return "ro"
}

// Mount makes a file or folder of the host visible, with everything below it.
type Mount struct {
	// Source is absolute and on the host; Target is where the sandbox sees it.
	Source, Target string
	Access         Access
	// Optional says that a Source which does not exist is left out.
	Optional bool
	// Dev and Ino are what Source was when it was looked at (stat(2)), and has to be when the program starts; 0 is not known.
	Dev, Ino uint64
	// Late says that runs, or other programs, may change what is there: a sandbox that is made ahead of its run has it only
	// from its hand-over on. So it is with the Late of files and links, which are the run's own.
	Late bool
}

// Pick makes some entries of a host's folder visible, read-only, and shows no others: the closure of an environment out
// of a Nix store, of which there may be thousands.
type Pick struct {
	// Source is the folder on the host, Target where the sandbox has the entries.
	Source, Target string
	// Names are entries of Source: files, folders or symbolic links.
	Names []string
}

// Base is a writable folder of the host on Target, beneath whatever else is shown below Target. What stands in it, another
// run may have put there, and change meanwhile: a link in the place of what is shown leads nowhere.
type Base struct{ Source, Target string }

// Scratch is a private folder in memory.
type Scratch struct {
	Target string
	// Size bounds it, in bytes.
	Size int64
	// Mode are its permission bits.
	Mode uint32
}

// File is a generated, read-only file.
type File struct {
	Target string
	Data   []byte
	Mode   uint32
	Late   bool
}

// Link is a symbolic link.
type Link struct {
	Target, To string
	Late       bool
}

// PinKind is what a pin makes of a path.
type PinKind int

// Kinds of pins.
const (
	// Border makes a folder a mount point and changes nothing else: it can be neither renamed nor replaced.
	Border PinKind = iota
	// Frozen makes a file, folder or symbolic link read-only, with everything below it.
	Frozen
	// Thawed makes a folder below a frozen one writable again.
	Thawed
	// Covered puts an empty file or folder in its place.
	Covered
)

func (k PinKind) String() string {
	return [...]string{"border", "frozen", "thawed", "covered"}[k]
}

// Pin holds one existing path inside a writable mount. Every folder between that mount and a frozen path is
// a Border, because a mount inside a writable folder is carried away when a folder above it is renamed.
type Pin struct {
	Path string
	Kind PinKind
	// Folder says that Path is a folder.
	Folder bool
	// Link says that Path is itself a symbolic link.
	Link bool
}

// Limits bound a run. Zero is no limit of that kind.
type Limits struct {
	Time time.Duration
	// Memory is the most that one process may have as data, and that all processes together may have resident; bytes.
	Memory int64
	// FileSize is the largest file a process may write; bytes.
	FileSize int64
	// Output is how much both streams together may print; bytes.
	Output int64
	// Processes bounds processes and threads of the run together.
	Processes int
	// OpenFiles bounds the descriptors of one process.
	OpenFiles int
}

// Policy is what one run may see, do and use. It is plain data, made before anything starts.
type Policy struct {
	Mounts  []Mount
	Picks   []Pick
	Bases   []Base
	Scratch []Scratch
	Files   []File
	Links   []Link
	Pins    []Pin
	// Dir is the working folder; Argv the program and its arguments; Env its whole environment, NAME=VALUE.
	Dir  string
	Argv []string
	Env  []string
	// UID and GID are the ids that the program has, which are the host user's own.
	UID, GID int
	Hostname string
	Limits   Limits
	// Terminal gives the program a terminal of its own in the place of its standard streams; nil is none.
	Terminal *Terminal
	// NoInput gives it the null device as its standard input, not a pipe that is at its end: by that, programs tell
	// whether they are to read there.
	NoInput bool
	// Sockets are opened in the sandbox's network, which has nothing but loopback, and served from outside: the way to
	// whatever the run may reach. Network says in words what that is; "" is nothing.
	Sockets []Socket
	Network string
	// Ports are what the run reaches itself where it shares the machine's network, and Sockets cannot be had (Seatbelt).
	Ports Ports
	// Unix are sockets of the machine that it may connect to, where showing one does not give that (Seatbelt).
	Unix []string
	// Names are what it must not make. Mounts cannot hold them, so for Bubblewrap they are the guard's.
	Names []Name
}

// Terminal is a terminal's size, in characters.
type Terminal struct{ Rows, Columns int }

// Socket is a TCP socket that listens, or with Packet a UDP one.
type Socket struct {
	Packet  bool
	Address netip.AddrPort
}

// Check reports the first thing in the policy that no backend could carry out.
func (p Policy) Check() error {
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return fmt.Errorf("policy: no program")
	}
	for _, s := range slices.Concat(p.Argv, p.Env, []string{p.Dir, p.Hostname}) {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("policy: %q holds a NUL byte", s)
		}
	}
	for _, s := range p.Sockets {
		if !s.Address.IsValid() || !s.Address.Addr().IsLoopback() && !s.Address.Addr().IsUnspecified() {
			return fmt.Errorf("policy: a socket on %v: there is nothing but loopback", s.Address)
		}
	}
	if err := p.checkNames(); err != nil {
		return err
	}
	return p.checkPaths()
}

func (p Policy) checkPaths() error {
	paths := []string{p.Dir}
	for _, m := range p.Mounts {
		paths = append(paths, m.Source, m.Target)
	}
	for _, k := range p.Picks {
		paths = append(paths, k.Source, k.Target)
		for _, name := range k.Names {
			if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
				return fmt.Errorf("policy: %q is no name of an entry of %q", name, k.Source)
			}
		}
	}
	for _, s := range p.Bases {
		paths = append(paths, s.Source, s.Target)
	}
	for _, s := range p.Scratch {
		paths = append(paths, s.Target)
	}
	for _, f := range p.Files {
		paths = append(paths, f.Target)
	}
	for _, f := range p.Pins {
		paths = append(paths, f.Path)
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
			return fmt.Errorf("policy: %q is no clean absolute path", path)
		}
	}
	return nil
}

// Late are the targets of late mounts.
func (p Policy) Late() (out []string) {
	for _, m := range p.Mounts {
		if m.Late {
			out = append(out, m.Target)
		}
	}
	return out
}

// String prints the policy for people, a line a fact; a name with a line's end in it stays on one.
func (p Policy) String() string {
	var b strings.Builder
	one := func(path string) string { return strings.ReplaceAll(path, "\n", "\uFFFD") }
	for _, m := range p.Mounts {
		fmt.Fprintf(&b, "%s %s", m.Access, one(m.Target))
		if m.Source != m.Target {
			fmt.Fprintf(&b, " from %s", one(m.Source))
		}
		b.WriteByte('\n')
	}
	for _, k := range p.Bases {
		fmt.Fprintf(&b, "rw %s from %s\n", one(k.Target), one(k.Source))
	}
	for _, k := range p.Picks {
		fmt.Fprintf(&b, "ro %d entries of %s\n", len(k.Names), k.Target)
	}
	for _, s := range p.Scratch {
		fmt.Fprintf(&b, "private %s, at most %d bytes\n", s.Target, s.Size)
	}
	for _, f := range p.Pins {
		if f.Kind != Border {
			fmt.Fprintf(&b, "%s %s\n", f.Kind, one(f.Path))
		}
	}
	fmt.Fprintf(&b, "network %s\nrun %q in %s\n", cmp.Or(p.Network, "none"), p.Argv, one(p.Dir))
	return b.String()
}

// Inside reports whether path is dir or lies below it. Both are clean and absolute.
func Inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
