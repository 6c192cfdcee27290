package sandbox

import (
	"os/exec"

	"code.sidecar.dev/sandbox/cgroup"
)

// execute starts the backend, in a control group of its own from its first moment on (CLONE_INTO_CGROUP of clone3(2)). Where
// that cannot be it is started without: then each process is limited, and their sum watched, as everywhere else.
func (p *Process) execute(cmd *exec.Cmd) (*exec.Cmd, error) {
	if p.plan.Groups == "" {
		return cmd, cmd.Start()
	}
	again := exec.Command(cmd.Path, cmd.Args[1:]...)
	again.Env, again.Dir, again.ExtraFiles, again.Stdin, again.Stderr = cmd.Env, cmd.Dir, cmd.ExtraFiles, cmd.Stdin, cmd.Stderr
	attr := *cmd.SysProcAttr
	again.SysProcAttr = &attr
	if p.group, p.ungrouped = cgroup.New(p.plan.Groups, p.bounds()); p.ungrouped == nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, p.group.FD()
		if p.ungrouped = cmd.Start(); p.ungrouped == nil {
			return cmd, nil
		}
		p.leaveGroup()
		p.group = nil
	}
	return again, again.Start()
}

// bounds are the group's, in which the shim and bubblewrap are, too.
func (p *Process) bounds() cgroup.Limits {
	l := cgroup.Limits{Memory: p.plan.Limits.Memory}
	if p.plan.Limits.Processes > 0 {
		l.Processes = p.plan.Limits.Processes + ownThreads
	}
	return l
}

// regroup gives the group of a sandbox that was made ahead the limits of its run.
func (p *Process) regroup() {
	if p.group == nil {
		return
	}
	if err := p.group.Set(p.bounds()); err != nil {
		p.ungrouped = err
	}
}

// tally says in the end what the group knows. A group that the kernel ended for want of memory has no other end.
func (p *Process) tally(end *End) {
	end.Ungrouped = p.ungrouped
	if p.group == nil {
		return
	}
	use := p.group.Use()
	end.Grouped, end.MaxMemory, end.Refused = p.ungrouped == nil, use.Peak, use.Refused
	if use.Killed && end.Limit == "" {
		end.Limit, end.Cancelled, end.Lost = LimitMemory, false, false
	}
}

func (p *Process) leaveGroup() {
	if p.group != nil {
		p.group.Close()
	}
}
