// Package seatbelt plans a run for Seatbelt on macOS: from a Policy and what is known of the Host to a profile in SBPL, the
// arguments of sandbox-exec, and what is made for the run beforehand. It is pure: it starts nothing and asks the system nothing.
//
//	plan, err := seatbelt.New(policy, sandbox.Host{Backend: sandbox.Seatbelt, Shim: exe, Seat: sandbox.Seat{Private: dir, Tag: id}})
//
// Seatbelt shows no other files than the machine's; it refuses. So what a policy makes (the home, /tmp, generated files) lies
// in a private folder of the run, and arguments and variables of the policy that name such a place are changed to name where
// it is (layout.go). What a policy shows at another path than its own cannot be had, and is an error.
//
// # The profile
//
// Everything is denied that no rule allows. Paths are parameters (sandbox-exec -D), so that none is ever read as a rule.
// Sections go from what every program needs to what is taken away again, so that the last word on a path is the strictest;
// and what is taken away is taken by the same operation that gave it, since a rule of a whole class (file-write*) does not
// override one of a single operation (package sbpl says what is known of this, and from where).
//
// Protected paths are denied whether they exist or not: by their path, and by an expression that also holds in other case,
// other Unicode forms and in repositories that do not exist yet. Folders above them can be neither removed, nor renamed,
// nor made.
//
// # Sources
//
// There is no documentation of Apple's. Which services, parameters and devices programs need was taken from what others
// found to be enough: Chromium's sandbox/policy/mac/common.sb, OpenAI Codex's seatbelt_base_policy.sbpl, Anthropic's
// sandbox-runtime (macos-sandbox-utils.ts), Nix's sandbox-defaults.sb, Bazel's DarwinSandboxedSpawnRunner.
//
// # What it does not do
//
// There is no PID namespace, no network and no memory of its own: Plan.Gaps and docs/macos.md say what follows.
package seatbelt

import (
	"fmt"
	"path/filepath"
	"strings"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sandbox/shim"
)

// Program is what applies a profile and then executes a program (sandbox-exec(1)).
const Program = "/usr/bin/sandbox-exec"

// TerminalFD is the descriptor on which the shim has the program's side of its terminal.
const TerminalFD = 6

// profileFile is the profile's name in the private folder.
const profileFile = "profile.sb"

// longestArguments is how long the arguments may be together: the kernel takes 1 MiB, variables included (ARG_MAX, sysconf(3)).
const longestArguments = 768 << 10

// New plans a run.
func New(p sandbox.Policy, h sandbox.Host) (sandbox.Plan, error) {
	if err := p.Check(); err != nil {
		return sandbox.Plan{}, err
	}
	if err := checkSeat(h); err != nil {
		return sandbox.Plan{}, err
	}
	l, err := arrange(p, h.Seat.Private)
	if err != nil {
		return sandbox.Plan{}, err
	}
	text, params := profile(p, h, l)
	made := l.made
	file := filepath.Join(h.Seat.Private, profileFile)
	made.Files = append(made.Files, sandbox.File{Target: file, Data: []byte(text), Mode: 0o400})
	argv := append([]string{Program, "-f", file}, definitions(params)...)
	argv = append(argv, h.Shim, shim.Program)
	if n := len(strings.Join(argv, " ")); n > longestArguments {
		return sandbox.Plan{}, fmt.Errorf("seatbelt: the paths of this run take %d bytes as arguments, and the system takes %d: protect or declare fewer", n, longestArguments)
	}
	inputs := [][]byte{work(p, l).Encode(), nil, nil}
	return sandbox.Plan{
		Argv: argv, Inputs: inputs, StatusFD: shim.StatusFD, ControlFD: shim.ControlFD, Terminal: p.Terminal != nil, NoInput: p.NoInput,
		Private: &made, Tag: h.Seat.Tag, Limits: p.Limits, Gaps: gaps(p),
	}, nil
}

func checkSeat(h sandbox.Host) error {
	s := h.Seat
	switch {
	case !filepath.IsAbs(s.Private) || filepath.Clean(s.Private) != s.Private || s.Private == "/":
		return fmt.Errorf("seatbelt: %q is no folder for a run", s.Private)
	case !filepath.IsAbs(h.Shim):
		return fmt.Errorf("seatbelt: %q is no path of a shim", h.Shim)
	case s.Tag == "" || strings.Trim(s.Tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "":
		return fmt.Errorf("seatbelt: %q is no tag: want letters, digits and -", s.Tag)
	}
	return nil
}

func definitions(params []param) []string {
	var out []string
	for _, p := range params {
		out = append(out, "-D", p.name+"="+p.value)
	}
	return out
}

// Resource numbers of macOS (sys/resource.h).
const (
	limitFileSize  = 1
	limitData      = 2
	limitCore      = 4
	limitOpenFiles = 8
)

// work is what the shim does. There is no limit on the number of processes: RLIMIT_NPROC counts all of the user's.
func work(p sandbox.Policy, l layout) shim.Plan {
	w := shim.Plan{UID: p.UID, GID: p.GID, Dir: l.at(p.Dir)}
	for _, a := range p.Argv {
		w.Argv = append(w.Argv, l.word(a))
	}
	for _, v := range p.Env {
		w.Env = append(w.Env, l.word(v))
	}
	if t := p.Terminal; t != nil {
		w.Terminal, w.Rows, w.Columns = true, t.Rows, t.Columns
	}
	add := func(resource int, value int64) {
		if value > 0 {
			w.Limits = append(w.Limits, shim.Limit{Resource: resource, Value: uint64(value)})
		}
	}
	add(limitFileSize, p.Limits.FileSize)
	add(limitData, p.Limits.Memory)
	add(limitOpenFiles, int64(p.Limits.OpenFiles))
	w.Limits = append(w.Limits, shim.Limit{Resource: limitCore})
	return w
}

// gaps are what Seatbelt does not hold of a policy.
func gaps(p sandbox.Policy) []string {
	out := []string{"processes of a run are found by looking, since macOS has no PID namespace: one that kills its guardian and hides at once may outlive the run, in its sandbox"}
	if p.Limits.Processes > 0 || p.Limits.Memory > 0 {
		out = append(out, "the number of processes and the memory of all together are watched, not limited: macOS has no limit for a group of processes")
	}
	for _, s := range p.Scratch {
		if s.Size > 0 {
			out = append(out, "the private folders lie on the machine's disk and have no size limit of their own")
			break
		}
	}
	if len(p.Ports.List) > 0 {
		out = append(out, "programs that do not use the proxy of their environment reach nothing: a run on macOS has no network of its own")
	}
	return out
}
