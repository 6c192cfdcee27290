package protocol

import (
	"strconv"
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
	MethodEnvs      = "sidecar/envs"
	MethodStatus    = "sidecar/status"
	MethodStop      = "sidecar/stop"

	MethodRunStarted = "sidecar/runStarted"
	MethodOutput     = "sidecar/output"
	MethodRunEnded   = "sidecar/runEnded"
	MethodFinding    = "sidecar/finding"
	MethodBuilding   = "sidecar/building"
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
	// Environment is the client's own environment. Where it is given, PATH, version managers and settings are
	// looked up in it and not in that of whoever started the sidecar. It is not what runs get.
	Environment map[string]string `json:"environment,omitempty"`
	// ConfigFile is the client's settings file (config.ConfigFile); absolute. ExplicitConfig is what --config named.
	ConfigFile     string `json:"configFile,omitempty"`
	ExplicitConfig string `json:"explicitConfig,omitempty"`
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
}

// InputParams is the parameter of sidecar/input, a request that is answered when the program has taken the data.
type InputParams struct {
	Token string `json:"token"`
	Data  []byte `json:"data,omitempty"`
	// End closes the program's standard input after Data.
	End bool `json:"end,omitempty"`
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
	Code      string    `json:"code,omitempty"`
	CodeBytes int       `json:"codeBytes,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Started   time.Time `json:"started"`
	End       *RunEnd   `json:"end,omitempty"`
}

// RunEnd is how a run ended: Error, when it could not be done, or the rest.
type RunEnd struct {
	Time      time.Time `json:"time"`
	ExitCode  int       `json:"exitCode"`
	Signal    string    `json:"signal,omitempty"`
	Limit     string    `json:"limit,omitempty"`
	Cancelled bool      `json:"cancelled,omitempty"`
	Duration  Duration  `json:"durationMs"`
	MaxRSS    int64     `json:"maxRSS,omitempty"`
	Stdout    int64     `json:"stdoutBytes"`
	Stderr    int64     `json:"stderrBytes"`
	Findings  []Finding `json:"findings,omitempty"`
	Error     *Error    `json:"error,omitempty"`
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

// RunsParams is the parameter of sidecar/runs.
type RunsParams struct {
	// Limit is how many to give at most; 0 is all that are remembered.
	Limit int `json:"limit,omitempty"`
	// Live leaves out those that have ended.
	Live bool `json:"live,omitempty"`
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

// Empty is the result of a request that has none, and the parameter of one that takes none.
type Empty struct{}
