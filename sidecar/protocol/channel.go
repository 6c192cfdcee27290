package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Version is the version of this protocol. It rises when an older peer would misunderstand a newer one; fields
// and methods that are only added leave it as it is. OldestVersion is the oldest that is still understood.
const (
	Version       = 1
	OldestVersion = 1
)

// The methods of the channel between clients and a sidecar, which is JSON-RPC 2.0 with the base protocol and the
// lifecycle of LSP (initialize, initialized, shutdown, exit, $/cancelRequest).
const (
	MethodRun       = "sidecar/run"
	MethodInput     = "sidecar/input"
	MethodCancel    = "sidecar/cancel"
	MethodRuns      = "sidecar/runs"
	MethodRunOutput = "sidecar/runOutput"
	MethodRecord    = "sidecar/record"
	MethodSignal    = "sidecar/signal"
	MethodResize    = "sidecar/resize"
	MethodEnvs      = "sidecar/envs"
	MethodStatus    = "sidecar/status"
	MethodStop      = "sidecar/stop"

	MethodRunStarted = "sidecar/runStarted"
	MethodBegun      = "sidecar/begun"
	MethodOutput     = "sidecar/output"
	MethodRunEnded   = "sidecar/runEnded"
	MethodStopped    = "sidecar/stopped"
	MethodDenied     = "sidecar/denied"
	MethodApprove    = "sidecar/approve"
	MethodFinding    = "sidecar/finding"
	MethodBuilding   = "sidecar/building"
	MethodLog        = "sidecar/log"

	// Those of `sidecar lsp`, behind which are several sidecars.
	MethodWorkspaces = "sidecar/workspaces"
	MethodConnection = "sidecar/connection"
)

// Interest says which runs' output a client wants to be sent.
type Interest string

// What a client can be interested in.
const (
	// AllOutput: of every run, whoever asked for it. What an editor wants, and the default.
	AllOutput Interest = "all"
	// OwnOutput: of the runs that it asked for.
	OwnOutput Interest = "own"
	// NoOutput: of none.
	NoOutput Interest = "none"
)

// InitializeOptions are what a client may say in initialize's initializationOptions.
type InitializeOptions struct {
	// Protocol is the client's Version; 0 is any.
	Protocol int `json:"protocol,omitempty"`
	// Output says which output is sent to this client.
	Output Interest `json:"output,omitempty"`
	// Events set to false keeps runStarted, runEnded and finding from this client.
	Events *bool `json:"events,omitempty"`
	// Observer says that this client only looks: it is not listed, and no sidecar lives on because of it.
	Observer bool `json:"observer,omitempty"`
	// Approvals says that this client can ask a person, with sidecar/approve.
	Approvals bool `json:"approvals,omitempty"`
	// Log is the least level of the sidecar's log that this client is told of: "debug", "info", "warn" or "error"; "" and "off"
	// are nothing. `sidecar lsp` has the editor show it (window/logMessage), and "" is "warn" there.
	Log string `json:"log,omitempty"`
	// Environment is the client's own environment. Where it is given, PATH, version managers and settings are
	// looked up in it and not in that of whoever started the sidecar. It is not what runs get.
	Environment map[string]string `json:"environment,omitempty"`
	// Lenses set to false keeps `sidecar lsp` from offering code lenses, as a plugin does that shows its own.
	Lenses *bool `json:"lenses,omitempty"`
	// ConfigFile is the client's settings file (config.ConfigFile); absolute. ExplicitConfig is what --config named.
	ConfigFile     string `json:"configFile,omitempty"`
	ExplicitConfig string `json:"explicitConfig,omitempty"`
}

// Check refuses words that are none of theirs.
func (o InitializeOptions) Check() error {
	switch o.Output {
	case "", AllOutput, OwnOutput, NoOutput:
	default:
		return &Error{Kind: BadRequest, Message: fmt.Sprintf("initialize: output is %.40q", o.Output), Hint: `it is one of "all", "own" and "none"`}
	}
	switch strings.ToLower(o.Log) {
	case "", "debug", "info", "warn", "warning", "error", "off":
	default:
		return &Error{Kind: BadRequest, Message: fmt.Sprintf("initialize: log is %.40q", o.Log), Hint: `it is one of "debug", "info", "warn", "error" and "off"`}
	}
	return nil
}

// Build identifies a program, so that client and sidecar can tell which of them is newer.
type Build struct {
	// Version is a release's semantic version ("v1.2.0"), or "dev".
	Version string `json:"version"`
	// Time is when the program's file was last modified.
	Time time.Time `json:"time"`
}

// About is what a sidecar says of itself in initialize's result, under capabilities.experimental.sidecar.
type About struct {
	Protocol  int    `json:"protocol"`
	Build     Build  `json:"build"`
	Workspace string `json:"workspace"`
	PID       int    `json:"pid"`
	// State is the folder of its records, logs and outputs.
	State string `json:"state,omitempty"`
}

// RunRequest is the parameter of sidecar/run.
type RunRequest struct {
	RunParams
	// Token is chosen by the client; events of this run carry it to that client, and sidecar/input names the run
	// by it. Unique among the client's runs that have not ended.
	Token string `json:"token,omitempty"`
	// Bytes asks for this run's output as bytes instead of text.
	Bytes bool `json:"bytes,omitempty"`
	// StreamStdin says that standard input comes with sidecar/input, after Stdin.
	StreamStdin bool `json:"streamStdin,omitempty"`
	// Terminal gives the program a terminal of its own. What is typed comes with sidecar/input, and all that it shows is
	// output of stdout.
	Terminal *Terminal `json:"terminal,omitempty"`
	// Session says that a person sits before it, or an agent works in it: it lasts and prints as long as it likes, and
	// the network is what the settings give sessions. Timeout still bounds it.
	Session bool `json:"session,omitempty"`
	// Allow is what the run may beyond the settings. The channel's clients are a person's own programs; what an agent
	// asks for through them must not come here.
	Allow *Allowance `json:"allow,omitempty"`
	// Approvals says that this client can ask a person about this run, with sidecar/approve. What it said at initialize
	// is about every run.
	Approvals bool `json:"approvals,omitempty"`
	// Trace asks for the result's phases: where the run's time went.
	Trace bool `json:"trace,omitempty"`
	// TraceParent and TraceState are the trace that the run is part of (W3C Trace Context), for who exports traces.
	TraceParent string `json:"traceparent,omitempty"`
	TraceState  string `json:"tracestate,omitempty"`
}

// Terminal is a terminal: its size in characters, and what it understands (the variables TERM and COLORTERM).
type Terminal struct {
	Rows    int    `json:"rows"`
	Columns int    `json:"columns"`
	Term    string `json:"term,omitempty"`
	Color   string `json:"colorTerm,omitempty"`
}

// Allowance is what a person gives a run beyond the settings. Paths are absolute.
type Allowance struct {
	// Profile is one of the settings' or of the ready ones; what follows adds to it, or takes its place.
	Profile string `json:"profile,omitempty"`
	// Policy is a profile in the place of one of the settings: the file that it is from, which names it, and its text.
	Policy *Policy `json:"policy,omitempty"`
	// Home is "empty" or "kept"; "" is the profile's.
	Home    string   `json:"home,omitempty"`
	RWDirs  []string `json:"rwDirs,omitempty"`
	RWFiles []string `json:"rwFiles,omitempty"`
	RODirs  []string `json:"roDirs,omitempty"`
	ROFiles []string `json:"roFiles,omitempty"`
	// Network is "open" or "none"; "" is the profile's, or the settings'.
	Network string `json:"network,omitempty"`
	// AllowedDomains are the names that may be reached, each with its HTTP methods; null is every method. Absent leaves
	// the profile's or the settings'; an empty map is nothing.
	AllowedDomains map[string][]string `json:"allowedDomains,omitzero"`
	// AllowedPorts are TCP ports of this machine's loopback, AllPorts all of them.
	AllowedPorts []int `json:"allowedPorts,omitempty"`
	AllPorts     bool  `json:"allPorts,omitempty"`
	// Sockets are unix sockets of this machine.
	Sockets []string `json:"sockets,omitempty"`
	// Nix lets Nix itself work inside.
	Nix bool `json:"nix,omitempty"`
}

// Policy is a profile with a file of its own.
type Policy struct {
	// File is its absolute path. It is not read: Text is what it holds, as YAML or JSON.
	File string `json:"file"`
	Text string `json:"text"`
}

// SignalParams is the parameter of sidecar/signal, which sends a signal to the program of a run, by the run's id or the
// client's token. CONT lets a program that was stopped go on in the foreground of its terminal.
type SignalParams struct {
	ID     string `json:"id,omitempty"`
	Token  string `json:"token,omitempty"`
	Signal string `json:"signal"`
}

// ResizeParams is the parameter of sidecar/resize: the new size of the terminal of one of the client's runs.
type ResizeParams struct {
	Token   string `json:"token"`
	Rows    int    `json:"rows"`
	Columns int    `json:"columns"`
}

// BegunParams is the parameter of sidecar/begun: the environment of a run is there, and its program starts now.
type BegunParams struct {
	ID    string `json:"id"`
	Token string `json:"token,omitempty"`
}

// StoppedParams is the parameter of sidecar/stopped: a signal stopped the program of a terminal, as Ctrl-Z does.
type StoppedParams struct {
	ID     string `json:"id"`
	Token  string `json:"token,omitempty"`
	Signal string `json:"signal"`
}

// DeniedParams is the parameter of sidecar/denied: a run was refused what it wanted to reach.
type DeniedParams struct {
	ID     string `json:"id"`
	Token  string `json:"token,omitempty"`
	Denial Denial `json:"denial"`
}

// InputParams is the parameter of sidecar/input, a request that is answered when the program has taken the data.
type InputParams struct {
	Token string `json:"token"`
	Data  []byte `json:"data,omitempty"`
	// End closes the program's standard input after Data.
	End bool `json:"end,omitempty"`
}

// Kinds of what a person is asked about.
const (
	// AskNetwork: may the run reach this? AskFiles: may it have this file of the host? AskTrust: may the project's Nix
	// code, as it is now, be evaluated outside of the sandbox?
	AskNetwork = "network"
	AskFiles   = "files"
	AskTrust   = "trust"
)

// Question is the parameter of sidecar/approve, which a sidecar asks each client that can ask a person. The first answer
// counts; the others are asked no more ($/cancelRequest).
type Question struct {
	// ID is the question's own. Run and Client say for what run it is, and who asked for that. Token is the client's own,
	// if it was this one.
	ID     string `json:"id"`
	Run    string `json:"run"`
	Client string `json:"client,omitempty"`
	Token  string `json:"token,omitempty"`
	Kind   string `json:"kind"`
	// Subject is what it is about ("example.com:443", a path), Text the question in words.
	Subject string `json:"subject"`
	Text    string `json:"text"`
	// Setting is what would allow it for good. Writes is what "always" adds to which of the settings, File where; without
	// one there is no such answer.
	Setting string `json:"setting,omitempty"`
	Writes  string `json:"writes,omitempty"`
	File    string `json:"file,omitempty"`
}

// Answer is a person's.
type Answer string

// The answers.
const (
	// No is also what everything else means, and what holds where nobody answers.
	No Answer = "no"
	// Once: for this run.
	Once Answer = "once"
	// Always: from now on; it is written to the person's settings.
	Always Answer = "always"
)

// Yes says that it is one of the two that allow.
func (a Answer) Yes() bool { return a == Once || a == Always }

// ApproveResult is the answer.
type ApproveResult struct {
	Answer Answer `json:"answer"`
}

// OutputParams is the parameter of sidecar/output.
type OutputParams struct {
	ID string `json:"id"`
	// Token is the client's own, if it asked for this run.
	Token  string `json:"token,omitempty"`
	Stream Stream `json:"stream"`
	// Text is output as text; characters are never cut in two, and bytes that are no UTF-8 are U+FFFD.
	Text string `json:"text,omitempty"`
	// Bytes is output as it is (base64), for who asked for bytes.
	Bytes []byte `json:"bytes,omitempty"`
	// Dropped is how many bytes before this were not sent, since the client did not read fast enough; it happens
	// only to clients that watch the run of another. sidecar/runOutput has them.
	Dropped int64 `json:"dropped,omitempty"`
}

// Run is one run as every client may see it. End is nil while it lasts.
type Run struct {
	ID     string `json:"id"`
	Client string `json:"client,omitempty"`
	// Token is the client's own, in events to the client that asked for this run.
	Token    string   `json:"token,omitempty"`
	Language string   `json:"language,omitempty"`
	Command  []string `json:"command,omitempty"`
	// Code is the head of the code, CodeBytes its length.
	Code      string `json:"code,omitempty"`
	CodeBytes int    `json:"codeBytes,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	// Workspace is the root of its project, where runs of several are listed, or it is one of the history.
	Workspace string `json:"workspace,omitempty"`
	// SessionName is the named session that the code runs in.
	SessionName string `json:"sessionName,omitempty"`
	// Session says that it is a session of an agent or a person, Profile under which profile.
	Session bool      `json:"session,omitempty"`
	Profile string    `json:"profile,omitempty"`
	Started time.Time `json:"started"`
	End     *RunEnd   `json:"end,omitempty"`
}

// RunEnd is how a run ended: Error, when it could not be done, or the rest.
type RunEnd struct {
	Time      time.Time `json:"time"`
	ExitCode  int       `json:"exitCode"`
	Signal    string    `json:"signal,omitempty"`
	Limit     string    `json:"limit,omitempty"`
	Cancelled bool      `json:"cancelled,omitempty"`
	// Lost says that its sidecar died while it went on: how it would have ended nobody knows. Error says so in words.
	Lost     bool     `json:"lost,omitempty"`
	Duration Duration `json:"durationMs"`
	MaxRSS   int64    `json:"maxRSS,omitempty"`
	// CPU is the processor time that it took.
	CPU      Duration  `json:"cpuMs,omitempty"`
	Stdout   int64     `json:"stdoutBytes"`
	Stderr   int64     `json:"stderrBytes"`
	Findings []Finding `json:"findings,omitempty"`
	Denied   []Denial  `json:"denied,omitempty"`
	Error    *Error    `json:"error,omitempty"`
}

// RunEvent is the parameter of sidecar/runStarted and sidecar/runEnded.
type RunEvent struct {
	Run Run `json:"run"`
}

// Building is the parameter of sidecar/building: how far the environment of a run has come.
type Building struct {
	ID    string `json:"id"`
	Token string `json:"token,omitempty"`
	// Environment says what is built.
	Environment string `json:"environment"`
	// Stage is "waiting" (for another process that builds it), "evaluating", "fetching" or "building"; Name is what is
	// fetched or built now.
	Stage string `json:"stage"`
	Name  string `json:"name,omitempty"`
	// Done of Total derivations and store paths are there. The total grows while Nix finds out what is needed.
	Done  int64 `json:"done,omitempty"`
	Total int64 `json:"total,omitempty"`
}

// Text is one line for people.
func (b Building) Text() string {
	text := b.Stage
	if b.Name != "" {
		text += " " + b.Name
	}
	if b.Total > 0 {
		text += " (" + strconv.FormatInt(b.Done, 10) + " of " + strconv.FormatInt(b.Total, 10) + ")"
	}
	return text
}

// FindingParams is the parameter of sidecar/finding.
type FindingParams struct {
	// ID is the run's; "" when the run is not known.
	ID      string  `json:"id,omitempty"`
	Finding Finding `json:"finding"`
}

// LogParams is the parameter of sidecar/log: a line of the sidecar's log. It never has code, output, or values of variables.
type LogParams struct {
	Time time.Time `json:"time"`
	// Level is "debug", "info", "warn" or "error".
	Level string `json:"level"`
	// Text is the message, and its values as name=value.
	Text string `json:"text"`
}

// CancelParams is the parameter of sidecar/cancel, which ends any client's run, by its id, or one of the client's own,
// by its token.
type CancelParams struct {
	ID    string `json:"id,omitempty"`
	Token string `json:"token,omitempty"`
}

// CancelResult says whether the run was still going on.
type CancelResult struct {
	Cancelled bool `json:"cancelled"`
}

// RunsResult are runs, the newest first.
type RunsResult struct {
	Runs []Run `json:"runs"`
}

// RunOutputParams is the parameter of sidecar/runOutput.
type RunOutputParams struct {
	ID     string `json:"id"`
	Stream Stream `json:"stream"`
	// Offset is the first byte wanted, Limit how many at most; 0 is as many as fit in one answer (1 MiB).
	Offset int64 `json:"offset,omitempty"`
	Limit  int64 `json:"limit,omitempty"`
	// AsBytes asks for bytes instead of text.
	AsBytes bool `json:"asBytes,omitempty"`
}

// RunOutputResult is a part of what a run printed.
type RunOutputResult struct {
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
	// Next is the offset of what follows; Total is how much there is in all, so far.
	Next  int64 `json:"next"`
	Total int64 `json:"total"`
	// Live says that the run goes on.
	Live bool `json:"live,omitempty"`
	// Missing is how many bytes at the end can no longer be had, as the file with them is gone.
	Missing int64 `json:"missing,omitempty"`
}

// EnvsResult is what code can run with.
type EnvsResult struct {
	Environments []Environment `json:"environments"`
}

// Environment is what one provider offers.
type Environment struct {
	ID       string `json:"id"`
	Provider string `json:"provider"`
	// Summary says what it is for; NotBuilt that its first run waits for Nix; Packages are what is in it beside languages.
	Summary   string            `json:"summary,omitempty"`
	NotBuilt  bool              `json:"notBuilt,omitempty"`
	Packages  []string          `json:"packages,omitempty"`
	Languages []Language        `json:"languages"`
	Missing   []MissingLanguage `json:"missing,omitempty"`
	// Path is PATH inside the sandbox.
	Path []string `json:"path,omitempty"`
}

// Language is a language that an environment can run.
type Language struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Version string   `json:"version,omitempty"`
	Program string   `json:"program"`
	// Via says how it was found.
	Via string `json:"via,omitempty"`
}

// MissingLanguage is one that it cannot run, and how to get it.
type MissingLanguage struct {
	Name string `json:"name"`
	Hint string `json:"hint"`
}

// StatusResult is how a sidecar is.
type StatusResult struct {
	Workspace string `json:"workspace"`
	Branch    string `json:"branch,omitempty"`
	// Worktree says that the workspace is a linked worktree, CommonDir is then the git dir that it shares.
	Worktree  bool      `json:"worktree,omitempty"`
	CommonDir string    `json:"commonDir,omitempty"`
	PID       int       `json:"pid"`
	Socket    string    `json:"socket"`
	Build     Build     `json:"build"`
	Started   time.Time `json:"started"`
	// Memory is the resident memory of the sidecar itself, in bytes; 0 is unknown.
	Memory  int64    `json:"memory,omitempty"`
	Clients []Client `json:"clients"`
	// Runs are those that go on, the newest first; RunsBefore is how many have ended.
	Runs       []Run `json:"runs"`
	RunsBefore int   `json:"runsBefore"`
	// Sessions are the named sessions that are kept.
	Sessions []NamedSession `json:"sessions,omitempty"`
	// Ending says that it takes no further runs and ends after those it has.
	Ending bool `json:"ending,omitempty"`
	// Silent says that the process holds the socket and does not answer; only PID and Socket are known of it.
	Silent bool `json:"silent,omitempty"`
}

// Client is who is connected.
type Client struct {
	Name    string    `json:"name"`
	Version string    `json:"version,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Since   time.Time `json:"since"`
	Runs    int       `json:"runs"`
}

// StopParams is the parameter of sidecar/stop.
type StopParams struct {
	// Finish lets the runs that go on come to their end; else they are cancelled.
	Finish bool `json:"finish,omitempty"`
}

// WorkspacesResult are the folders of an editor, as `sidecar lsp` has them.
type WorkspacesResult struct {
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace is one folder of an editor, and the sidecar that it has.
type Workspace struct {
	// Folder is the folder's URI, as the editor named it; "" when the editor named none.
	Folder string `json:"folder,omitempty"`
	Name   string `json:"name,omitempty"`
	// Root is the root of the project around it; absolute.
	Root string `json:"root,omitempty"`
	// About is what its sidecar says of itself, while there is a connection; Error why there is none, if that is no
	// matter of a moment.
	About *About `json:"about,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// ConnectionParams is the parameter of sidecar/connection: `sidecar lsp` is connected to a project's sidecar, or no longer.
type ConnectionParams struct {
	// Workspace is the project's root.
	Workspace string `json:"workspace"`
	Connected bool   `json:"connected"`
	// PID is the sidecar's process.
	PID int `json:"pid,omitempty"`
}

// Empty is the result of a request that has none, and the parameter of one that takes none.
type Empty struct{}
