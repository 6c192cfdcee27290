// Package doctor says what keeps a machine from running sandboxes, and the command that mends it.
//
//	report := doctor.Examine(doctor.Gather(ctx, doctor.Options{Workspace: root}))
//	fmt.Print(report.Text())
//	os.Exit(report.ExitStatus())
//
// Gathering facts and judging them are apart: Machine is plain data, Examine and Diagnose are pure, so that the
// machines of other people (their kernels, their messages) are table tests. When bubblewrap fails in the middle of
// work, Diagnose turns its last words into an error with a remedy.
//
// Doctor executes bubblewrap, git and nix as PATH names them, never a program that lies inside the workspace. It
// changes nothing but the state folder, which it makes. It does not prove that a sandbox holds; the escape tests do.
package doctor

import "code.sidecar.dev/sandbox/cgroup"

// Machine is what is known about a machine.
type Machine struct {
	// OS is a GOOS, UID the user's id.
	OS  string
	UID int
	// Distribution is ID of /etc/os-release, Like its ID_LIKE, Pretty its PRETTY_NAME.
	Distribution, Like, Pretty string
	// Inside says that this is a sandbox of sidecar's.
	Inside bool
	// Kernel is the release, "6.8.0-45-generic"; Banner is /proc/version.
	Kernel, Banner string
	// Container is who runs the container that this is: "docker", "podman", "kubernetes", "lxc", another name, or empty.
	Container string

	// Sysctls are kernel parameters by their dotted names; one that does not exist is missing.
	Sysctls map[string]string
	// AppArmor says that it is enabled; Profile is the installed profile for bubblewrap, Extra the one that a package
	// keeps aside; both are paths or empty.
	AppArmor       bool
	Profile, Extra string
	Cgroup         Cgroup

	// Workspace is the folder whose programs are never executed.
	Workspace            string
	Bubblewrap, Git, Nix Program
	// NixGroup is the group of build users that nix is told to have and this machine lacks; empty is none.
	NixGroup             string
	Trial                Trial
	StateDir, RuntimeDir Folder
	// Settings is what is wrong with sidecar's own; empty is nothing.
	Settings string
	// Mac is what only a Mac has.
	Mac Mac
	// SessionDir is XDG_RUNTIME_DIR as the session set it.
	SessionDir string
}

// Cgroup is how control groups are mounted.
type Cgroup struct {
	// Version is 2, 1 (also for both at once), or 0 for none.
	Version int
	// Facts are of this process's group, and Scope of one that systemd makes.
	Facts cgroup.Facts
	Scope Scope
}

// Scope is how it went to ask systemd for control groups.
type Scope struct {
	// Asked says that there is one to ask; Controllers are what it gave, Problem why nothing.
	Asked       bool
	Controllers []string
	Problem     string
}

// Program is a program of the host.
type Program struct {
	// Path is the real file; empty when there is none. Link is how it was found, which may be a link to Path, and
	// is what programs that are many in one go by.
	Path, Link string
	// Skipped are those on PATH that were passed over because they lie where runs, or other users, write.
	Skipped []string
	// Version is "0.8.0"; empty when it was not asked, or did not say.
	Version string
	// Setuid says that it runs with its owner's rights.
	Setuid bool
	// Problem is why it could not be asked.
	Problem string
}

// Trial is how an empty sandbox went.
type Trial struct {
	// Ran says that it was tried; OK that it worked.
	Ran, OK bool
	// Stderr is what bubblewrap printed.
	Stderr   string
	TimedOut bool
	// Label is the AppArmor label of a program inside; empty when there is none.
	Label string
}

// Folder is one of sidecar's folders.
type Folder struct {
	Path string
	// Problem is why it cannot be used.
	Problem string
	// Free are the bytes left on its file system; negative is unknown.
	Free int64
}
