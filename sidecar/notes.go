package sidecar

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/protocol"
)

// notes say why a run ended or failed where its own output does not, and what to do.
func (p *prepared) notes(end sandbox.End, r protocol.RunResult) []string {
	var out []string
	if text := limitNote(end.Limit, p); text != "" {
		out = append(out, text)
	}
	said := r.Stderr.Text + r.Stdout.Text
	for _, h := range hints {
		if h.applies(said) {
			out = append(out, h.text)
		}
	}
	return out
}

func limitNote(limit string, p *prepared) string {
	l := p.plan.Limits
	switch limit {
	case sandbox.LimitTime:
		return fmt.Sprintf("ended after its time limit of %v (ask for more with timeout; settings limits.timeout and limits.timeout_max)", l.Time)
	case sandbox.LimitMemory:
		return fmt.Sprintf("ended because its processes used more than %d MiB of memory together (setting limits.memory)", l.Memory>>20)
	case sandbox.LimitOutput:
		return fmt.Sprintf("ended because it printed more than %d MiB (setting limits.output); write to a file of the workspace instead", l.Output>>20)
	case sandbox.LimitProcesses:
		return fmt.Sprintf("ended because it had more than %d processes and threads (setting limits.processes)", l.Processes)
	}
	return ""
}

// hint explains something that programs print when the policy stands in their way.
type hint struct {
	// all must occur in what the run printed.
	all  []string
	text string
}

func (h hint) applies(said string) bool {
	for _, s := range h.all {
		if !strings.Contains(said, s) {
			return false
		}
	}
	return true
}

var hints = []hint{
	{[]string{"could not write config file", "Device or resource busy"},
		"git's config is read-only in the sandbox, because git executes what it names; what the command did beside that (a push, a new branch) is done. Set an upstream, a remote or another key on the host."},
	{[]string{"could not lock config file", "Read-only file system"},
		"git's config is read-only in the sandbox, because git executes what it names. Set the key on the host, or for one command with `git -c key=value`."},
	{[]string{"Could not resolve host"},
		"there is no network in the sandbox"},
	{[]string{"Temporary failure in name resolution"},
		"there is no network in the sandbox"},
	{[]string{"EAI_AGAIN"},
		"there is no network in the sandbox"},
	{[]string{"Network is unreachable"},
		"there is no network in the sandbox"},
}

// signalName is a signal's name, "SIGSEGV".
func signalName(n int) string {
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}
