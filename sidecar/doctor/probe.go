package doctor

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
	"time"

	"code.sidecar.dev/sandbox/cgroup"
	"code.sidecar.dev/sidecar/env/host"
)

// patience is how long any program may take to answer.
const patience = 5 * time.Second

// Gather is Facts, and what bubblewrap, git and nix answer. It takes seconds at most.
func Gather(ctx context.Context, o Options) Machine {
	m := Facts(o)
	folders(&m)
	for _, p := range []*Program{&m.Bubblewrap, &m.Git, &m.Nix} {
		ask(ctx, p)
	}
	m.NixGroup = lackingGroup(ctx, m)
	if m.OS == "darwin" {
		m.Trial = tryMac(ctx)
		return m
	}
	m.Trial = try(ctx, m)
	if _, err := m.Cgroup.Facts.Base(); m.Cgroup.Version == 2 && err != nil {
		m.Cgroup.Scope = tryScope(ctx, m)
	}
	return m
}

// ask runs a program for its version.
func ask(ctx context.Context, p *Program) {
	if p.Path == "" {
		return
	}
	a := execute(ctx, nil, p.Path, "--version")
	p.Version = findVersion(a.stdout)
	if a.err != nil {
		p.Problem = "asking for its version: " + a.err.Error() + " " + bracket(clean(a.stderr))
	}
}

// lackingGroup is the group of nix's build-users-group (nix.conf(5)) if there is none of that name. Only root's nix goes by it.
func lackingGroup(ctx context.Context, m Machine) string {
	if m.UID != 0 || m.OS != "linux" || m.Nix.Path == "" || m.Nix.Problem != "" {
		return ""
	}
	config := execute(ctx, nil, m.Nix.Path, "--extra-experimental-features", "nix-command", "show-config").stdout
	for line := range strings.Lines(config) {
		name, value, _ := strings.Cut(line, "=")
		if group := strings.TrimSpace(value); strings.TrimSpace(name) == "build-users-group" && group != "" {
			if _, err := user.LookupGroup(group); err != nil {
				return group
			}
		}
	}
	return ""
}

// inScope prints the controllers of the control group that it is in.
const inScope = `while IFS= read -r line; do case $line in 0::*) cat "/sys/fs/cgroup${line#0::}/cgroup.controllers";; esac; done </proc/self/cgroup`

// tryScope asks systemd for control groups, as is done for a sidecar that starts.
func tryScope(ctx context.Context, m Machine) Scope {
	argv, env := cgroup.Scope("/", m.UID)
	if argv == nil {
		return Scope{}
	}
	a := execute(ctx, env, argv[0], append(argv[1:], "/bin/sh", "-c", inScope)...)
	s := Scope{Asked: true, Controllers: strings.Fields(a.stdout)}
	if a.err != nil {
		s.Problem = clean(a.err.Error() + " " + a.stderr)
	}
	return s
}

// try starts an empty sandbox.
func try(ctx context.Context, m Machine) Trial {
	if m.Bubblewrap.Path == "" {
		return Trial{}
	}
	const programs = "/usr/bin:/bin:/run/current-system/sw/bin"
	tools := host.NewTools(host.Machine{Dir: m.Workspace})
	program := find("true", programs, tools)
	if program.Path == "" {
		return Trial{Stderr: "there is no program \"true\" to run inside"}
	}
	a := execute(ctx, nil, m.Bubblewrap.Path, inSandbox(program.Link)...)
	t := Trial{Ran: true, OK: a.err == nil, Stderr: a.stderr, TimedOut: errors.Is(a.err, context.DeadlineExceeded)}
	if a.err != nil && strings.TrimSpace(a.stderr) == "" {
		t.Stderr = a.err.Error()
	}
	if cat := find("cat", programs, tools); t.OK && m.AppArmor && cat.Path != "" {
		t.Label = strings.TrimSpace(execute(ctx, nil, m.Bubblewrap.Path, inSandbox(cat.Link, "/proc/self/attr/current")...).stdout)
	}
	return t
}

// inSandbox is the smallest sandbox that exercises each part that a machine may forbid. It asks for a user
// namespace by name, since --unshare-all lets root do without.
func inSandbox(argv ...string) []string {
	return append([]string{"--unshare-all", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--"}, argv...)
}

// answer is what a program printed, and how it ended.
type answer struct {
	stdout, stderr string
	err            error
}

// execute runs a program with an empty input, a clean environment with env beside it, and a folder that nobody planted files in.
func execute(ctx context.Context, env []string, path string, args ...string) answer {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stdout, stderr bounded
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &stdout, &stderr
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/"}, env...)
	// A group of its own, so that what it started goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return answer{stdout.text.String(), stderr.text.String(), err}
}

// bounded keeps the first bytes of an output and takes the rest.
type bounded struct{ text bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	const most = 16 << 10
	if room := most - b.text.Len(); room > 0 {
		b.text.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
