package sidecar

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"code.sidecar.dev/sandbox"
	"code.sidecar.dev/sidecar/config"
	"code.sidecar.dev/sidecar/protocol"
	"code.sidecar.dev/workspace"
	"code.sidecar.dev/workspace/guard"
)

// notes say why a run ended or failed where its own output does not, and what to do.
func (p *prepared) notes(end sandbox.End, r protocol.RunResult) []string {
	said := r.Stderr.Text + r.Stdout.Text
	out := p.limitNotes(end, said)
	if p.stormed != nil && p.stormed.Load() {
		out = append(out, fmt.Sprintf("ended because it made what programs of the host execute or obey more than %d times over; the findings say what", guard.StormLimit))
	}
	if end.Lost {
		out = append(out, "ended because its sandbox was killed: by the program, by somebody else, or by the kernel for want of memory (`dmesg` has its word); how far the program came is not known")
	}
	for _, h := range hints {
		if h.applies(said) && !(h.offline && p.network != nil && p.network.names) {
			out = append(out, h.text)
		}
	}
	return out
}

// hint explains something that programs print when the policy stands in their way.
type hint struct {
	// all must occur in what the run printed.
	all  []string
	text string
	// offline says that it is true only of a run without a network.
	offline bool
}

func (h hint) applies(said string) bool {
	for _, s := range h.all {
		if !strings.Contains(said, s) {
			return false
		}
	}
	return true
}

const noNetwork = "there is no network in the sandbox (a person may allow names with network.allowed_domains in the settings)"

var hints = []hint{
	{[]string{"could not write config file", "Device or resource busy"},
		"git's config is read-only in the sandbox, because git executes what it names; what the command did beside that (a push, a new branch) is done. Set an upstream, a remote or another key on the host.", false},
	{[]string{"could not lock config file", "Read-only file system"},
		"git's config is read-only in the sandbox, because git executes what it names. Set the key on the host, or for one command with `git -c key=value`.", false},
	{[]string{"Could not resolve host"},
		noNetwork, true},
	{[]string{"Temporary failure in name resolution"},
		noNetwork, true},
	{[]string{"EAI_AGAIN"},
		noNetwork, true},
	{[]string{"Network is unreachable"},
		noNetwork, true},
}

// SettingsNotes say to a person what of the settings comes to nothing. It is no mistake: an exception that a later table lacks
// must not keep runs from being.
func SettingsNotes(s config.Settings) []config.Note {
	var notes []config.Note
	for _, name := range (workspace.Rules{Except: s.Protect.Except}).Idle() {
		notes = append(notes, s.NoteOn("protect.except", fmt.Sprintf("%q excepts nothing: it is no protected name, or one that is always protected", name)))
	}
	return notes
}

// signalNumber is the number of a signal by its name; 0 is none.
func signalNumber(name string) int { return int(unix.SignalNum(name)) }

// signalName is a signal's name, "SIGSEGV".
func signalName(n int) string {
	if name := unix.SignalName(unix.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}
