package sandbox

// Host is what a planner must know of the machine. Probing it is the caller's.
type Host struct {
	// Bubblewrap is the path of the bwrap program.
	Bubblewrap string
	// Shim is the path of the program that runs first inside: this project's own binary.
	Shim string
	// Arch is a GOARCH.
	Arch string
	// Mounts says who makes the pins.
	Mounts MountMode
	// UserProcessLimit says that RLIMIT_NPROC counts per user namespace (Linux 5.14), so that a limit on a
	// run does not count the user's other processes.
	UserProcessLimit bool
	// PIDLimit says that kernel.pid_max belongs to the PID namespace (Linux 6.14), the one limit on
	// processes that holds for a host user who is root without control groups.
	PIDLimit bool
	// Root says that the host user is root.
	Root bool
	// Keyrings says that the kernel has them, and tells of them in /proc.
	Keyrings bool
	// Groups is the folder of control groups in which each run gets one of its own (package cgroup); "" is none.
	Groups string
	// Backend is what plans are made for; Seat what one for Seatbelt needs.
	Backend Backend
	Seat    Seat
}

// MountMode is who makes the pins of a run.
type MountMode int

// Ways to make pins.
const (
	// ByShim: the shim makes them inside the finished sandbox. Cheap in number, and links can be held.
	ByShim MountMode = iota
	// ByArgv: bubblewrap makes them, where the kernel grants no capabilities inside (AppArmor's bwrap profile).
	ByArgv
)

// Plan is what to start: data only.
type Plan struct {
	// Argv is the program to execute on the host and its arguments. Arguments that hold secrets are in Args.
	Argv []string
	// Args are NUL-separated arguments that the program reads from descriptor ArgsFD, so that no process list shows them.
	Args []string
	// Inputs are the contents of descriptors 3, 4, … in order: each is read from its start.
	Inputs [][]byte
	// StatusFD and InfoFD are descriptors that the executor gives the write end of a pipe: the shim's report,
	// and bubblewrap's own (the host's pid of the sandbox's first process). ControlFD gets one end of a pair of
	// sockets, over which Control speaks to the shim, and the shim hands over the plan's sockets and its terminal.
	StatusFD, InfoFD, ControlFD int
	// OutFD and ErrFD get the write ends of the pipes that become the program's output. The backend's own goes elsewhere.
	OutFD, ErrFD int
	// Terminal says that the program has a terminal, whose controlling side comes over ControlFD.
	Terminal bool
	// NoInput says that the program reads the null device, so that there is nobody to be fed.
	NoInput bool
	// Keeps says that no program runs in it: it is a keeper's, to be started by Keep.
	Keeps bool
	// Stands says that it is a sandbox made ahead of its run, to be started by Stand; Sources are the paths of the host that
	// it shows, which must still be what they were when it is used.
	Stands  bool
	Sources []string
	// Groups is as in Host.
	Groups string
	// Limits are those the executor itself watches: Time, Memory (resident, all processes), Output, Processes.
	Limits Limits
	// Private is what is made for the run alone, or nil; Tag marks its refusals in the system's log.
	Private *Private
	Tag     string
	// Gaps are promises of the policy that this plan does not enforce, in words. A gap is shown to the caller.
	Gaps []string
}
