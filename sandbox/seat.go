package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Backend is what enforces a policy.
type Backend int

// Backends.
const (
	// Bubblewrap: namespaces and mounts, on Linux.
	Bubblewrap Backend = iota
	// Seatbelt: a profile of rules that the kernel of macOS holds, over the paths of the machine itself.
	Seatbelt
)

func (b Backend) String() string { return [...]string{"bubblewrap", "seatbelt"}[b] }

// Seat is what only the planner for Seatbelt must know. There is no private view of the files there: what a policy makes
// lies in a folder of the machine, and what the run sees of it is its path there.
type Seat struct {
	// Private is the run's own folder, absolute, links resolved. It must not exist: the executor makes it, and removes it.
	Private string
	// Tag marks this run's refusals in the system's log; letters, digits and "-" only.
	Tag string
}

// Name is what a run must not make below Root, since programs of the host would obey it: a path of a few parts, whose
// last may hold "*" and "?" (path.Match). Names are compared as the file systems of macOS do, whatever the case.
type Name struct {
	Root, Pattern string
	// Anywhere says that it counts in every folder below Root, not only at its top.
	Anywhere bool
	// Alone says that what lies in it does not count.
	Alone bool
}

// Ports are TCP ports of this machine's loopback that a run connects to itself, where it has no network of its own.
type Ports struct {
	All  bool
	List []uint16
}

// Folder is a folder that the executor makes.
type Folder struct {
	Path string
	// Mode are its permission bits.
	Mode uint32
}

// Private is what the executor makes for a run before it, in this order, and removes after it. All of it but what Links
// into kept folders name lies in Dir.
type Private struct {
	Dir     string
	Folders []Folder
	Files   []File
	Links   []Link
}

// checkNames reports the first name that no rule could be made of.
func (p Policy) checkNames() error {
	for _, n := range p.Names {
		if !filepath.IsAbs(n.Root) || n.Pattern == "" || strings.HasPrefix(n.Pattern, "/") || strings.ContainsRune(n.Pattern, 0) || filepath.Clean(n.Pattern) != n.Pattern {
			return fmt.Errorf("policy: %q is no name below %q", n.Pattern, n.Root)
		}
	}
	return nil
}

// PrivatePrefix is what the names of runs' private folders begin with.
const PrivatePrefix = "sidecar-run-"
