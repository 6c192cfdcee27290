package client

import (
	"os"
	"os/exec"
	"time"

	"code.sidecar.dev/sandbox/cgroup"
)

// patienceScope is how long a sidecar in a scope of systemd's may take to say that it serves, before it is started without.
const patienceScope = 10 * time.Second

// scoped has systemd start a command with control groups of its own, for limits that hold for whole runs; nil where the
// command finds some by itself, or none can be had.
func scoped(cmd *exec.Cmd) *exec.Cmd {
	facts := cgroup.Look("/").ForChild()
	if _, err := facts.Base(); err == nil || !facts.Mounted {
		return nil
	}
	argv, env := cgroup.Scope("/", os.Geteuid())
	if argv == nil {
		return nil
	}
	argv = append(argv, cmd.Args...)
	out := exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // a program of the system's; it outlives us
	out.Env, out.Dir, out.Stderr, out.SysProcAttr = append(os.Environ(), env...), cmd.Dir, cmd.Stderr, cmd.SysProcAttr
	return out
}
