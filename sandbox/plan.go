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
	// and bubblewrap's own (the host's pid of the sandbox's first process). ControlFD gets the read end of a
	// pipe, over which Late sends pins to the shim while the program runs.
	StatusFD, InfoFD, ControlFD int
	// Limits are those the executor itself watches: Time, Memory (resident, all processes), Output, Processes.
	Limits Limits
	// Gaps are promises of the policy that this plan does not enforce, in words. A gap is shown to the caller.
	Gaps []string
}
