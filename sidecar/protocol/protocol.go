// Package protocol declares, once, what clients and sidecars say to each other: requests, results,
// findings and errors. It imports only the standard library, so that every edge (terminal, MCP, editors)
// can use it, and other languages' types can be generated from it.
package protocol

import (
	"strconv"
	"strings"
)

// RunParams asks for one execution of code, or of a command, in the workspace's sandbox.
// Exactly one of Code (with Language) and Command is set.
type RunParams struct {
	// Language names the language of Code, by its name or an alias ("python", "py", "node", …).
	Language string `json:"language,omitempty"`
	// Code is the program's text.
	Code string `json:"code,omitempty"`
	// Command is a program and its arguments, found through the sandbox's PATH.
	Command []string `json:"command,omitempty"`
	// Environment is the id of an environment (sidecar/envs); "" lets the settings and Packages decide.
	Environment string `json:"environment,omitempty"`
	// Packages are packages of nixpkgs that the run needs beside its language: "ripgrep", "python3Packages.numpy".
	Packages []string `json:"packages,omitempty"`
	// Files are files and folders of the host that the run may read, WritableFiles those that it may change as well: those
	// that the settings show runs anyway, or that a person approves. Absolute, or relative to the workspace's root; neither ~
	// nor variables are expanded.
	Files         []string `json:"files,omitempty"`
	WritableFiles []string `json:"writableFiles,omitempty"`
	// Args are further arguments of the program that Code is.
	Args []string `json:"args,omitempty"`
	// Stdin is what the program reads on standard input, as UTF-8 text. Where there is none, that is the null device.
	Stdin string `json:"stdin,omitempty"`
	// Env adds variables to the clean set. Values never appear in an argument list.
	Env map[string]string `json:"env,omitempty"`
	// Cwd is the working folder: absolute, or relative to the workspace's root; it must be inside it.
	Cwd string `json:"cwd,omitempty"`
	// Timeout is how long the run may last; 0 is the configured default. It may not exceed the configured maximum.
	Timeout Duration `json:"timeoutMs,omitempty"`
	// SessionName has Code run by the interpreter that is kept under this name for the workspace and the language, which
	// is started if there is none: variables and imports stay from call to call. What a call says of Args, Stdin and
	// Timeout is about it alone, Env and Cwd hold from then on, and what the sandbox is made of (Environment, Packages,
	// Files) the session's first call says.
	SessionName string `json:"sessionName,omitempty"`
	// Client says who asks, for people to read ("terminal", "claude-code 2.1").
	Client string `json:"client,omitempty"`
}

// Stream is one of a program's two outputs.
type Stream string

// The streams of a run.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Output is what one stream of a run printed.
type Output struct {
	// Text is the whole of it when it is short, else its head, a line that says how much is left out, and its
	// tail. Bytes that are no UTF-8 are replaced by U+FFFD.
	Text string `json:"text"`
	// Bytes is how many bytes the program wrote in all.
	Bytes int64 `json:"bytes"`
	// Truncated says that Text is not the whole.
	Truncated bool `json:"truncated,omitempty"`
	// File holds the whole, raw, when there is more than a few kilobytes of it; it stays until it is pruned. Absolute.
	File string `json:"file,omitempty"`
}

// RunResult is how a run ended.
type RunResult struct {
	ID string `json:"id"`
	// ExitCode is the program's own; 128+n when signal n ended it; -1 when it never started.
	ExitCode int `json:"exitCode"`
	// Signal is the name of the signal that ended the program ("SIGSEGV"), if one did.
	Signal string `json:"signal,omitempty"`
	// Limit names the limit that ended the run ("time", "memory", "output", "processes"), if one did.
	Limit string `json:"limit,omitempty"`
	// Bounds says what bounded the memory and the number of all its processes together: BoundsGroup or BoundsWatch.
	Bounds    string `json:"bounds,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	Stdout    Output `json:"stdout"`
	Stderr    Output `json:"stderr"`
	// Duration is from the request to the program's end.
	Duration Duration `json:"durationMs"`
	// Start says how the program was started: StartWarm, StartReady or StartCold.
	Start string `json:"start,omitempty"`
	// MaxRSS is the largest resident memory of a single process of the run, in bytes.
	MaxRSS int64 `json:"maxRSS,omitempty"`
	// MaxMemory is the most that all its processes and its files in memory took at one time, in bytes, where a control group
	// counts that.
	MaxMemory int64 `json:"maxMemory,omitempty"`
	// CPU is the processor time of all processes that the program waited for, and its own.
	CPU Duration `json:"cpuMs,omitempty"`
	// Workspace is the root the run had; WorkspaceSource says where it came from ("roots", "--workspace", …).
	Workspace       string `json:"workspace"`
	WorkspaceSource string `json:"workspaceSource,omitempty"`
	Environment     string `json:"environment"`
	// Interpreter is the program that ran the code, as the sandbox sees it.
	Interpreter string `json:"interpreter,omitempty"`
	// Findings are what the guard and the audit noticed while and after the run.
	Findings []Finding `json:"findings,omitempty"`
	// Denied is what the run wanted to reach and could not.
	Denied []Denial `json:"denied,omitempty"`
	// AuditPending says that the audit of a large tree goes on; its findings come with a later result.
	AuditPending bool `json:"auditPending,omitempty"`
	// Notes are sentences for whoever asked: what was denied, why, and what to do.
	Notes []string `json:"notes,omitempty"`
	// Session is about the session that the code ran in, if it named one.
	Session *SessionCall `json:"session,omitempty"`
	// Gaps are the promises that this machine's sandbox could not keep, in words.
	Gaps []string `json:"gaps,omitempty"`
	// Phases are where the run's time went, by their beginnings, if the request had trace. They may overlap.
	Phases []Phase `json:"phases,omitempty"`
}

// Phase is a part of a run's time.
type Phase struct {
	Name string `json:"name"`
	// Start is when it began, counted from the request's arrival.
	Start    Duration `json:"startMs"`
	Duration Duration `json:"durationMs"`
}

// What bounds a run's processes together.
const (
	// BoundsGroup: a control group of its own, which the kernel holds to the limits at every moment.
	BoundsGroup = "cgroup"
	// BoundsWatch: limits of each process, and sidecar's look at their sum ten times a second.
	BoundsWatch = "watch"
)

// Ways in which a run is started.
const (
	// StartWarm: its interpreter was waiting, in a sandbox made ahead of it.
	StartWarm = "warm"
	// StartReady: in a sandbox made ahead of it.
	StartReady = "ready"
	// StartSession: by an interpreter that was there.
	StartSession = "session"
	// StartCold: in a sandbox of its own from the beginning.
	StartCold = "cold"
)

// Action is what was done about a finding.
type Action string

// What can be done about a finding.
const (
	// Disarmed: moved aside, so that host programs no longer obey it.
	Disarmed Action = "disarmed"
	// Noticed: left as it is; a person should know.
	Noticed Action = "noticed"
	// Failed: should have been disarmed and could not be; Error says why.
	Failed Action = "failed"
)

// Finding is something that a run made or changed and that a host program would later execute or obey.
type Finding struct {
	// Path is absolute.
	Path string `json:"path"`
	// Reason says which host program would obey it and how.
	Reason string `json:"reason"`
	Action Action `json:"action"`
	// MovedTo is where a disarmed file is now; absolute. It is "" when it was removed, as it held nothing.
	MovedTo string `json:"movedTo,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Denial is something that a run wanted to reach and was refused.
type Denial struct {
	// Host is a name or an address, Method the HTTP method if that is known.
	Host   string `json:"host"`
	Port   int    `json:"port,omitempty"`
	Method string `json:"method,omitempty"`
	// Why says what stands against it, Setting what would allow it, if anything does.
	Why     string `json:"why"`
	Setting string `json:"setting,omitempty"`
	// Count is how often it was tried.
	Count int `json:"count,omitempty"`
}

// Text is one line for people.
func (d Denial) Text() string {
	text := d.Host
	if strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	if d.Port != 0 {
		text += ":" + strconv.Itoa(d.Port)
	}
	if d.Method != "" {
		text = d.Method + " " + text
	}
	text += ": " + d.Why
	if d.Setting != "" {
		text += " (" + d.Setting + " would allow it)"
	}
	if d.Count > 1 {
		text += ", " + strconv.Itoa(d.Count) + " times"
	}
	return text
}

// ExitStatus is the terminal's exit status for a run that ended so: the program's own, unless a limit ended it.
func (r RunResult) ExitStatus() int {
	switch {
	case r.Limit == "time":
		return TimedOut.ExitStatus()
	case r.Limit != "":
		return OutOfMemory.ExitStatus()
	case r.Cancelled:
		return Cancelled.ExitStatus()
	}
	return r.ExitCode
}
